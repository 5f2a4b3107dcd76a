//! The dashboard: counts, what happened last, and how the prompts do.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue::IssueBrief;
use crate::relation::Relation;
use crate::template::{Template, Version};

/// What `GET /api/dashboard/stats` answers under `data`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardStats {
    pub issues: IssueStats,
    pub goals: GoalStats,
    pub dispatch: DispatchStats,
}

/// How many issues there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueStats {
    pub total: i64,
    #[serde(default)]
    pub by_status: BTreeMap<String, i64>,
    #[serde(default)]
    pub by_type: BTreeMap<String, i64>,
}

/// How many goals there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoalStats {
    pub total: i64,
    pub active: i64,
    pub achieved: i64,
}

/// How much work waits, goes on and was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchStats {
    /// How many issues are in `todo` or `backlog`.
    pub queue_depth: i64,
    pub active_count: i64,
    pub completed_last24h: i64,
}

/// The query of `GET /api/dashboard/activity`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ActivityQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// An issue without a parent, its children, and when something last happened to any of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub issue: IssueBrief,
    #[serde(default)]
    pub children: Vec<IssueBrief>,
    #[serde(default)]
    pub relations: Vec<Relation>,
    pub latest_activity: String,
}

/// How a template's prompts do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptHealth {
    pub template: Template,
    pub active_version: Option<Version>,
    /// The last five, newest first.
    #[serde(default)]
    pub recent_versions: Vec<Version>,
    /// Null while there are no reviews.
    pub review_summary: Option<ReviewSummary>,
    /// Whether its marks are low, or less than half of its prompts end in work that is done.
    #[serde(default)]
    pub needs_attention: bool,
}

/// All reviews of the version in use, summed up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewSummary {
    pub total_reviews: i64,
    pub avg_clarity: Option<f64>,
    pub avg_completeness: Option<f64>,
    pub avg_relevance: Option<f64>,
    pub composite_score: Option<f64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::issue::tests::brief_json;
    use crate::template::tests::{template_json, version_json};

    #[test]
    fn counts_read_and_write_as_documented() {
        let wire = json!({
            "issues": {"total": 3, "byStatus": {"todo": 2, "done": 1}, "byType": {"task": 3}},
            "goals": {"total": 2, "active": 1, "achieved": 1},
            "dispatch": {"queueDepth": 2, "activeCount": 0, "completedLast24h": 1}
        });
        let stats: DashboardStats = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&stats).unwrap(), wire);
    }

    #[test]
    fn activity_reads_and_writes_as_documented() {
        let wire = json!({
            "issue": brief_json(), "children": [brief_json()], "relations": [],
            "latestActivity": "2026-01-01T00:00:00Z"
        });
        let activity: Activity = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&activity).unwrap(), wire);
    }

    #[test]
    fn prompts_read_and_write_as_documented() {
        let mut wire = json!({
            "template": template_json(), "activeVersion": version_json(), "recentVersions": [version_json()],
            "reviewSummary": {
                "totalReviews": 2, "avgClarity": 4.5, "avgCompleteness": 2.5, "avgRelevance": 1.0,
                "compositeScore": 2.666_667
            },
            "needsAttention": true
        });
        let health: PromptHealth = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&health).unwrap(), wire);

        wire["reviewSummary"] = json!(null);
        wire["activeVersion"] = json!(null);
        let health: PromptHealth = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&health).unwrap(), wire);
    }
}
