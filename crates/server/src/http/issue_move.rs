//! `POST /api/issues/:id/{admit,park,cancel,retry,reopen}`: one verb of the state machine.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use extraboard_api::envelope::One;
use extraboard_api::issue::Issue;
use extraboard_core::patch;
use extraboard_core::state::Verb;
use extraboard_store::verbs::TaskMove;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Path(path): Path<HashMap<String, String>>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<One<Issue>>, ApiError> {
    let word = path.get("verb").map(String::as_str).unwrap_or_default();
    let verb = word.parse::<Verb>().ok().filter(|verb| patch::has_route(*verb));
    let verb = verb.ok_or_else(|| ApiError::NotFound(format!("there is no route /api/issues/:id/{word}")))?;
    let moved = app.desk.write(TaskMove { ctx: app.desk.ctx(caller), task, verb }).await?;
    app.wrote(&moved.task);
    Ok(Json(One { data: convert::issue(moved.task, moved.dispatch.as_ref()) }))
}
