//! `POST /api/issues/:id/bump`: add to an issue's boost.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::issue::Issue;
use extraboard_api::order::IssueBump;
use extraboard_store::verbs::{TaskBump, TaskGet};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};

/// How many points a bump adds unless it says.
const BY_DEFAULT: i64 = 10;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Body(body): Body<IssueBump>,
) -> Result<Json<One<Issue>>, ApiError> {
    let by = body.by.unwrap_or(BY_DEFAULT);
    let bumped = app.desk.write(TaskBump { ctx: app.desk.ctx(caller), task, by }).await?;
    if bumped.dispatch.is_none() {
        return Ok(Json(One { data: convert::issue(bumped, None) }));
    }
    // What is being worked on may be bumped, too, and is shown with its dispatch.
    let view = app.desk.read(TaskGet { task }).await?;
    Ok(Json(One { data: convert::issue(view.task, view.dispatch.as_ref()) }))
}
