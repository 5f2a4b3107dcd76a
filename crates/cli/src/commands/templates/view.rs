//! Templates, versions and reviews as people read them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use extraboard_api::dashboard::PromptHealth;
use extraboard_api::review::PromptReview;
use extraboard_api::template::{Template, TemplateDetail, TemplatePreview, Version};

use super::conditions;
use crate::output::{Align, Style, Table, clean_line, clean_text, score, share};

/// Returns a table with a row per template, and how its version in use does.
pub(super) fn template_table(templates: &[Template], prompts: &[PromptHealth], style: Style) -> String {
    let columns = [
        ("TEMPLATE", Align::Left),
        ("NAME", Align::Left),
        ("CONDITIONS", Align::Left),
        ("SPECIFICITY", Align::Right),
        ("VERSION", Align::Right),
        ("USES", Align::Right),
        ("SCORE", Align::Right),
        ("DONE", Align::Right),
    ];
    let versions: BTreeMap<&str, &Version> = prompts
        .iter()
        .filter_map(|prompt| Some((prompt.template.id.as_str(), prompt.active_version.as_ref()?)))
        .collect();
    let mut table = Table::new(&columns);
    for template in templates {
        let version = versions.get(template.id.as_str());
        let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        table.row([
            template.slug.clone(),
            template.name.clone(),
            conditions::shown(&template.conditions),
            template.specificity.to_string(),
            number(version.map(|version| version.version)),
            number(version.map(|version| version.usage_count)),
            score(version.and_then(|version| version.review_score)),
            share(version.and_then(|version| version.completion_rate)),
        ]);
    }
    table.render(style)
}

/// Returns everything worth reading about one template, and its text.
pub(super) fn template_page(detail: &TemplateDetail) -> String {
    let (template, version) = (&detail.template, detail.active_version.as_ref());
    let facts = [
        ("id", Some(template.id.clone())),
        ("name", Some(template.name.clone())),
        ("conditions", Some(conditions::shown(&template.conditions))),
        ("specificity", Some(template.specificity.to_string())),
        ("project", template.project_id.clone()),
        ("version", Some(version.map_or_else(|| "none".to_owned(), version_line))),
        ("updated", Some(template.updated_at.clone())),
        ("description", template.description.clone()),
    ];
    let mut page = format!("{}\n", clean_line(&template.slug));
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(page, "  {name:<11} {}", clean_line(&value));
        }
    }
    if let Some(version) = version {
        let _ = write!(page, "\n{}\n", clean_text(version.content.trim_end()));
    }
    page
}

fn version_line(version: &Version) -> String {
    format!(
        "{} ({}), used {}, done {}, score {}",
        version.version,
        version.id,
        version.usage_count,
        share(version.completion_rate),
        score(version.review_score)
    )
}

/// Returns a table with a row per version.
pub(super) fn version_table(versions: &[Version], style: Style) -> String {
    let columns = [
        ("VERSION", Align::Right),
        ("STATUS", Align::Left),
        ("USES", Align::Right),
        ("DONE", Align::Right),
        ("REWORK", Align::Right),
        ("REVIEWS", Align::Right),
        ("SCORE", Align::Right),
        ("BY", Align::Left),
        ("CHANGELOG", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for version in versions {
        table.row([
            version.version.to_string(),
            version.status.clone(),
            version.usage_count.to_string(),
            share(version.completion_rate),
            share(version.rework_rate),
            version.review_count.to_string(),
            score(version.review_score),
            version.author_name.clone().unwrap_or_else(|| version.author_type.clone()),
            version.changelog.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.render(style)
}

/// Returns reviews, each with its feedback.
pub(super) fn review_page(reviews: &[PromptReview]) -> String {
    reviews.iter().fold(String::new(), |mut page, review| {
        let _ = writeln!(
            page,
            "{}  clarity {}, completeness {}, relevance {}  by {}",
            clean_line(&review.created_at),
            review.clarity,
            review.completeness,
            review.relevance,
            clean_line(review.author_name.as_deref().unwrap_or(&review.author_type))
        );
        for line in review.feedback.iter().flat_map(|text| text.trim_end().lines()) {
            let _ = writeln!(page, "  {}", clean_line(line));
        }
        page
    })
}

/// Returns one line: what a preview was made by.
pub(super) fn preview_line(preview: &TemplatePreview) -> String {
    let issue = format!("#{} {}", preview.issue.number, preview.issue.title);
    match (&preview.template, &preview.version) {
        (Some(template), Some(version)) => format!("{issue}: {} version {}", template.slug, version.version),
        (Some(template), None) => format!("{issue}: {}, which has no version", template.slug),
        (None, _) => format!("{issue}: no template"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn version() -> Version {
        serde_json::from_value(json!({
            "id": "0199v", "templateId": "0199t", "version": 2, "content": "Do {{issue.title}}.\u{1b}\n",
            "changelog": "shorter", "authorType": "human", "authorName": "ann", "status": "active",
            "usageCount": 4, "completionRate": 0.75, "reworkRate": null, "avgDurationMs": 1200,
            "reviewScore": 3.42, "reviewCount": 2, "improvementIssueId": null, "createdAt": "2026-01-01T00:00:00Z"
        }))
        .unwrap()
    }

    fn template() -> Template {
        serde_json::from_value(json!({
            "id": "0199t", "slug": "signal-triage", "name": "Triage", "description": null,
            "conditions": {"type": "signal", "labels": ["bug"]}, "specificity": 10, "projectId": null,
            "activeVersionId": "0199v", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
        }))
        .unwrap()
    }

    #[test]
    fn a_table_tells_how_the_version_in_use_does() {
        let other = Template { id: "0199u".to_owned(), slug: "any".to_owned(), ..template() };
        let prompt = PromptHealth {
            template: template(),
            active_version: Some(version()),
            recent_versions: Vec::new(),
            review_summary: None,
            needs_attention: false,
        };
        insta::assert_snapshot!(template_table(&[other, template()], &[prompt], Style::Plain), @r"
        TEMPLATE       NAME    CONDITIONS              SPECIFICITY  VERSION  USES  SCORE  DONE
        any            Triage  type=signal labels=bug           10        -     -      -     -
        signal-triage  Triage  type=signal labels=bug           10        2     4    3.4   75%
        ");
    }

    #[test]
    fn a_page_shows_the_text() {
        let mut detail = TemplateDetail { template: template(), active_version: Some(version()) };
        insta::assert_snapshot!(template_page(&detail), @r"
        signal-triage
          id          0199t
          name        Triage
          conditions  type=signal labels=bug
          specificity 10
          version     2 (0199v), used 4, done 75%, score 3.4
          updated     2026-01-01T00:00:00Z

        Do {{issue.title}}.�
        ");
        detail.active_version = None;
        assert!(template_page(&detail).contains("version     none"));
    }

    #[test]
    fn versions_are_told_in_a_table() {
        insta::assert_snapshot!(version_table(&[version()], Style::Plain), @r"
        VERSION  STATUS  USES  DONE  REWORK  REVIEWS  SCORE  BY   CHANGELOG
              2  active     4   75%       -        2    3.4  ann  shorter
        ");
    }

    #[test]
    fn reviews_are_told_with_their_feedback() {
        let review: PromptReview = serde_json::from_value(json!({
            "id": "0199r", "versionId": "0199v", "issueId": "0199i", "clarity": 4, "completeness": 5,
            "relevance": 3, "feedback": "too long\nand\u{1b} dull\n", "authorType": "agent", "authorName": null,
            "createdAt": "2026-01-01T00:00:00Z"
        }))
        .unwrap();
        insta::assert_snapshot!(review_page(&[review]), @r"
        2026-01-01T00:00:00Z  clarity 4, completeness 5, relevance 3  by agent
          too long
          and� dull
        ");
    }
}
