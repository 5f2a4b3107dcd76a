//! The shapes around one thing, `{"data": …}`, and around many, `{"data": […], "total": 12}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing as every route but the dispatch routes answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct One<T> {
    pub data: T,
}

/// A list whose total is always counted to the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Many<T> {
    pub data: Vec<T>,
    /// How many there are beyond this page too.
    pub total: i64,
}

impl<T> Many<T> {
    /// Wraps a list that is shown to its end.
    pub fn whole(data: Vec<T>) -> Self {
        let total = i64::try_from(data.len()).unwrap_or(i64::MAX);
        Self { data, total }
    }
}

/// The query of a list that is read by page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PageQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
}
