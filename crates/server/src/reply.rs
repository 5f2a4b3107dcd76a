//! The answer every dispatch call gives.

use axum::Json;
use extraboard_api::dispatch::{ReportReply, Tokens};
use extraboard_core::caller::Caller;
use extraboard_core::dispatch::Phase;
use extraboard_core::id::DispatchId;
use extraboard_core::report::Report;
use extraboard_store::verbs::{DispatchReport, Reported, Usage, Verdict};
use serde_json::Value;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::validate::{PROGRESS_BYTES_MAX, Problems};

/// The most dollars one report may book.
const COST_USD_MAX: f64 = 1_000_000.0;
/// The most tokens one report may book.
const TOKENS_MAX: i64 = 1_000_000_000_000;

/// Answers a report: what to do next, or that it came too late.
pub(crate) fn reply(app: &App, reported: Reported) -> Result<Json<ReportReply>, ApiError> {
    let Reported { task, dispatch, verdict } = reported;
    if verdict == Verdict::Stale {
        return Err(ApiError::Stale(Box::new((task, dispatch))));
    }
    let (order, reason) = convert::order(&dispatch);
    let lease_seconds = match dispatch.phase {
        Phase::Open => Some(dispatch.lease.as_secs()),
        Phase::Ending(_) => Some(dispatch.lease_until.since(app.desk.now()).as_secs().max(0)),
        Phase::Closed { .. } => None,
    };
    Ok(Json(ReportReply {
        order: order.to_owned(),
        reason: reason.map(|reason| reason.as_str().to_owned()),
        lease_seconds,
        issue: convert::issue(task, Some(&dispatch)),
    }))
}

/// Ends a dispatch with a report.
pub(crate) async fn report(
    app: &App,
    caller: Caller,
    dispatch: DispatchId,
    report: Report,
    usage: Usage,
) -> Result<Json<ReportReply>, ApiError> {
    let outcome = report.outcome().as_str();
    let said = DispatchReport { ctx: app.desk.ctx(caller), dispatch, report, usage, draw: app.desk.draw() };
    let reported = app.desk.write(said).await?;
    metrics::counter!("extraboard_reports_total", "outcome" => outcome).increment(1);
    reply(app, reported)
}

/// Reads what a report says was spent.
pub(crate) fn usage(
    problems: &mut Problems,
    progress: Option<&Value>,
    cost_usd: Option<f64>,
    tokens: Option<&Tokens>,
) -> Usage {
    if let Some(tokens) = tokens {
        problems.range("tokens.input", tokens.input, 0..=TOKENS_MAX);
        problems.range("tokens.output", tokens.output, 0..=TOKENS_MAX);
    }
    Usage {
        progress: progress.map(|progress| problems.json("progress", progress, PROGRESS_BYTES_MAX)),
        cost_micros: cost_usd.and_then(|cost| cost_micros(problems, cost)),
        tokens_in: tokens.map(|tokens| tokens.input),
        tokens_out: tokens.map(|tokens| tokens.output),
    }
}

fn cost_micros(problems: &mut Problems, cost_usd: f64) -> Option<i64> {
    if !(0.0..=COST_USD_MAX).contains(&cost_usd) {
        problems.add("costUsd", format!("expected 0 to {COST_USD_MAX}, got {cost_usd}"));
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked: it fits")]
    let micros = (cost_usd * 1e6).round() as i64;
    Some(micros)
}
