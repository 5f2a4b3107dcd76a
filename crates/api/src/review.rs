//! Reviews: what agents and people think of a prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue_ref::IssueRef;

/// One review as every route shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptReview {
    pub id: String,
    pub version_id: String,
    pub issue_id: String,
    /// Whether it could be understood, 1 to 5.
    pub clarity: i64,
    /// Whether all that was needed stood in it, 1 to 5.
    pub completeness: i64,
    /// Whether what stood in it was needed, 1 to 5.
    pub relevance: i64,
    /// What would make it better.
    pub feedback: Option<String>,
    /// `human` or `agent`.
    pub author_type: String,
    pub author_name: Option<String>,
    pub created_at: String,
}

/// The body of `POST /api/prompt-reviews`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptReviewCreate {
    pub version_id: String,
    pub issue_id: IssueRef,
    pub clarity: i64,
    pub completeness: i64,
    pub relevance: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_type: Option<String>,
    /// The caller's own name unless it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_review_reads_and_writes_as_documented() {
        let wire = json!({
            "id": "0199r", "versionId": "0199v", "issueId": "0199i", "clarity": 4, "completeness": 5,
            "relevance": 3, "feedback": null, "authorType": "agent", "authorName": "coder",
            "createdAt": "2026-01-01T00:00:00Z"
        });
        let review: PromptReview = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&review).unwrap(), wire);
    }

    fn create(clarity: &str) -> Result<PromptReviewCreate, serde_json::Error> {
        let body = format!(
            r#"{{"versionId": "0199v", "issueId": 7, "clarity": {clarity}, "completeness": 5, "relevance": 3}}"#
        );
        serde_json::from_str(&body)
    }

    #[test]
    fn a_new_review_names_its_issue_by_uuid_or_number() {
        let wire = serde_json::to_value(create("4").unwrap()).unwrap();
        let expected =
            json!({"versionId": "0199v", "issueId": "7", "clarity": 4, "completeness": 5, "relevance": 3});
        assert_eq!(wire, expected);
    }

    #[test]
    fn marks_are_whole_numbers() {
        for mark in ["4.5", r#""4""#, "null"] {
            assert!(create(mark).is_err(), "{mark}");
        }
    }
}
