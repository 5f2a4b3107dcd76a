//! `/api/signals`: what the world says. Each signal is taken in with the issue that is made of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::settings::ProjectSettings;
use extraboard_api::signal::{Signal, SignalCreate, SignalCreated};
use extraboard_core::caller::Caller;
use extraboard_core::doors::Doors;
use extraboard_core::kind::Kind;
use extraboard_core::signal::{SIGNAL_CHARS_MAX, Severity};
use extraboard_core::state::State as TaskState;
use extraboard_store::verbs::{
    self, ProjectFind, ProjectRef, SignalList, SignalTaken, TaskCreate, TaskDraft,
};
use serde_json::Value;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, KeyHeader, Nothing, Params};
use crate::validate::{PAYLOAD_BYTES_MAX, Problems};

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Many<Signal>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let (signals, total) = app.desk.read(SignalList { offset: page.offset, limit: page.limit }).await?;
    Ok(Json(Many { data: signals.into_iter().map(shown).collect(), total }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    key: KeyHeader,
    Body(body): Body<SignalCreate>,
) -> Result<(StatusCode, Json<One<SignalCreated>>), ApiError> {
    let mut problems = Problems::default();
    problems.name("source", &body.source, SIGNAL_CHARS_MAX);
    problems.name("type", &body.kind, SIGNAL_CHARS_MAX);
    if let Some(id) = &body.source_id {
        problems.name("sourceId", id, SIGNAL_CHARS_MAX);
    }
    let severity = problems.word("severity", &body.severity).unwrap_or(Severity::Low);
    problems.json("payload", &body.payload, PAYLOAD_BYTES_MAX);
    let project = body.project_id.as_deref().map(|text| problems.project_ref("projectId", text));
    problems.check()?;
    let key = key.used_for(&serde_json::to_string(&body).unwrap_or_default());
    let heard = Heard {
        title: extraboard_intake::webhook::title(&body.source, &body.kind, &body.payload),
        source: body.source,
        source_id: body.source_id,
        signal_type: body.kind,
        severity,
        payload: body.payload,
        delivery: None,
    };
    let taken = heard.take(&app, caller, project, key).await?;
    Ok((StatusCode::CREATED, Json(One { data: created(taken) })))
}

/// Something that was said, checked.
pub(super) struct Heard {
    pub(super) title: String,
    pub(super) source: String,
    pub(super) source_id: Option<String>,
    pub(super) signal_type: String,
    pub(super) severity: Severity,
    pub(super) payload: Value,
    pub(super) delivery: Option<String>,
}

impl Heard {
    /// Takes it in, with an issue where its project wants such issues.
    pub(super) async fn take(
        self,
        app: &App,
        caller: Caller,
        project: Option<ProjectRef>,
        key: Option<verbs::IdempotencyKey>,
    ) -> Result<SignalTaken, ApiError> {
        let state = landing(app, project.as_ref()).await?;
        let payload = self.payload.to_string();
        let draft = TaskDraft {
            kind: Kind::Signal,
            state,
            priority: self.severity.priority(),
            doors: Doors::API_DEFAULT,
            project,
            signal_source: Some(self.source.clone()),
            signal_payload: Some(payload.clone()),
            ..TaskDraft::new(self.title)
        };
        let task = TaskCreate { ctx: app.desk.ctx(caller), id: app.desk.new_task_id(), draft, key: None };
        let create = verbs::SignalCreate {
            id: app.desk.new_signal_id(),
            source: self.source,
            source_id: self.source_id,
            signal_type: self.signal_type,
            severity: self.severity,
            payload,
            delivery: self.delivery,
            task,
            key,
        };
        Ok(app.desk.write(create).await?)
    }
}

/// Returns where signals of a project land: in triage unless its settings say otherwise.
async fn landing(app: &App, project: Option<&ProjectRef>) -> Result<TaskState, ApiError> {
    let Some(project) = project else { return Ok(TaskState::Triage) };
    let found = app.desk.read(ProjectFind { project: project.clone() }).await?;
    let settings = found.and_then(|project| project.settings);
    let settings: ProjectSettings =
        settings.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(match settings.signals.and_then(|signals| signals.status).as_deref() {
        Some("backlog") => TaskState::Backlog,
        Some("todo") => TaskState::Queued,
        _ => TaskState::Triage,
    })
}

/// Shows a signal and its issue.
pub(super) fn created(taken: SignalTaken) -> SignalCreated {
    SignalCreated { signal: shown(taken.signal), issue: convert::issue(taken.task, None) }
}

fn shown(signal: extraboard_core::signal::Signal) -> Signal {
    Signal {
        id: signal.id.to_string(),
        source: signal.source,
        source_id: signal.source_id,
        kind: signal.signal_type,
        severity: signal.severity.as_str().to_owned(),
        payload: convert::json(Some(&signal.payload)).unwrap_or_default(),
        issue_id: signal.task.to_string(),
        created_at: convert::time(signal.created_at),
    }
}
