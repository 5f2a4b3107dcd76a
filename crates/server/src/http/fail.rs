//! `POST /api/dispatches/:id/fail`: the work failed.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Fail, ReportReply};
use extraboard_core::clock::Span;
use extraboard_core::report::{FailureClass, Report, Retryable};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, By, DispatchPath, Nothing, Params};
use crate::reply::{report, usage};
use crate::validate::{PROVIDER_CHARS_MAX, Problems, REPORT_CHARS_MAX};

/// The longest wait a holder may ask for: a day.
const RETRY_AFTER_SECS_MAX: i64 = 24 * 60 * 60;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    DispatchPath(dispatch): DispatchPath,
    Body(body): Body<Fail>,
) -> Result<Json<ReportReply>, ApiError> {
    let mut problems = Problems::default();
    let usage = usage(&mut problems, body.progress.as_ref(), body.cost_usd, body.tokens.as_ref());
    let failed = read(&mut problems, body);
    problems.check()?;
    report(&app, caller, dispatch, failed, usage).await
}

fn read(problems: &mut Problems, body: Fail) -> Report {
    if let Some(error) = &body.error {
        problems.text("error", error, REPORT_CHARS_MAX);
    }
    if let Some(provider) = &body.provider {
        problems.path_name("provider", provider, PROVIDER_CHARS_MAX);
    }
    if let Some(secs) = body.retry_after {
        problems.range("retryAfter", secs, 0..=RETRY_AFTER_SECS_MAX);
    }
    let class = body
        .class
        .as_deref()
        .map_or(Some(FailureClass::ExecutionFailed), |word| problems.word("class", word));
    Report::Fail {
        class: class.unwrap_or(FailureClass::ExecutionFailed),
        retryable: if body.retryable.unwrap_or(true) { Retryable::Yes } else { Retryable::No },
        retry_after: body.retry_after.map(Span::from_secs),
        error: body.error,
        provider: body.provider,
    }
}
