//! Labels, as the surface shows them.

use extraboard_api::label::IssueLabel;
use extraboard_core::label::{Label, TaskLabel};

use super::time;

/// Shows a label.
pub(crate) fn label(label: Label) -> extraboard_api::label::Label {
    extraboard_api::label::Label {
        id: label.id.to_string(),
        name: label.name,
        color: label.color,
        created_at: time(label.created_at),
    }
}

/// Shows a label as it stands on an issue.
pub(crate) fn on_issue(label: TaskLabel) -> IssueLabel {
    IssueLabel { id: label.id.to_string(), name: label.name, color: label.color }
}
