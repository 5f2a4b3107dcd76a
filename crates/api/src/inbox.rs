//! The inbox: what waits for a person.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    pub id: i64,
    /// `question`, `blocked`, `dead_letter` or `broken_prompt`.
    pub kind: String,
    pub issue_id: String,
    pub number: i64,
    pub title: String,
    /// What was asked, or what went wrong.
    pub text: Option<String>,
    pub created_at: String,
}

/// The query of `GET /api/inbox`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InboxQuery {
    /// A comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
}

/// The body of `POST /api/issues/:id/answer` and `POST /api/inbox/:id/answer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    pub answer: String,
}
