//! Settle a dispatch: close it and route its task by the reason table.
//!
//! Three ways lead here: its holder's report, the end of its lease, and the
//! late report of a dispatch whose lease lapsed. Settlement moves a task only
//! while it is in somebody's hands, so that what was canceled, closed or
//! reopened meanwhile stays as it is.

use extraboard_core::clock::Span;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::event::EventType;
use extraboard_core::reason::{Draw, Notice, Reason, Settlement, route};
use extraboard_core::report::{Report, Retryable};
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::Task;
use serde_json::json;

use super::change::change;
use super::{Ctx, account, comment};
use crate::error::Error;
use crate::rows::dispatch;
use crate::rows::event::NewEvent;
use crate::tx::Tx;

/// A dispatch about to be settled; task and dispatch are locked.
pub(crate) struct Settling<'a> {
    pub(crate) ctx: &'a Ctx,
    pub(crate) task: Task,
    pub(crate) dispatch: Dispatch,
    /// What the holder said; nothing if it was not heard of.
    pub(crate) report: Option<&'a Report>,
    pub(crate) draw: Draw,
}

/// A task and its dispatch, afterwards.
pub(crate) type Settled = (Task, Dispatch);

/// Closes a dispatch that is open or ending.
pub(crate) async fn close<T: Tx>(tx: &mut T, settling: Settling<'_>) -> Result<Settled, Error> {
    let reason = match (settling.dispatch.phase, settling.report) {
        (Phase::Ending(first), _) => Some(first),
        (Phase::Open, Some(report)) => report.reason(),
        (Phase::Open, None) => Some(Reason::LeaseExpired),
        (Phase::Closed { .. }, _) => return Err(Error::Broken("a dispatch was closed twice".to_owned())),
    };
    let mut closed = recorded(&settling);
    closed.phase = Phase::Closed { reason, at: settling.ctx.now };
    let moves = settling.task.state.is_active();
    finish(tx, settling, closed, reason, moves).await
}

/// Applies the report of the newest dispatch after its lease lapsed: the task
/// is queued again and nobody has claimed it since.
pub(crate) async fn late<T: Tx>(tx: &mut T, settling: Settling<'_>) -> Result<Settled, Error> {
    let reason = settling.report.and_then(Report::reason);
    let closed = recorded(&settling);
    finish(tx, settling, closed, reason, true).await
}

/// Returns the dispatch with what its holder said.
fn recorded(settling: &Settling<'_>) -> Dispatch {
    let mut dispatch = settling.dispatch.clone();
    dispatch.outcome = settling.report.map(Report::outcome);
    match settling.report {
        Some(Report::Complete(completion)) => {
            dispatch.result.clone_from(&completion.result);
            dispatch.summary.clone_from(&completion.summary);
        }
        Some(Report::Fail { error, .. }) if dispatch.error.is_none() => dispatch.error.clone_from(error),
        Some(Report::Ask { question }) if dispatch.error.is_none() => dispatch.error.clone_from(question),
        _ => {}
    }
    dispatch
}

async fn finish<T: Tx>(
    tx: &mut T,
    settling: Settling<'_>,
    closed: Dispatch,
    reason: Option<Reason>,
    moves: bool,
) -> Result<Settled, Error> {
    let Settling { ctx, task: before, dispatch, report, draw } = settling;
    let mut after = before.clone();
    after.dispatch = after.dispatch.filter(|id| *id != dispatch.id);
    let mut notice = None;
    if moves {
        notice = match reason {
            Some(reason) => route_task(&mut after, reason, &word(&dispatch, report), ctx, draw)?,
            None => complete(&mut after, report, ctx)?,
        };
    }
    if let (Some(Reason::Asked), Some(Report::Ask { question })) = (reason, report)
        && moves
    {
        after.question.clone_from(question);
        after.answer = None;
        comment::asked(tx, ctx, &before, question.as_deref()).await?;
    }
    account::heard(tx, ctx, &dispatch, report).await?;
    dispatch::update(tx, &dispatch, &closed).await?;
    let mut events =
        vec![NewEvent::new(EventType::DispatchClosed, ctx, before.number).dispatch(dispatch.id).data(
            json!({
                "reason": closed.phase.reason().map(Reason::as_str),
                "outcome": closed.outcome.map(extraboard_core::report::Outcome::as_str),
                "from": before.state.as_str(),
                "to": after.state.as_str(),
                "late": matches!(dispatch.phase, Phase::Closed { .. }),
            }),
        )];
    events.extend(notice.map(|notice| {
        NewEvent::new(notice_type(notice), ctx, before.number).dispatch(dispatch.id).data(json!({
            "reason": reason.map(Reason::as_str),
            "state": after.state.as_str(),
            "error": after.last_error,
        }))
    }));
    let after = change(tx, ctx, &before, after, events).await?;
    Ok((after, closed))
}

fn complete(task: &mut Task, report: Option<&Report>, ctx: &Ctx) -> Result<Option<Notice>, Error> {
    task.apply(TaskVerb::Complete, ctx.now)?;
    if let Some(Report::Complete(completion)) = report {
        task.result.clone_from(&completion.result);
        for (kept, said) in [
            (&mut task.agent_summary, &completion.summary),
            (&mut task.commits, &completion.commits),
            (&mut task.pull_requests, &completion.pull_requests),
        ] {
            if said.is_some() {
                kept.clone_from(said);
            }
        }
    }
    Ok(None)
}

/// What was said about the end of a dispatch, by whoever ended it.
struct Word<'a> {
    on_account: bool,
    retryable: Retryable,
    retry_after: Option<Span>,
    error: Option<&'a str>,
}

/// Returns the word that counts: of whoever told the dispatch to end, else of its holder.
fn word<'a>(dispatch: &'a Dispatch, report: Option<&'a Report>) -> Word<'a> {
    let on_account = account::of(dispatch, report).is_some();
    let silent = Word { on_account, retryable: Retryable::Yes, retry_after: None, error: None };
    match (dispatch.phase, report) {
        (Phase::Ending(_), _) => {
            Word { retryable: dispatch.retryable, error: dispatch.error.as_deref(), ..silent }
        }
        (_, Some(Report::Fail { retryable, retry_after, error, .. })) => {
            Word { retryable: *retryable, retry_after: *retry_after, error: error.as_deref(), ..silent }
        }
        (_, Some(Report::Ask { question })) => Word { error: question.as_deref(), ..silent },
        _ => silent,
    }
}

fn route_task(
    task: &mut Task,
    reason: Reason,
    word: &Word<'_>,
    ctx: &Ctx,
    draw: Draw,
) -> Result<Option<Notice>, Error> {
    let route = route(&Settlement {
        reason,
        retryable: word.retryable,
        retry_after: word.retry_after,
        counters: task.counters,
        max_retries: task.max_retries,
        on_account: word.on_account,
        now: ctx.now,
        draw,
    });
    if let Some(verb) = route.verb {
        task.apply(verb, ctx.now)?;
    }
    task.counters = route.counters;
    // A moment somebody set stays, if it is the later one.
    task.not_before = route.not_before.max(task.not_before);
    if is_trouble(reason) {
        task.last_error = Some(word.error.unwrap_or(reason.as_str()).to_owned());
    }
    Ok(route.notice)
}

/// Tells whether a reason is worth remembering as what last went wrong.
fn is_trouble(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::CooperativePreemption
            | Reason::PreemptionTimeout
            | Reason::GracefulShutdown
            | Reason::AgentDrained
            | Reason::Released
            | Reason::UserCanceled
            | Reason::TaskDeleted
    )
}

fn notice_type(notice: Notice) -> EventType {
    match notice {
        Notice::DeadLetter => EventType::TaskDeadLettered,
        Notice::NeedsPerson => EventType::TaskNeedsPerson,
        Notice::Alert => EventType::TaskAlert,
    }
}
