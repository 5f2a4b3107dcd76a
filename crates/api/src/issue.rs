//! Issues, as the surface calls what the desk calls tasks: the thing itself, creating, patching and listing
//! it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::dispatch::DispatchTicket;

/// One issue as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    pub id: String,
    pub number: i64,
    pub title: String,
    pub description: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    /// The tracker's word, coarser than `state`.
    pub status: String,
    /// The desk's own word.
    pub state: String,
    /// The tracker's level: 0 none, 1 urgent to 4 low.
    pub priority: i64,
    /// The points behind the level, 1 to 100.
    pub priority_value: i64,
    #[serde(default)]
    pub doors: Vec<String>,
    pub max_retries: i64,
    pub signal_source: Option<String>,
    pub signal_payload: Option<Value>,
    pub hypothesis: Option<Value>,
    pub agent_summary: Option<String>,
    pub last_error: Option<String>,
    pub result: Option<Value>,
    /// How often the issue was handed out.
    pub attempt: i64,
    #[serde(default)]
    pub counters: Counters,
    pub not_before: Option<String>,
    pub queued_at: Option<String>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub parent_id: Option<String>,
    pub project_id: Option<String>,
    /// The dispatch that is not closed, if there is one.
    pub dispatch: Option<IssueDispatch>,
}

/// How often each kind of mishap has happened since the last success.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counters {
    pub crash: i64,
    pub unavailable: i64,
    pub retry: i64,
    pub lost: i64,
}

/// The unclosed dispatch of an issue, without its token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueDispatch {
    pub id: String,
    pub attempt: i64,
    pub fence: i64,
    /// `agent:NAME`, `person:NAME` or `anonymous`.
    pub holder: String,
    pub door: String,
    /// `open` or `ending`.
    pub phase: String,
    /// Why it is ending.
    pub reason: Option<String>,
    pub lease_until: Option<String>,
    pub started_at: Option<String>,
    pub heartbeat_at: Option<String>,
    pub progress: Option<Value>,
}

/// One issue with what stands around it, as `GET /api/issues/:id` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueDetail {
    #[serde(flatten)]
    pub issue: Issue,
    pub parent: Option<Value>,
    #[serde(default)]
    pub children: Vec<Value>,
    #[serde(default)]
    pub labels: Vec<Value>,
    #[serde(default)]
    pub relations: Vec<Value>,
}

/// The body of `POST /api/issues`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IssueCreate {
    pub title: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doors: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_payload: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<Value>,
}

/// The body of `PATCH /api/issues/:id`.
///
/// An absent field stays as it is. Where null means something (clear it) the field is a double option: `None`
/// is absent, `Some(None)` is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IssuePatch {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    #[serde(rename = "type", deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub priority_value: Option<i64>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub doors: Option<Vec<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i64>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub signal_source: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub signal_payload: Option<Option<Value>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<Option<Value>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub agent_summary: Option<Option<String>>,
}

/// What `PATCH /api/issues/:id` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssuePatched {
    pub data: Issue,
    /// The dispatch that `in_progress` opened for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchTicket>,
}

/// The query of `GET /api/issues`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IssueQuery {
    /// A comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A comma list.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// One page of issues, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueList {
    pub data: Vec<Issue>,
    pub total: i64,
    /// Whether there are more than `total` says.
    #[serde(default)]
    pub total_capped: bool,
    pub next_cursor: Option<String>,
}

/// Reads null as `Some(None)`; an absent field never gets here and stays `None`.
#[expect(clippy::option_option, reason = "see `IssuePatch`")]
fn nullable<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Reads a field that cannot be cleared: null is refused, not passed over.
fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issue_json() -> Value {
        json!({
            "id": "01990000-0000-7000-8000-000000000000", "number": 42, "title": "t", "description": null,
            "type": "task", "status": "todo", "state": "queued",
            "priority": 3, "priorityValue": 50, "doors": ["pull", "run"], "maxRetries": 3,
            "signalSource": null, "signalPayload": null, "hypothesis": null,
            "agentSummary": null, "lastError": null, "result": null,
            "attempt": 0, "counters": {"crash": 0, "unavailable": 0, "retry": 0, "lost": 0},
            "notBefore": null, "queuedAt": "2026-01-01T00:00:00Z", "startedAt": null, "completedAt": null,
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
            "parentId": null, "projectId": null, "dispatch": null
        })
    }

    #[test]
    fn an_issue_reads_and_writes_as_documented() {
        let issue: Issue = serde_json::from_value(issue_json()).unwrap();
        assert_eq!(serde_json::to_value(&issue).unwrap(), issue_json());
    }

    #[test]
    fn an_issue_with_fields_of_a_newer_server_still_reads() {
        let mut newer = issue_json();
        newer["budget"] = json!({"usd": 5});
        let detail: IssueDetail = serde_json::from_value(newer).unwrap();
        assert_eq!(detail.issue.number, 42);
    }

    #[test]
    fn patch_tells_null_from_absent() {
        let patch: IssuePatch =
            serde_json::from_str(r#"{"description": null, "hypothesis": {"a": 1}}"#).unwrap();
        assert_eq!(patch.description, Some(None));
        assert_eq!(patch.hypothesis, Some(Some(json!({"a": 1}))));
        assert_eq!(patch.not_before, None);
        assert_eq!(
            serde_json::to_value(&patch).unwrap(),
            json!({"description": null, "hypothesis": {"a": 1}})
        );
    }

    #[test]
    fn patch_refuses_null_where_nothing_can_be_cleared() {
        for field in ["title", "type", "status", "priority", "priorityValue", "doors", "maxRetries"] {
            let body = format!(r#"{{"{field}": null}}"#);
            assert!(serde_json::from_str::<IssuePatch>(&body).is_err(), "{field}");
        }
    }

    #[test]
    fn requests_refuse_unknown_fields() {
        let error =
            serde_json::from_str::<IssueCreate>(r#"{"title": "t", "type": "task", "prio": 1}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `prio`"), "{error}");
        serde_json::from_str::<IssuePatch>(r#"{"state": "done"}"#).unwrap_err();
    }

    #[test]
    fn create_sends_only_what_was_set() {
        let create = IssueCreate { title: "t".to_owned(), kind: "task".to_owned(), ..IssueCreate::default() };
        assert_eq!(serde_json::to_value(&create).unwrap(), json!({"title": "t", "type": "task"}));
    }
}
