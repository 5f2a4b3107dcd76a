//! `POST /api/projects/:id/{pause,resume}`: stop handing out a project's issues, and go on.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::project::Project;
use extraboard_core::caller::Caller;
use extraboard_core::project::ProjectStatus;
use extraboard_store::verbs::{ProjectEdit, ProjectPatch, ProjectRef};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, ProjectPath};

pub(crate) async fn pause(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    ProjectPath(project): ProjectPath,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<One<Project>>, ApiError> {
    set(&app, caller, project, ProjectStatus::Paused).await
}

pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    ProjectPath(project): ProjectPath,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<One<Project>>, ApiError> {
    set(&app, caller, project, ProjectStatus::Active).await
}

async fn set(
    app: &App,
    caller: Caller,
    project: ProjectRef,
    status: ProjectStatus,
) -> Result<Json<One<Project>>, ApiError> {
    let edit = ProjectEdit { status: Some(status), ..ProjectEdit::default() };
    let view = app.desk.write(ProjectPatch { ctx: app.desk.ctx(caller), project, edit }).await?;
    app.desk.nudge();
    Ok(Json(One { data: convert::project::project(view) }))
}
