//! `POST /api/dispatches/:id/release`: the work is given back.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Release, ReportReply};
use extraboard_core::report::Report;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, By, DispatchPath, Nothing, Params};
use crate::reply::{report, usage};
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    DispatchPath(dispatch): DispatchPath,
    Body(body): Body<Release>,
) -> Result<Json<ReportReply>, ApiError> {
    let mut problems = Problems::default();
    let usage = usage(&mut problems, body.progress.as_ref(), body.cost_usd, body.tokens.as_ref());
    problems.check()?;
    report(&app, caller, dispatch, Report::Release, usage).await
}
