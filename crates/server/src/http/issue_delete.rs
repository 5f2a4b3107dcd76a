//! `DELETE /api/issues/:id`: delete an issue, softly.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use extraboard_store::verbs::TaskDelete;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{By, Nothing, Params, TaskPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
) -> Result<StatusCode, ApiError> {
    app.desk.write(TaskDelete { ctx: app.desk.ctx(caller), task }).await?;
    Ok(StatusCode::NO_CONTENT)
}
