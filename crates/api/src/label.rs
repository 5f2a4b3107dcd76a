//! Labels: words people sort issues by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::present;

/// One label as its own routes show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    pub id: String,
    pub name: String,
    pub color: String,
    pub created_at: String,
}

/// One label as an issue shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueLabel {
    pub id: String,
    pub name: String,
    pub color: String,
}

/// The body of `POST /api/labels`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelCreate {
    pub name: String,
    /// As somebody writes it: `#6b7280`, `red`.
    pub color: String,
}

/// The body of `PATCH /api/labels/:id`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LabelPatch {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_label_reads_and_writes_as_documented() {
        let wire =
            json!({"id": "0199l", "name": "bug", "color": "#ff0000", "createdAt": "2026-01-01T00:00:00Z"});
        let label: Label = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&label).unwrap(), wire);
    }

    #[test]
    fn a_new_label_needs_name_and_color() {
        serde_json::from_str::<LabelCreate>(r#"{"name": "bug"}"#).unwrap_err();
        serde_json::from_str::<LabelCreate>(r#"{"color": "red"}"#).unwrap_err();
        serde_json::from_str::<LabelCreate>(r#"{"name": "bug", "color": "red", "icon": "x"}"#).unwrap_err();
    }

    #[test]
    fn a_patch_clears_nothing_and_sends_only_what_was_set() {
        for field in ["name", "color"] {
            let body = format!(r#"{{"{field}": null}}"#);
            assert!(serde_json::from_str::<LabelPatch>(&body).is_err(), "{field}");
        }
        let patch = LabelPatch { color: Some("red".to_owned()), ..LabelPatch::default() };
        assert_eq!(serde_json::to_value(&patch).unwrap(), json!({"color": "red"}));
    }
}
