//! Templates, their versions and reviews, as the surface shows them.

use extraboard_api::dashboard::{PromptHealth, ReviewSummary};
use extraboard_api::review::PromptReview;
use extraboard_api::template as wire;
use extraboard_core::review::{Review, Reviews, Score, needs_attention};
use extraboard_core::template::{Conditions, Template, Version};
use extraboard_store::verbs::PromptStats;

use super::time;

/// Shows a template.
pub(crate) fn template(template: &Template) -> wire::Template {
    wire::Template {
        id: template.id.to_string(),
        slug: template.slug.clone(),
        name: template.name.clone(),
        description: template.description.clone(),
        conditions: conditions(&template.conditions),
        specificity: template.specificity,
        project_id: template.project.map(|project| project.to_string()),
        active_version_id: template.active_version.map(|version| version.to_string()),
        created_at: time(template.created_at),
        updated_at: time(template.updated_at),
    }
}

/// Shows what a template asks of an issue.
pub(crate) fn conditions(conditions: &Conditions) -> wire::Conditions {
    wire::Conditions {
        kind: conditions.kind.map(|kind| kind.as_str().to_owned()),
        signal_source: conditions.signal_source.clone(),
        labels: conditions.labels.clone(),
        project_id: conditions.project.map(|project| project.to_string()),
        has_failed_sessions: conditions.has_failed_sessions,
        hypothesis_confidence: conditions.hypothesis_confidence,
        door: conditions.door.map(|door| door.as_str().to_owned()),
    }
}

/// Shows a version, and what became of its prompts.
pub(crate) fn version(version: &Version) -> wire::Version {
    let (worked, reviews) = (&version.worked, &version.reviews);
    wire::Version {
        id: version.id.to_string(),
        template_id: version.template.to_string(),
        version: version.number,
        content: version.content.clone(),
        changelog: version.changelog.clone(),
        author_type: version.author_type.as_str().to_owned(),
        author_name: Some(version.author.clone()),
        status: version.status.as_str().to_owned(),
        usage_count: worked.used,
        completion_rate: worked.completion_rate(),
        rework_rate: worked.rework_rate(),
        avg_duration_ms: worked.mean_duration().map(|span| span.as_micros() / 1_000),
        review_score: reviews.score.map(Score::as_f64),
        review_count: reviews.count,
        improvement_issue_id: version.improvement.map(|task| task.to_string()),
        created_at: time(version.created_at),
    }
}

/// Shows a review.
pub(crate) fn review(review: Review) -> PromptReview {
    PromptReview {
        id: review.id.to_string(),
        version_id: review.version.to_string(),
        issue_id: review.task.to_string(),
        clarity: review.marks.clarity,
        completeness: review.marks.completeness,
        relevance: review.marks.relevance,
        feedback: review.feedback,
        author_type: review.author_type.as_str().to_owned(),
        author_name: Some(review.author),
        created_at: time(review.created_at),
    }
}

/// Shows how the prompts of a template do.
pub(crate) fn health(stats: &PromptStats) -> PromptHealth {
    let active = stats.active.as_ref();
    PromptHealth {
        template: template(&stats.template),
        active_version: active.map(version),
        recent_versions: stats.recent.iter().map(version).collect(),
        review_summary: active.and_then(|active| summary(&active.reviews)),
        needs_attention: active.is_some_and(|active| needs_attention(&active.reviews, &active.worked)),
    }
}

fn summary(reviews: &Reviews) -> Option<ReviewSummary> {
    let mean = |sum| reviews.mean_of(sum).map(Score::as_f64);
    (reviews.count > 0).then(|| ReviewSummary {
        total_reviews: reviews.count,
        avg_clarity: mean(reviews.clarity),
        avg_completeness: mean(reviews.completeness),
        avg_relevance: mean(reviews.relevance),
        composite_score: reviews.composite().map(Score::as_f64),
    })
}
