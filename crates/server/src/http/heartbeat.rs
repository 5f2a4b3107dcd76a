//! `POST /api/dispatches/:id/heartbeat`: still there.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Heartbeat, ReportReply};
use extraboard_store::verbs::DispatchHeartbeat;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, By, DispatchPath, Nothing, Params};
use crate::reply::{reply, usage};
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    DispatchPath(dispatch): DispatchPath,
    Body(body): Body<Heartbeat>,
) -> Result<Json<ReportReply>, ApiError> {
    let mut problems = Problems::default();
    let usage = usage(&mut problems, body.progress.as_ref(), body.cost_usd, body.tokens.as_ref());
    problems.check()?;
    let reported = app.desk.write(DispatchHeartbeat { ctx: app.desk.ctx(caller), dispatch, usage }).await?;
    reply(&app, reported)
}
