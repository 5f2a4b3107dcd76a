//! `DELETE /api/goals/:id`: delete a goal, softly.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use extraboard_store::verbs::GoalDelete;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{By, GoalPath, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    GoalPath(goal): GoalPath,
) -> Result<StatusCode, ApiError> {
    app.desk.write(GoalDelete { ctx: app.desk.ctx(caller), goal }).await?;
    app.desk.nudge();
    Ok(StatusCode::NO_CONTENT)
}
