//! Exports: all there is to an issue, as JSON lines for machines and as a task list for people.
//!
//! What [`write_jsonl`] writes, [`crate::import::read`] reads back into the same drafts. What
//! [`write_markdown`] writes can be read back too, but says less.

mod markdown;

use serde::{Deserialize, Serialize};

use crate::import::{Grounds, Terms};
pub use markdown::write_markdown;

/// An issue on its way out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// What it is recognised by, see [`key`].
    pub key: String,
    /// Its number on the desk it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The tracker's word.
    pub status: String,
    /// 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_value: Option<i64>,
    /// The names of its labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The key of the issue it lies below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The keys of the issues it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// The keys of the issues it has to do with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// When and how it is handed out.
    #[serde(flatten)]
    pub terms: Terms,
    /// What it was made of.
    #[serde(flatten)]
    pub grounds: Grounds,
    /// Oldest first, replies below what they reply to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<ExportedComment>,
    /// The name of its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
}

/// A comment on its way out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedComment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ExportedComment>,
}

/// Returns the key an issue is exported with: its external key, else one made of its id.
pub fn key(external_key: Option<&str>, id: &str) -> String {
    external_key.map_or_else(|| format!("extraboard:{id}"), str::to_owned)
}

/// Writes issues as JSON, one a line.
#[expect(clippy::missing_panics_doc, reason = "there is nothing in an issue that JSON cannot hold")]
pub fn write_jsonl(issues: &[Exported]) -> String {
    let line = |issue| serde_json::to_string(issue).expect("texts, numbers and lists of them are JSON");
    issues.iter().map(|issue| line(issue) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_is_one_line_without_what_it_does_not_have() {
        let issues = [
            Exported {
                key: key(None, "0199"),
                number: Some(7),
                title: "a \"b\"\u{2028}".to_owned(),
                description: Some("x\ny".to_owned()),
                kind: Some("task".to_owned()),
                status: "in_review".to_owned(),
                priority_value: Some(75),
                labels: vec!["bug".to_owned()],
                terms: Terms {
                    not_before: Some("2026-01-31T09:00:00Z".to_owned()),
                    gated_by_parent: true,
                    ..Terms::default()
                },
                grounds: Grounds { hypothesis: Some(serde_json::json!({"a": 1.5})), ..Grounds::default() },
                comments: vec![ExportedComment { body: "c".to_owned(), ..ExportedComment::default() }],
                ..Exported::default()
            },
            Exported { key: key(Some("gh:1"), "0200"), title: "t".to_owned(), ..Exported::default() },
        ];
        let text = write_jsonl(&issues);
        assert_eq!(text.lines().count(), 2);
        insta::assert_snapshot!(text, @r#"
        {"key":"extraboard:0199","number":7,"title":"a \"b\" ","description":"x\ny","type":"task","status":"in_review","priorityValue":75,"labels":["bug"],"notBefore":"2026-01-31T09:00:00Z","gatedByParent":true,"hypothesis":{"a":1.5},"comments":[{"body":"c"}]}
        {"key":"gh:1","title":"t","status":""}
        "#);
        let read: Vec<Exported> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, issues);
    }
}
