//! Sweep leases: settle dispatches whose holders were not heard of.

use extraboard_core::clock::Timestamp;
use extraboard_core::dispatch::ENDING_LEASE;
use extraboard_core::reason::Draw;

use super::settle::{self, Settling};
use super::{Ctx, TURN_MAX};
use crate::error::Error;
use crate::rows::dispatch::{self, dispatch_columns};
use crate::rows::task;
use crate::tx::{Tx, Verb};
use crate::value::params;

/// Settles up to a turn of dispatches whose lease is over.
#[derive(Clone, Debug)]
pub struct LeaseSweep {
    /// The desk, and when.
    pub ctx: Ctx,
    /// Since when this sweeper has been watching without a break. No lease ends
    /// earlier than one lease length after that: holders could not be heard before.
    /// What was told to end has at most a minute left, and gets that.
    pub watching_since: Timestamp,
    /// For the jitter of back-offs.
    pub draw: Draw,
}

/// Locks tasks and dispatches together and waits for neither, so that it cannot
/// deadlock with writers that lock the task first; what is locked is being
/// reported on and comes up again next time.
const LAPSED: &str = concat!(
    "SELECT ",
    dispatch_columns!(),
    " FROM dispatch d JOIN task t ON t.number = d.task \
     WHERE d.closed_at IS NULL AND d.lease_until <= $1 \
       AND (d.lease_micros <= $2 OR (d.phase = 'ending' AND $4 <= $2)) \
     ORDER BY d.lease_until \
     LIMIT $3 \
     FOR UPDATE OF t, d SKIP LOCKED"
);

impl Verb for LeaseSweep {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        let now = self.ctx.now;
        let watched = now.since(self.watching_since);
        let params = params![now.as_micros(), watched.as_micros(), TURN_MAX, ENDING_LEASE.as_micros()];
        let rows = tx.query(LAPSED.into(), params).await?;
        let lapsed = rows.len();
        for mut row in rows {
            let dispatch = dispatch::from_row(&mut row)?;
            let task = task::lock_even_deleted(tx, dispatch.task).await?;
            let settling = Settling { ctx: &self.ctx, task, dispatch, report: None, draw: self.draw };
            settle::close(tx, settling).await?;
        }
        Ok(lapsed)
    }
}
