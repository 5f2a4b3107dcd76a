//! Report the end of a dispatch: complete, fail, release, ask.

use extraboard_core::caller::Caller;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::event::EventType;
use extraboard_core::id::DispatchId;
use extraboard_core::reason::{Draw, Reason};
use extraboard_core::report::{Outcome, Report};
use extraboard_core::state::State;
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::heartbeat::Usage;
use super::settle::{self, Settling};
use super::terminate::end;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::{dispatch, task};
use crate::tx::{Tx, Verb};

/// Ends a dispatch with what its holder has to say.
#[derive(Clone, Debug)]
pub struct DispatchReport {
    /// Who reports, and when.
    pub ctx: Ctx,
    /// On which dispatch.
    pub dispatch: DispatchId,
    /// What.
    pub report: Report,
    /// What was done since the last word.
    pub usage: Usage,
    /// For the jitter of a back-off.
    pub draw: Draw,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Accepted,
    /// It repeats the report that closed the dispatch, and changes nothing.
    Repeated,
    /// The dispatch was superseded or closed otherwise: only what it cost is booked.
    Stale,
}

/// A report's answer.
#[derive(Clone, Debug)]
pub struct Reported {
    /// The task, afterwards.
    pub task: Task,
    /// The dispatch, afterwards.
    pub dispatch: Dispatch,
    /// What became of the report.
    pub verdict: Verdict,
}

impl Verb for DispatchReport {
    type Output = Reported;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Reported, Error> {
        let number = dispatch::task_of(tx, self.dispatch).await?;
        let task = task::lock_even_deleted(tx, number).await?;
        let dispatch = dispatch::lock(tx, self.dispatch).await?;
        if let Some(reason) = self.persons_reason(&dispatch) {
            end(tx, &self.ctx, self.persons_word(dispatch), reason).await?;
            let dispatch = dispatch::get(tx, self.dispatch).await?;
            return Ok(Reported { task, dispatch, verdict: Verdict::Accepted });
        }
        authorize(&self.ctx, &dispatch)?;
        apply(tx, self, task, dispatch).await
    }
}

impl DispatchReport {
    /// Returns why a person who does not hold the dispatch ends it.
    ///
    /// Only the holder reports; a person's word is an order to end, told apart.
    fn persons_reason(&self, dispatch: &Dispatch) -> Option<Reason> {
        let Caller::Person(_) = self.ctx.caller else { return None };
        if self.ctx.caller.holds(dispatch) || matches!(dispatch.phase, Phase::Closed { .. }) {
            return None;
        }
        match &self.report {
            Report::Fail { class, .. } => Some(class.reason()),
            Report::Release => Some(Reason::Released),
            Report::Complete(_) | Report::Ask { .. } => None,
        }
    }

    /// Returns the dispatch with what the person said about its end.
    fn persons_word(&self, dispatch: Dispatch) -> Dispatch {
        match &self.report {
            Report::Fail { error, retryable, .. } if dispatch.phase == Phase::Open => {
                Dispatch { error: error.clone(), retryable: *retryable, ..dispatch }
            }
            _ => dispatch,
        }
    }
}

/// Fails unless the caller holds the dispatch.
pub(crate) fn authorize(ctx: &Ctx, dispatch: &Dispatch) -> Result<(), Error> {
    if ctx.caller.holds(dispatch) {
        return Ok(());
    }
    Err(Error::NotHolder { dispatch: dispatch.id, holder: dispatch.holder.clone() })
}

/// Applies a holder's report; task and dispatch are locked.
pub(crate) async fn apply<T: Tx>(
    tx: &mut T,
    said: &DispatchReport,
    task: Task,
    before: Dispatch,
) -> Result<Reported, Error> {
    let mut booked = before.clone();
    said.usage.book(&mut booked);
    booked.heartbeat_at = said.ctx.now;
    let verdict = judge(said, &task, &before);
    if verdict == Verdict::Repeated {
        return Ok(Reported { task, dispatch: before, verdict });
    }
    if verdict == Verdict::Stale {
        keep_evidence(&mut booked, &said.report);
        dispatch::update(tx, &before, &booked).await?;
        let event = NewEvent::new(EventType::DispatchStale, &said.ctx, task.number)
            .dispatch(before.id)
            .data(json!({ "outcome": said.report.outcome().as_str(), "state": task.state.as_str() }));
        event::insert_all(tx, vec![event]).await?;
        return Ok(Reported { task, dispatch: booked, verdict });
    }
    let late = matches!(before.phase, Phase::Closed { .. });
    let settling =
        Settling { ctx: &said.ctx, task, dispatch: booked, report: Some(&said.report), draw: said.draw };
    let (task, dispatch) =
        if late { settle::late(tx, settling).await? } else { settle::close(tx, settling).await? };
    Ok(Reported { task, dispatch, verdict })
}

/// Decides what a report is worth.
fn judge(said: &DispatchReport, task: &Task, dispatch: &Dispatch) -> Verdict {
    let Phase::Closed { reason, .. } = dispatch.phase else { return Verdict::Accepted };
    if dispatch.outcome == Some(said.report.outcome()) && asks_the_same(&said.report, dispatch) {
        return Verdict::Repeated;
    }
    let lapsed = reason == Some(Reason::LeaseExpired) && dispatch.outcome.is_none();
    // Reopen and admit begin a new count of attempts: what they let in was wanted afresh.
    let newest = task.fence == dispatch.fence && task.attempt == dispatch.attempt && task.dispatch.is_none();
    let waits = task.state == State::Queued && task.deleted_at.is_none();
    let counts = said.report.outcome() != Outcome::Released;
    if lapsed && newest && waits && counts { Verdict::Accepted } else { Verdict::Stale }
}

/// Tells whether a report asks nothing but what the dispatch was closed with.
fn asks_the_same(report: &Report, dispatch: &Dispatch) -> bool {
    match report {
        Report::Ask { question } => *question == dispatch.error,
        Report::Complete(_) | Report::Fail { .. } | Report::Release => true,
    }
}

/// Keeps the result of a superseded dispatch, unless it had one.
fn keep_evidence(dispatch: &mut Dispatch, report: &Report) {
    match report {
        Report::Complete(said) if dispatch.result.is_none() => dispatch.result.clone_from(&said.result),
        Report::Fail { error, .. } if dispatch.error.is_none() => dispatch.error.clone_from(error),
        _ => {}
    }
}
