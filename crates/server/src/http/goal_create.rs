//! `POST /api/goals`: set a goal.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::One;
use extraboard_api::goal::{Goal, GoalCreate, GoalPatch};
use extraboard_store::verbs;

use super::goal_patch::edit;
use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    Body(body): Body<GoalCreate>,
) -> Result<(StatusCode, Json<One<Goal>>), ApiError> {
    let title = body.title.clone();
    let edit = edit(&patch(body))?;
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_goal_id());
    let goal = app.desk.write(verbs::GoalCreate { ctx, id, title, edit }).await?;
    app.desk.nudge();
    Ok((StatusCode::CREATED, Json(One { data: convert::goal::goal(&app, goal).await? })))
}

/// Says the same as an edit of a goal that has nothing yet: both are checked alike.
fn patch(body: GoalCreate) -> GoalPatch {
    GoalPatch {
        title: Some(body.title),
        description: body.description.map(Some),
        metric: body.metric.map(Some),
        target_value: body.target_value.map(Some),
        current_value: body.current_value.map(Some),
        unit: body.unit.map(Some),
        status: body.status,
        project_id: body.project_id.map(Some),
    }
}
