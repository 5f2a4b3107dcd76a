//! Signals: what the world says, before anybody has made work of it.

use crate::clock::Timestamp;
use crate::id::{SignalId, TaskId};
use crate::priority::{Level, Priority};
use crate::words::words;

/// The longest source, id at the source or type of a signal, in characters.
pub const SIGNAL_CHARS_MAX: usize = 200;

words! {
    /// How bad it is.
    pub enum Severity, "severity" {
        /// Good to know.
        Low = "low",
        /// Should be looked at.
        Medium = "medium",
        /// Should be looked at soon.
        High = "high",
        /// Should be looked at now.
        Critical = "critical",
    }
}

impl Severity {
    /// Returns how much a task about such a signal matters.
    pub const fn priority(self) -> Priority {
        match self {
            Self::Critical => Level::Urgent.priority(),
            Self::High => Level::High.priority(),
            Self::Medium => Level::Medium.priority(),
            Self::Low => Level::Low.priority(),
        }
    }
}

/// Something the world said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its permanent id.
    pub id: SignalId,
    /// Who said it.
    pub source: String,
    /// What it is called there.
    pub source_id: Option<String>,
    /// What sort of thing was said.
    pub signal_type: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was said, as JSON.
    pub payload: String,
    /// The task that was made of it.
    pub task: TaskId,
    /// When it came in.
    pub created_at: Timestamp,
}
