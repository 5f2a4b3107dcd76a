//! Labels: words people sort tasks by.

use crate::clock::Timestamp;
use crate::id::LabelId;

/// The longest name of a label, in characters.
pub const LABEL_CHARS_MAX: usize = 100;
/// The longest color of a label, in characters.
pub const COLOR_CHARS_MAX: usize = 50;
/// How many labels a task may have.
pub const LABELS_MAX: usize = 50;

/// A word people sort tasks by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its permanent id.
    pub id: LabelId,
    /// The word; no two labels have the same.
    pub name: String,
    /// What it looks like, as somebody wrote it.
    pub color: String,
    /// When it came in.
    pub created_at: Timestamp,
}

/// A label, as it stands on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLabel {
    /// Its permanent id.
    pub id: LabelId,
    /// The word.
    pub name: String,
    /// What it looks like.
    pub color: String,
}
