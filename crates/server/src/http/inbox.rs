//! `GET /api/inbox` and what a person does with it: answer or dismiss.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One};
use extraboard_api::inbox::{Answer, InboxItem, InboxQuery};
use extraboard_api::issue::Issue;
use extraboard_core::caller::Caller;
use extraboard_core::comment::COMMENT_CHARS_MAX;
use extraboard_core::id::TaskRef;
use extraboard_store::verbs::{self, InboxDismiss, InboxList, InboxTask, TaskAnswer};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Admin, Body, InboxPath, Nothing, Params, TaskPath};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<InboxQuery>,
) -> Result<Json<Many<InboxItem>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    let kinds = query.kind.as_deref().map(|list| problems.words("kind", list)).unwrap_or_default();
    problems.check()?;
    let page = app.desk.read(InboxList { kinds, limit: page.limit, offset: page.offset }).await?;
    Ok(Json(Many { data: page.items.into_iter().map(shown).collect(), total: page.total }))
}

fn shown(item: verbs::InboxItem) -> InboxItem {
    InboxItem {
        id: item.id.0,
        kind: item.kind.as_str().to_owned(),
        issue_id: item.task_id.to_string(),
        number: item.task.0,
        title: item.title,
        text: item.text,
        created_at: convert::time(item.created_at),
    }
}

/// Answers an item by its number.
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    Admin(caller): Admin,
    InboxPath(item): InboxPath,
    Body(body): Body<Answer>,
) -> Result<Json<One<Issue>>, ApiError> {
    let task = app.desk.read(InboxTask { item }).await?;
    say(&app, caller, TaskRef::Number(task), body).await
}

/// Answers what an issue's agent asked.
pub(crate) async fn answer_issue(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    Admin(caller): Admin,
    TaskPath(task): TaskPath,
    Body(body): Body<Answer>,
) -> Result<Json<One<Issue>>, ApiError> {
    say(&app, caller, task, body).await
}

async fn say(app: &App, caller: Caller, task: TaskRef, said: Answer) -> Result<Json<One<Issue>>, ApiError> {
    let mut problems = Problems::default();
    problems.text("answer", &said.answer, COMMENT_CHARS_MAX);
    if said.answer.trim().is_empty() {
        problems.add("answer", "expected some text");
    }
    problems.check()?;
    let ctx = app.desk.ctx(caller);
    let answered = app.desk.write(TaskAnswer { ctx, task, answer: said.answer }).await?;
    app.wrote(&answered.task);
    Ok(Json(One { data: convert::issue(answered.task, answered.dispatch.as_ref()) }))
}

/// Puts an item away.
pub(crate) async fn dismiss(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    Admin(caller): Admin,
    InboxPath(item): InboxPath,
    Body(Nothing {}): Body<Nothing>,
) -> Result<StatusCode, ApiError> {
    let ctx = app.desk.ctx(caller);
    app.desk.write(InboxDismiss { ctx, item }).await?;
    Ok(StatusCode::NO_CONTENT)
}
