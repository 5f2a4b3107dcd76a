//! `POST /api/projects`: make a project for issues to belong to.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::One;
use extraboard_api::project::{Project, ProjectCreate, ProjectPatch};
use extraboard_store::verbs;

use super::project_patch::edit;
use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    Body(body): Body<ProjectCreate>,
) -> Result<(StatusCode, Json<One<Project>>), ApiError> {
    let name = body.name.clone();
    let edit = edit(&patch(body))?;
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_project_id());
    let view = app.desk.write(verbs::ProjectCreate { ctx, id, name, edit }).await?;
    app.desk.nudge();
    Ok((StatusCode::CREATED, Json(One { data: convert::project::project(view) })))
}

/// Says the same as an edit of a project that has nothing yet: both are checked alike.
fn patch(body: ProjectCreate) -> ProjectPatch {
    ProjectPatch {
        name: Some(body.name),
        description: body.description.map(Some),
        status: body.status,
        health: body.health,
        goal_id: body.goal_id.map(Some),
        workspace: body.workspace.map(Some),
        run_limit: body.run_limit.map(Some),
        settings: body.settings,
    }
}
