//! `POST /api/issues`: take in an issue.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::One;
use extraboard_api::issue::{Issue, IssueCreate};
use extraboard_api::issue_ref::IssueRef;
use extraboard_core::caller::Caller;
use extraboard_core::doors::Doors;
use extraboard_core::id::{DispatchId, RelationId, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::priority::{Level, Priority};
use extraboard_core::state::State as TaskState;
use extraboard_core::status::Status;
use extraboard_core::task::{MAX_RETRIES_DEFAULT, Task};
use extraboard_store::verbs::{DispatchGet, Imported, TaskCreate, TaskDraft, TaskGet, TaskImport};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, KeyHeader, Nothing, Params};
use crate::validate::{PAYLOAD_BYTES_MAX, Problems, RESULT_BYTES_MAX, SOURCE_CHARS_MAX};

/// The most issues a new one may be blocked by from the start; relations add more.
const BLOCKERS_MAX: usize = 100;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    key: KeyHeader,
    Body(body): Body<IssueCreate>,
) -> Result<(StatusCode, Json<One<Issue>>), ApiError> {
    let draft = draft(&body, || app.desk.new_relation_id())?;
    check_scope(&app, &caller, &draft).await?;
    let key = key.used_for(&serde_json::to_string(&body).unwrap_or_default());
    let has_key = draft.external_key.is_some();
    let scope = scope(&app, &caller);
    let create = TaskCreate { ctx: app.desk.ctx(caller), id: app.desk.new_task_id(), draft, key };
    let (status, task) = if has_key {
        match app.desk.write(TaskImport { create }).await? {
            Imported::Created(task) => (StatusCode::CREATED, task),
            Imported::Known(task) => {
                check_known(&app, scope, &task).await?;
                (StatusCode::OK, task)
            }
        }
    } else {
        (StatusCode::CREATED, app.desk.write(create).await?)
    };
    app.wrote(&task);
    Ok((status, Json(One { data: convert::issue(task, None) })))
}

/// Returns the dispatch the caller has to keep to, where tokens count.
fn scope(app: &App, caller: &Caller) -> Option<DispatchId> {
    match caller {
        Caller::Holder { dispatch, .. } if !app.is_loopback() => Some(*dispatch),
        _ => None,
    }
}

/// Keeps a dispatch token to parts of its own issue.
async fn check_scope(app: &App, caller: &Caller, draft: &TaskDraft) -> Result<(), ApiError> {
    let Some(dispatch) = scope(app, caller) else { return Ok(()) };
    let own = match draft.parent {
        Some(task) => app.desk.read(TaskGet { task }).await?.task.dispatch == Some(dispatch),
        None => false,
    };
    if own { Ok(()) } else { Err(ApiError::OutOfScope(dispatch)) }
}

/// Shows a dispatch token no issue by its key but a part of its own.
async fn check_known(app: &App, scope: Option<DispatchId>, known: &Task) -> Result<(), ApiError> {
    let Some(dispatch) = scope else { return Ok(()) };
    let own = app.desk.read(DispatchGet { dispatch }).await?.task;
    if known.parent == Some(own) { Ok(()) } else { Err(ApiError::OutOfScope(dispatch)) }
}

fn draft(body: &IssueCreate, new_relation_id: impl Fn() -> RelationId) -> Result<TaskDraft, ApiError> {
    let mut problems = Problems::default();
    problems.title(&body.title);
    if let Some(description) = &body.description {
        problems.description(description);
    }
    if let Some(source) = &body.signal_source {
        problems.text("signalSource", source, SOURCE_CHARS_MAX);
    }
    let max_retries = body.max_retries.unwrap_or(MAX_RETRIES_DEFAULT);
    problems.max_retries(max_retries);
    let payload = body.signal_payload.as_ref();
    let hypothesis = body.hypothesis.as_ref();
    let draft = TaskDraft {
        title: body.title.clone(),
        description: body.description.clone(),
        kind: problems.kind(&body.kind).unwrap_or(Kind::Task),
        state: state(&mut problems, body.status.as_deref()),
        priority: priority(&mut problems, body),
        doors: body.doors.as_ref().and_then(|doors| problems.doors(doors)).unwrap_or(Doors::API_DEFAULT),
        max_retries,
        not_before: body.not_before.as_ref().and_then(|text| problems.moment("notBefore", text)),
        signal_source: body.signal_source.clone(),
        signal_payload: payload.map(|value| problems.json("signalPayload", value, PAYLOAD_BYTES_MAX)),
        hypothesis: hypothesis.map(|value| problems.object("hypothesis", value, RESULT_BYTES_MAX)),
        blocked_by: blockers(&mut problems, body, new_relation_id),
        ..standing(&mut problems, body)
    };
    // Where a value could not be read the draft holds a stand-in; it goes no further.
    problems.check()?;
    Ok(draft)
}

/// Reads where the issue stands among others, and whom it is for.
fn standing(problems: &mut Problems, body: &IssueCreate) -> TaskDraft {
    let boost = body.boost.unwrap_or(0);
    problems.boost(boost);
    if let Some(owner) = &body.owner {
        problems.owner(owner);
    }
    let needs = body.needs.as_ref().and_then(|needs| problems.capabilities("needs", needs));
    let (project, parent) = (body.project_id.as_deref(), body.parent_id.as_ref());
    TaskDraft {
        boost,
        needs: needs.unwrap_or_default(),
        owner: body.owner.clone(),
        labels: body.label_ids.as_deref().map(|labels| problems.labels(labels)).unwrap_or_default(),
        external_key: body.external_key.as_ref().map(|key| problems.external_key(key)),
        project: project.map(|text| problems.project_ref("projectId", text)),
        parent: parent.and_then(|parent| problems.issue_ref("parentId", parent.as_str())),
        gated_by_parent: body.gated_by_parent.unwrap_or(false),
        artifact: body.input_artifact.as_ref().map(|path| problems.artifact("inputArtifact", path)),
        ..TaskDraft::new("")
    }
}

fn blockers(
    problems: &mut Problems,
    body: &IssueCreate,
    new_relation_id: impl Fn() -> RelationId,
) -> Vec<(RelationId, TaskRef)> {
    let named = body.blocked_by.as_deref().unwrap_or_default();
    if named.len() > BLOCKERS_MAX {
        problems.add("blockedBy", format!("expected at most {BLOCKERS_MAX} issues, got {}", named.len()));
        return Vec::new();
    }
    let read = |blocker: &IssueRef| {
        let blocker = problems.issue_ref("blockedBy", blocker.as_str())?;
        Some((new_relation_id(), blocker))
    };
    named.iter().filter_map(read).collect()
}

fn state(problems: &mut Problems, status: Option<&str>) -> TaskState {
    match status.map(|word| problems.status(word)) {
        Some(Some(Status::Backlog)) => TaskState::Backlog,
        Some(Some(Status::Todo)) => TaskState::Queued,
        None | Some(Some(Status::Triage) | None) => TaskState::Triage,
        Some(Some(other)) => {
            problems.add("status", format!("a new issue is triage, backlog or todo, got {other}"));
            TaskState::Triage
        }
    }
}

fn priority(problems: &mut Problems, body: &IssueCreate) -> Priority {
    problems.one_priority(body.priority, body.priority_value);
    let points = body.priority_value.and_then(|points| problems.points(points));
    let level = body.priority.and_then(|number| problems.level(number));
    points.or(level.map(Level::priority)).unwrap_or(Level::None.priority())
}

#[cfg(test)]
mod tests {
    use extraboard_core::id::TaskNumber;
    use serde_json::{Value, json};

    use super::*;

    fn read(more: &Value) -> Result<TaskDraft, String> {
        let mut body = json!({"title": "t", "type": "task"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = serde_json::from_value(body).unwrap();
        let id = "01990000-0000-7000-8000-000000000001".parse().unwrap();
        draft(&body, || id).map_err(|error| match error {
            ApiError::Invalid(fields) => {
                fields.into_iter().map(|field| field.field).collect::<Vec<_>>().join(",")
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_new_issue_stands_alone_unless_it_says_otherwise() {
        let draft = read(&json!({})).unwrap();
        assert_eq!((draft.boost, draft.gated_by_parent, draft.blocked_by.len()), (0, false, 0));
        assert_eq!((draft.project, draft.parent, draft.owner, draft.artifact), (None, None, None, None));
    }

    #[test]
    fn a_new_issue_names_what_it_belongs_to_and_waits_for() {
        let draft = read(&json!({
            "projectId": "apollo", "parentId": 3, "gatedByParent": true, "boost": -5, "needs": ["Rust"],
            "owner": "ann", "inputArtifact": "./out/plan.md", "blockedBy": ["4", 5]
        }))
        .unwrap();
        assert_eq!(draft.project.unwrap().to_string(), "apollo");
        assert_eq!(draft.parent, Some(TaskRef::Number(TaskNumber(3))));
        assert_eq!((draft.gated_by_parent, draft.boost), (true, -5));
        assert_eq!((draft.needs.to_string().as_str(), draft.owner.as_deref()), ("rust", Some("ann")));
        assert_eq!(draft.artifact.as_deref(), Some("out/plan.md"));
        let blockers: Vec<_> = draft.blocked_by.iter().map(|(_, blocker)| blocker.to_string()).collect();
        assert_eq!(blockers, ["#4", "#5"]);
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let fields = read(&json!({
            "projectId": "", "parentId": "x", "boost": 10_001, "needs": ["a b"], "owner": "",
            "inputArtifact": "../x", "blockedBy": [0]
        }));
        assert_eq!(fields.unwrap_err(), "blockedBy,boost,owner,needs,projectId,parentId,inputArtifact");
        assert_eq!(read(&json!({"blockedBy": vec![1; 101]})).unwrap_err(), "blockedBy");
        assert_eq!(read(&json!({"blockedBy": vec![1; 100]})).unwrap().blocked_by.len(), 100);
    }
}
