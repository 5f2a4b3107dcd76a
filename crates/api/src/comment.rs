//! What people and agents say about an issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comment, with what replies to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    pub id: String,
    pub issue_id: String,
    /// `comment`, `question` or `answer`.
    pub kind: String,
    pub body: String,
    pub author_name: String,
    /// `human` or `agent`.
    pub author_type: String,
    pub parent_id: Option<String>,
    pub created_at: String,
    #[serde(default)]
    pub replies: Vec<Comment>,
}

/// The body of `POST /api/issues/:id/comments`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommentCreate {
    pub body: String,
    /// The caller's own name unless it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
}
