//! What an issue says about its being handed out, and what it was made of: the same on the way in and out.
//!
//! Only our own format has these; what they may hold is the desk's word.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When, how and how often an issue is handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terms {
    /// What an operator added to its score: -10,000 to 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<i64>,
    /// Through which doors it may leave, the desk's own choice if there are none: pull, push and run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doors: Vec<String>,
    /// 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i64>,
    /// Until when it waits, in the words of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// The path of the artifact it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_artifact: Option<String>,
    /// Whether it waits until its parent is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gated_by_parent: bool,
}

/// What an issue was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Grounds {
    /// Who sent the signal; at most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_source: Option<String>,
    /// What the signal said; at most 256 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_payload: Option<Value>,
    /// What is held to be so: an object of at most 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<Value>,
}
