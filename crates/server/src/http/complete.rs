//! `POST /api/dispatches/:id/complete`: the work is done.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Complete, ReportReply};
use extraboard_core::report::{Completion, Report};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, By, DispatchPath, Nothing, Params};
use crate::reply::{report, usage};
use crate::validate::{Problems, REPORT_CHARS_MAX, RESULT_BYTES_MAX};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    DispatchPath(dispatch): DispatchPath,
    Body(body): Body<Complete>,
) -> Result<Json<ReportReply>, ApiError> {
    let mut problems = Problems::default();
    let usage = usage(&mut problems, body.progress.as_ref(), body.cost_usd, body.tokens.as_ref());
    let result = body.result.as_ref().map(|result| problems.json("result", result, RESULT_BYTES_MAX));
    if let Some(summary) = &body.agent_summary {
        problems.text("agentSummary", summary, REPORT_CHARS_MAX);
    }
    let commits = body.commits.as_ref().map(|list| problems.commits(list));
    let pull_requests = body.pull_requests.as_ref().map(|list| problems.pull_requests(list));
    problems.check()?;
    let completion = Completion { result, summary: body.agent_summary, commits, pull_requests };
    report(&app, caller, dispatch, Report::Complete(completion), usage).await
}
