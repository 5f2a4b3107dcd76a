//! `xb dashboard`, `xb activity` and `xb prompts`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use extraboard_api::dashboard::{Activity, ActivityQuery, DashboardStats, PromptHealth};
use extraboard_api::envelope::{Many, One};
use extraboard_api::issue::IssueBrief;

use crate::commands::number::whole;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Align, Style, Table, clean_line, score, share, talk};

/// Show how much there is of everything
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Show what happened last: tasks without a parent, and their children
#[derive(Debug, clap::Args)]
pub(crate) struct ActivityArgs {
    /// At most this many, 1 to 100; 20 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,
}

/// Show how the prompts of each template do
#[derive(Debug, clap::Args)]
pub(crate) struct PromptsArgs {}

pub(crate) async fn run(_: &Args, ctx: &Context) -> Result<(), CliError> {
    let stats = ctx.desk()?.client.dashboard_stats().await?;
    ctx.out.show(&One { data: &stats }, |_| stats_page(&stats))
}

pub(crate) async fn activity(args: &ActivityArgs, ctx: &Context) -> Result<(), CliError> {
    let asked = ctx.desk()?.client.dashboard_activity(&ActivityQuery { limit: args.limit }).await;
    let list = asked.map_err(|error| CliError::of_request(&error, &[("limit", "--limit")]))?;
    ctx.out.show(&list, |_| {
        talk(&format!("{} of {} tasks without a parent", list.data.len(), list.total));
        list.data.iter().map(activity_text).collect()
    })
}

pub(crate) async fn prompts(_: &PromptsArgs, ctx: &Context) -> Result<(), CliError> {
    let list = ctx.desk()?.client.dashboard_prompts().await?;
    ctx.out.show(&list, |style| {
        let attention = list.data.iter().filter(|prompt| prompt.needs_attention).count();
        talk(&format!("{} templates, {attention} need attention", list.total));
        if list.data.is_empty() { String::new() } else { prompt_table(&list, style) }
    })
}

fn stats_page(stats: &DashboardStats) -> String {
    let DashboardStats { issues, goals, dispatch } = stats;
    let lines = [
        ("tasks", format!("{}{}", issues.total, counts(&issues.by_status))),
        ("kinds", counts(&issues.by_type).trim_start_matches(": ").to_owned()),
        ("goals", format!("{}: {} active, {} achieved", goals.total, goals.active, goals.achieved)),
        ("waiting", format!("{} in todo and backlog", dispatch.queue_depth)),
        ("handed out", dispatch.active_count.to_string()),
        ("done", format!("{} in the last 24 hours", dispatch.completed_last24h)),
    ];
    lines.iter().filter(|(_, text)| !text.is_empty()).fold(String::new(), |mut page, (name, text)| {
        let _ = writeln!(page, "{name:<11} {}", clean_line(text));
        page
    })
}

fn counts(counts: &BTreeMap<String, i64>) -> String {
    let words: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(word, count)| format!("{word} {count}"))
        .collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
}

fn activity_text(activity: &Activity) -> String {
    let mut text = format!("{}  {}\n", clean_line(&activity.latest_activity), brief_line(&activity.issue));
    for child in &activity.children {
        let _ = writeln!(text, "  {}", brief_line(child));
    }
    for relation in &activity.relations {
        let kind = clean_line(&relation.kind.replace('_', " "));
        let _ = writeln!(text, "  {kind} {}", brief_line(&relation.related));
    }
    text
}

fn brief_line(brief: &IssueBrief) -> String {
    clean_line(&format!("#{} {} ({}, {})", brief.number, brief.title, brief.kind, brief.state))
}

fn prompt_table(list: &Many<PromptHealth>, style: Style) -> String {
    let columns = [
        ("TEMPLATE", Align::Left),
        ("VERSION", Align::Right),
        ("USES", Align::Right),
        ("DONE", Align::Right),
        ("REWORK", Align::Right),
        ("REVIEWS", Align::Right),
        ("CLARITY", Align::Right),
        ("COMPLETE", Align::Right),
        ("RELEVANT", Align::Right),
        ("SCORE", Align::Right),
        ("ATTENTION", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for prompt in &list.data {
        let version = prompt.active_version.as_ref();
        let reviews = prompt.review_summary.clone().unwrap_or_default();
        table.row([
            prompt.template.slug.clone(),
            version.map_or_else(|| "-".to_owned(), |version| version.version.to_string()),
            version.map_or_else(|| "-".to_owned(), |version| version.usage_count.to_string()),
            share(version.and_then(|version| version.completion_rate)),
            share(version.and_then(|version| version.rework_rate)),
            reviews.total_reviews.to_string(),
            score(reviews.avg_clarity),
            score(reviews.avg_completeness),
            score(reviews.avg_relevance),
            score(reviews.composite_score),
            if prompt.needs_attention { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_told_in_a_few_lines() {
        let stats: DashboardStats = serde_json::from_value(json!({
            "issues": {"total": 3, "byStatus": {"todo": 2, "done": 1, "triage": 0}, "byType": {"task": 3}},
            "goals": {"total": 2, "active": 1, "achieved": 1},
            "dispatch": {"queueDepth": 2, "activeCount": 0, "completedLast24h": 1}
        }))
        .unwrap();
        insta::assert_snapshot!(stats_page(&stats), @r"
        tasks       3: done 1, todo 2
        kinds       task 3
        goals       2: 1 active, 1 achieved
        waiting     2 in todo and backlog
        handed out  0
        done        1 in the last 24 hours
        ");
        insta::assert_snapshot!(stats_page(&DashboardStats::default()), @r"
        tasks       0
        goals       0: 0 active, 0 achieved
        waiting     0 in todo and backlog
        handed out  0
        done        0 in the last 24 hours
        ");
    }

    #[test]
    fn activity_tells_children_and_relations() {
        let brief = |number: i64| {
            json!({
                "id": "0199", "number": number, "title": "T\u{1b}", "type": "plan", "status": "todo",
                "state": "queued"
            })
        };
        let activity: Activity = serde_json::from_value(json!({
            "issue": brief(1), "children": [brief(2)], "latestActivity": "2026-01-01T00:00:00Z",
            "relations": [{
                "id": "0199", "type": "blocked_by", "issueId": "0199", "relatedIssueId": "0199",
                "related": brief(3), "createdAt": "2026-01-01T00:00:00Z"
            }]
        }))
        .unwrap();
        insta::assert_snapshot!(activity_text(&activity), @r"
        2026-01-01T00:00:00Z  #1 T� (plan, queued)
          #2 T� (plan, queued)
          blocked by #3 T� (plan, queued)
        ");
    }

    #[test]
    fn prompts_tell_what_was_measured() {
        let template = json!({
            "id": "0199t", "slug": "any", "name": "Any", "description": null, "conditions": {}, "specificity": 0,
            "projectId": null, "activeVersionId": null, "createdAt": "", "updatedAt": ""
        });
        let version = json!({
            "id": "0199v", "templateId": "0199t", "version": 2, "content": "x", "changelog": null,
            "authorType": "human", "authorName": "ann", "status": "active", "usageCount": 4,
            "completionRate": 0.756, "reworkRate": null, "avgDurationMs": 1200, "reviewScore": 3.4,
            "reviewCount": 2, "improvementIssueId": null, "createdAt": ""
        });
        let list: Many<PromptHealth> = serde_json::from_value(json!({
            "data": [
                {
                    "template": template, "activeVersion": version, "needsAttention": true,
                    "reviewSummary": {
                        "totalReviews": 2, "avgClarity": 4.5, "avgCompleteness": 2.5, "avgRelevance": 1.0,
                        "compositeScore": 2.667
                    }
                },
                {"template": template, "activeVersion": null, "reviewSummary": null}
            ],
            "total": 2
        }))
        .unwrap();
        insta::assert_snapshot!(prompt_table(&list, Style::Plain), @r"
        TEMPLATE  VERSION  USES  DONE  REWORK  REVIEWS  CLARITY  COMPLETE  RELEVANT  SCORE  ATTENTION
        any             2     4   76%       -        2      4.5       2.5       1.0    2.7  yes
        any             -     -     -       -        0        -         -         -      -  no
        ");
    }
}
