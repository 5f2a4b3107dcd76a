//! Renew a lease, book what was spent, learn whether to go on.

use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::id::DispatchId;

use super::Ctx;
use super::report::{Reported, Verdict, authorize};
use crate::error::Error;
use crate::rows::{dispatch, task};
use crate::tx::{Tx, Verb};

/// What a holder says it did since its last word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How far it is, as JSON; replaces what was said before.
    pub progress: Option<String>,
    /// What it spent, in millionths of a dollar; added up.
    pub cost_micros: Option<i64>,
    /// Tokens the model read; added up.
    pub tokens_in: Option<i64>,
    /// Tokens the model wrote; added up.
    pub tokens_out: Option<i64>,
}

impl Usage {
    /// Books what was spent, whatever became of the dispatch.
    pub(crate) fn book(&self, dispatch: &mut Dispatch) {
        if self.progress.is_some() {
            dispatch.progress.clone_from(&self.progress);
        }
        dispatch.cost_micros = sum(dispatch.cost_micros, self.cost_micros);
        dispatch.tokens_in = sum(dispatch.tokens_in, self.tokens_in);
        dispatch.tokens_out = sum(dispatch.tokens_out, self.tokens_out);
    }
}

/// Adds what is known; two unknowns stay unknown.
fn sum(before: Option<i64>, more: Option<i64>) -> Option<i64> {
    match (before, more) {
        (None, None) => None,
        (before, more) => Some(before.unwrap_or(0).saturating_add(more.unwrap_or(0))),
    }
}

/// Renews the lease of a dispatch.
#[derive(Clone, Debug)]
pub struct DispatchHeartbeat {
    /// Who is heard of, and when.
    pub ctx: Ctx,
    /// For which dispatch.
    pub dispatch: DispatchId,
    /// What was done since.
    pub usage: Usage,
}

impl Verb for DispatchHeartbeat {
    type Output = Reported;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Reported, Error> {
        // Only the dispatch is locked: heartbeats do not stand in the way of
        // whatever happens to the task, and take no second lock to deadlock on.
        let before = dispatch::lock(tx, self.dispatch).await?;
        authorize(&self.ctx, &before)?;
        let mut after = before.clone();
        self.usage.book(&mut after);
        let verdict = match before.phase {
            Phase::Open => {
                after.heartbeat_at = self.ctx.now;
                after.lease_until = self.ctx.now.plus(before.lease);
                Verdict::Accepted
            }
            Phase::Ending(_) => {
                after.heartbeat_at = self.ctx.now;
                Verdict::Accepted
            }
            Phase::Closed { .. } => Verdict::Stale,
        };
        if before != after {
            dispatch::update(tx, &before, &after).await?;
        }
        let task = task::get_even_deleted(tx, before.task).await?;
        Ok(Reported { task, dispatch: after, verdict })
    }
}
