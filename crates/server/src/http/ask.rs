//! `POST /api/dispatches/:id/ask`: the work cannot go on without a person.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Ask, ReportReply};
use extraboard_core::comment::COMMENT_CHARS_MAX;
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
    Body(body): Body<Ask>,
) -> Result<Json<ReportReply>, ApiError> {
    let mut problems = Problems::default();
    let usage = usage(&mut problems, body.progress.as_ref(), body.cost_usd, body.tokens.as_ref());
    let question = body.question.as_deref().unwrap_or_default();
    problems.text("question", question, COMMENT_CHARS_MAX);
    if question.trim().is_empty() {
        problems.add("question", "expected some text");
    }
    problems.check()?;
    report(&app, caller, dispatch, Report::Ask { question: body.question }, usage).await
}
