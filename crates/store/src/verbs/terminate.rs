//! Tell a dispatch to end: the one path, the first reason wins.

use extraboard_core::dispatch::{Dispatch, ENDING_LEASE, Phase};
use extraboard_core::event::EventType;
use extraboard_core::id::DispatchId;
use extraboard_core::reason::Reason;
use extraboard_core::state::Verb as TaskVerb;
use serde_json::json;

use super::{Ctx, task_delete, task_move};
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::{dispatch, task};
use crate::tx::{Tx, Verb};

/// Tells a dispatch to end. Its task moves when it settles, by its holder's
/// last report or when its lease, now at most a minute, is over.
#[derive(Clone, Debug)]
pub struct DispatchTerminate {
    /// Who wants it, and when.
    pub ctx: Ctx,
    /// Which dispatch.
    pub dispatch: DispatchId,
    /// Why.
    pub reason: Reason,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminated {
    /// It ends, for this reason.
    Ending,
    /// It was already ending, for the reason given first.
    Already(Reason),
    /// It was over.
    Closed,
}

impl Verb for DispatchTerminate {
    type Output = Terminated;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Terminated, Error> {
        let task = dispatch::task_of(tx, self.dispatch).await?;
        let task = task::lock_even_deleted(tx, task).await?;
        let dispatch = dispatch::lock(tx, self.dispatch).await?;
        match dispatch.phase {
            Phase::Open => {
                match self.reason {
                    // These move the task at once, and that ends the dispatch.
                    Reason::UserCanceled => {
                        task_move::apply(tx, &self.ctx, task, TaskVerb::Cancel).await?;
                    }
                    Reason::TaskDeleted => task_delete::apply(tx, &self.ctx, task).await?,
                    reason => end(tx, &self.ctx, dispatch, reason).await?,
                }
                Ok(Terminated::Ending)
            }
            Phase::Ending(first) => Ok(Terminated::Already(first)),
            Phase::Closed { .. } => Ok(Terminated::Closed),
        }
    }
}

/// Makes a locked dispatch ending unless it is already; its task's row is locked too.
pub(crate) async fn end<T: Tx>(tx: &mut T, ctx: &Ctx, before: Dispatch, reason: Reason) -> Result<(), Error> {
    if before.phase != Phase::Open {
        return Ok(());
    }
    let after = Dispatch {
        phase: Phase::Ending(reason),
        lease_until: before.lease_until.min(ctx.now.plus(ENDING_LEASE)),
        ..before.clone()
    };
    dispatch::update(tx, &before, &after).await?;
    let event = NewEvent::new(EventType::DispatchEnding, ctx, before.task)
        .dispatch(before.id)
        .data(json!({ "reason": reason.as_str() }));
    event::insert_all(tx, vec![event]).await
}
