//! `GET /api/goals/:id`: one goal.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::goal::Goal;
use extraboard_store::verbs::GoalGet;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{GoalPath, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    GoalPath(goal): GoalPath,
) -> Result<Json<One<Goal>>, ApiError> {
    let goal = app.desk.read(GoalGet { goal }).await?;
    Ok(Json(One { data: convert::goal::goal(&app, goal).await? }))
}
