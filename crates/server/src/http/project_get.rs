//! `GET /api/projects/:id`: one project, with its issues counted.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::project::Project;
use extraboard_store::verbs::ProjectGet;

use crate::app::App;
use crate::convert::project::{issue_counts, project};
use crate::error::ApiError;
use crate::extract::{Nothing, Params, ProjectPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    ProjectPath(named): ProjectPath,
) -> Result<Json<One<Project>>, ApiError> {
    let view = app.desk.read(ProjectGet { project: named }).await?;
    let issue_counts = Some(issue_counts(&view.states));
    Ok(Json(One { data: Project { issue_counts, ..project(view) } }))
}
