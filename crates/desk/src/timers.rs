//! What happens by itself with time: timers come due, leases end, keys are forgotten.

use std::time::Duration;

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Span, Timestamp};
use extraboard_store::error::Error;
use extraboard_store::verbs::{Advance, DueNext, IdempotencyPrune, LeaseSweep, TURN_MAX};
use tokio::sync::watch as flag;
use tokio::time::timeout;

use crate::desk::Desk;
use crate::watch::Watch;

/// Looks by itself this often, whatever is due: other servers write too.
const NET: Span = Span::from_secs(1);
/// How often the clock is compared and old keys are forgotten.
const HOUSEKEEPING: Span = Span::from_mins(1);
/// The shortest pause between two rounds.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Does what is due until told to stop.
pub(crate) async fn run(desk: Desk, mut stopped: flag::Receiver<bool>) {
    let mut watch = Watch::start(desk.now());
    let mut housekept = desk.now();
    loop {
        let pause = match round(&desk, &mut watch, &mut housekept).await {
            Ok(next) => next.since(desk.now()).min(NET).to_std(),
            Err(error) => {
                tracing::warn!(error = %error, "timers and leases wait: {error}");
                NET.to_std()
            }
        };
        if timeout(pause.max(PAUSE_MIN), stopped.changed()).await.is_ok() {
            return;
        }
    }
}

/// Does what is due now; returns when something is due next.
async fn round(desk: &Desk, watch: &mut Watch, housekept: &mut Timestamp) -> Result<Timestamp, Error> {
    let now = desk.now();
    let since = watch.since(now);
    advance_all(desk).await?;
    sweep_all(desk, since).await?;
    watch.swept(now);
    if now.since(*housekept) >= HOUSEKEEPING {
        desk.write(IdempotencyPrune { now }).await?;
        desk.shared.clock.synchronise(&desk.shared.store).await?;
        *housekept = now;
    }
    let due = desk.read(DueNext).await?;
    let next = [due.timer, due.lease].into_iter().flatten().min();
    // A lease that is over but still in its grace must not keep the loop busy.
    Ok(next.filter(|next| *next > now).unwrap_or_else(|| now.plus(NET)))
}

async fn advance_all(desk: &Desk) -> Result<(), Error> {
    let due = desk.read(DueNext).await?;
    if due.timer.is_none_or(|timer| timer > desk.now()) {
        return Ok(());
    }
    while is_full(desk.write(Advance { ctx: desk.ctx(Caller::Desk) }).await?) {}
    Ok(())
}

async fn sweep_all(desk: &Desk, watching_since: Timestamp) -> Result<(), Error> {
    let due = desk.read(DueNext).await?;
    if due.lease.is_none_or(|lease| lease > desk.now()) {
        return Ok(());
    }
    loop {
        let sweep = LeaseSweep { ctx: desk.ctx(Caller::Desk), watching_since, draw: desk.draw() };
        let lapsed = desk.write(sweep).await?;
        if lapsed > 0 {
            metrics::counter!("extraboard_leases_lapsed_total").increment(lapsed as u64);
            tracing::info!(lapsed, "{lapsed} dispatches were not heard of and ended");
        }
        if !is_full(lapsed) {
            return Ok(());
        }
    }
}

/// Tells whether a turn was used up, so that there may be more to do.
fn is_full(done: usize) -> bool {
    i64::try_from(done) == Ok(TURN_MAX)
}
