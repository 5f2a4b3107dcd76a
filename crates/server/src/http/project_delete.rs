//! `DELETE /api/projects/:id`: delete a project, softly.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use extraboard_store::verbs::ProjectDelete;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{By, Nothing, Params, ProjectPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    ProjectPath(project): ProjectPath,
) -> Result<StatusCode, ApiError> {
    app.desk.write(ProjectDelete { ctx: app.desk.ctx(caller), project }).await?;
    app.desk.nudge();
    Ok(StatusCode::NO_CONTENT)
}
