//! How the desk itself is doing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `GET /api/status` answers under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeskStatus {
    pub version: String,
    /// Where the database is, without its password.
    pub database: String,
    pub started_at: String,
    pub pid: u32,
    /// How many tasks stand in line.
    pub line: i64,
    /// How many dispatches are open or ending.
    pub unclosed: i64,
    /// How many tasks there are in each state.
    #[serde(default)]
    pub states: BTreeMap<String, i64>,
    /// The position of the newest event.
    pub pos: i64,
}
