//! The shape around one thing: `{"data": …}`.

use serde::{Deserialize, Serialize};

/// One thing as every route but the dispatch routes answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct One<T> {
    pub data: T,
}
