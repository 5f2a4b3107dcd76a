//! `POST /api/issues`: take in an issue.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::One;
use extraboard_api::issue::{Issue, IssueCreate};
use extraboard_core::doors::Doors;
use extraboard_core::kind::Kind;
use extraboard_core::priority::{Level, Priority};
use extraboard_core::state::State as TaskState;
use extraboard_core::status::Status;
use extraboard_core::task::MAX_RETRIES_DEFAULT;
use extraboard_store::verbs::{TaskCreate, TaskDraft};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, KeyHeader, Nothing, Params};
use crate::validate::{PAYLOAD_BYTES_MAX, Problems, RESULT_BYTES_MAX, SOURCE_CHARS_MAX};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    key: KeyHeader,
    Body(body): Body<IssueCreate>,
) -> Result<(StatusCode, Json<One<Issue>>), ApiError> {
    let draft = draft(&body)?;
    let key = key.used_for(&serde_json::to_string(&body).unwrap_or_default());
    let create = TaskCreate { ctx: app.desk.ctx(caller), id: app.desk.new_task_id(), draft, key };
    let task = app.desk.write(create).await?;
    Ok((StatusCode::CREATED, Json(One { data: convert::issue(task, None) })))
}

fn draft(body: &IssueCreate) -> Result<TaskDraft, ApiError> {
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
    };
    // Where a value could not be read the draft holds a stand-in; it goes no further.
    problems.check()?;
    Ok(draft)
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
