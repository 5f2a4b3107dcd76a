//! Tokens: who may do what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub id: String,
    /// `admin`, `agent`, `node` or `viewer`.
    pub scope: String,
    pub name: String,
    /// The one agent that may use it; null for any.
    pub agent: Option<String>,
    pub created_at: String,
    pub expires_at: Option<String>,
}

/// The body of `POST /api/tokens`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenCreate {
    pub scope: String,
    /// What people call it; the agent's name, or one made of scope and id, unless it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// What `POST /api/tokens` answers: the only time the secret is told.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCreated {
    #[serde(flatten)]
    pub token: Token,
    pub secret: String,
}

/// Shows everything but the secret, which must not reach a log.
impl std::fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCreated").field("token", &self.token).finish_non_exhaustive()
    }
}
