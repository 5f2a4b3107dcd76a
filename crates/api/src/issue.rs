//! Issues, as the surface calls what the desk calls tasks: the thing itself, creating, patching and listing
//! it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dispatch::DispatchTicket;
use crate::issue_ref::IssueRef;
use crate::label::IssueLabel;
use crate::patch::{nullable, present};
use crate::relation::Relation;
use crate::work::{Commit, PullRequest};

/// One issue as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What an operator added to its score.
    #[serde(default)]
    pub boost: i64,
    #[serde(default)]
    pub doors: Vec<String>,
    /// What a claimer must be able to do.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Whose agents it is for; null for anybody's.
    pub owner: Option<String>,
    pub max_retries: i64,
    pub signal_source: Option<String>,
    pub signal_payload: Option<Value>,
    pub hypothesis: Option<Value>,
    pub agent_summary: Option<String>,
    pub last_error: Option<String>,
    pub result: Option<Value>,
    #[serde(default)]
    pub commits: Vec<Commit>,
    #[serde(default)]
    pub pull_requests: Vec<PullRequest>,
    /// What its agent asked last.
    pub question: Option<String>,
    /// What was answered to that.
    pub answer: Option<String>,
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
    /// How many issues stand above it.
    #[serde(default)]
    pub depth: i64,
    /// Whether it waits until its parent is done.
    #[serde(default)]
    pub gated_by_parent: bool,
    /// How many issues that block it are not done.
    #[serde(default)]
    pub open_blockers: i64,
    /// Whether a blocker, its parent or an artifact holds it back.
    #[serde(default)]
    pub held: bool,
    /// The path of the artifact it needs.
    pub input_artifact: Option<String>,
    #[serde(default)]
    pub artifact_present: bool,
    /// Sorted by name.
    #[serde(default)]
    pub labels: Vec<IssueLabel>,
    /// What it is called where it came from; no two issues have the same.
    #[serde(default)]
    pub external_key: Option<String>,
    /// The dispatch that is not closed, if there is one.
    pub dispatch: Option<IssueDispatch>,
}

/// How often each kind of mishap has happened since the last success.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Counters {
    pub crash: i64,
    pub unavailable: i64,
    pub retry: i64,
    pub lost: i64,
}

/// The unclosed dispatch of an issue, without its token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueDetail {
    #[serde(flatten)]
    pub issue: Issue,
    pub parent: Option<IssueBrief>,
    /// At most 200.
    #[serde(default)]
    pub children: Vec<IssueBrief>,
    #[serde(default)]
    pub relations: Vec<Relation>,
}

/// One issue in short, as another one shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueBrief {
    pub id: String,
    pub number: i64,
    pub title: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub state: String,
}

/// The body of `POST /api/issues`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<IssueRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gated_by_parent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Vec<IssueRef>>,
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_ids: Option<Vec<String>>,
    /// An issue that has this key already is answered instead, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
}

/// The body of `PATCH /api/issues/:id`.
///
/// An absent field stays as it is. Where null means something (clear it) the field is a double option: `None`
/// is absent, `Some(None)` is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub commits: Option<Option<Vec<Commit>>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub pull_requests: Option<Option<Vec<PullRequest>>>,
    /// By uuid or name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Option<IssueRef>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub gated_by_parent: Option<bool>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub boost: Option<i64>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub owner: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub input_artifact: Option<Option<String>>,
    /// The whole new set, by uuid or name.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub label_ids: Option<Vec<String>>,
}

/// What `PATCH /api/issues/:id` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IssuePatched {
    pub data: Issue,
    /// The dispatch that `in_progress` opened for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchTicket>,
}

/// The query of `GET /api/issues`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// By uuid or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// One page of issues, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueList {
    pub data: Vec<Issue>,
    pub total: i64,
    /// Whether there are more than `total` says.
    #[serde(default)]
    pub total_capped: bool,
    pub next_cursor: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Returns an issue as every route shows it.
    pub(crate) fn issue_json() -> Value {
        let mut issue = json!({
            "id": "01990000-0000-7000-8000-000000000000", "number": 42, "title": "t", "description": null,
            "type": "task", "status": "todo", "state": "queued",
            "priority": 3, "priorityValue": 50, "doors": ["pull", "run"], "maxRetries": 3,
            "signalSource": null, "signalPayload": null, "hypothesis": null,
            "agentSummary": null, "lastError": null, "result": null,
            "commits": [], "pullRequests": [], "question": null, "answer": null,
            "attempt": 0, "counters": {"crash": 0, "unavailable": 0, "retry": 0, "lost": 0},
            "notBefore": null, "queuedAt": "2026-01-01T00:00:00Z", "startedAt": null, "completedAt": null,
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
            "parentId": null, "projectId": null, "boost": 5, "needs": ["rust"], "owner": null,
            "depth": 0, "gatedByParent": false, "openBlockers": 1, "held": true,
            "inputArtifact": "out/plan.md", "artifactPresent": false, "dispatch": null
        });
        // Apart from the rest: the macro has a limit.
        issue["labels"] = json!([{"id": "0199l", "name": "bug", "color": "red"}]);
        issue["externalKey"] = json!(null);
        issue
    }

    /// Returns an issue as another one shows it.
    pub(crate) fn brief_json() -> Value {
        json!({"id": "0199b", "number": 7, "title": "b", "type": "plan", "status": "done", "state": "done"})
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
    fn an_issue_of_an_older_server_still_reads() {
        let mut older = issue_json();
        let fields = older.as_object_mut().unwrap();
        for field in [
            "boost",
            "needs",
            "owner",
            "depth",
            "gatedByParent",
            "openBlockers",
            "held",
            "inputArtifact",
            "artifactPresent",
            "labels",
            "externalKey",
        ] {
            fields.remove(field).unwrap();
        }
        let issue: Issue = serde_json::from_value(older).unwrap();
        assert_eq!((issue.boost, issue.depth, issue.held, issue.owner), (0, 0, false, None));
    }

    #[test]
    fn a_detail_shows_what_stands_around_the_issue() {
        let mut wire = issue_json();
        wire["parent"] = brief_json();
        wire["children"] = json!([brief_json()]);
        wire["relations"] = json!([{
            "id": "0199r", "type": "blocks", "issueId": "0199a", "relatedIssueId": "0199b",
            "related": brief_json(), "createdAt": "2026-01-01T00:00:00Z"
        }]);
        let detail: IssueDetail = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&detail).unwrap(), wire);
    }

    #[test]
    fn requests_name_other_issues_by_uuid_or_number() {
        let create: IssueCreate = serde_json::from_str(
            r#"{"title": "t", "type": "task", "parentId": 3, "blockedBy": ["4", 5, "0199"]}"#,
        )
        .unwrap();
        assert_eq!(
            serde_json::to_value(&create).unwrap(),
            json!({"title": "t", "type": "task", "parentId": "3", "blockedBy": ["4", "5", "0199"]})
        );
        let patch: IssuePatch = serde_json::from_str(r#"{"parentId": 3}"#).unwrap();
        assert_eq!(patch.parent_id, Some(Some(IssueRef::from(3))));
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
    fn patch_takes_an_issue_out_of_what_it_was_put_in() {
        let wire = json!({"projectId": null, "parentId": null, "owner": null, "inputArtifact": null});
        let patch: IssuePatch = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!((&patch.parent_id, &patch.owner), (&Some(None), &Some(None)));
        assert_eq!(serde_json::to_value(&patch).unwrap(), wire);
    }

    #[test]
    fn patch_refuses_null_where_nothing_can_be_cleared() {
        for field in [
            "title",
            "type",
            "status",
            "priority",
            "priorityValue",
            "doors",
            "maxRetries",
            "gatedByParent",
            "boost",
            "needs",
            "labelIds",
        ] {
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
