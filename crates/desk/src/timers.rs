//! What happens by itself with time: timers come due, leases end, keys are forgotten.

use std::time::Duration;

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Span, Timestamp};
use extraboard_store::error::Error;
use extraboard_store::verbs::{Advance, DueNext, EventsPrune, IdempotencyPrune, LeaseSweep, is_full_turn};
use tokio::sync::watch as flag;
use tokio::time::timeout;

use crate::desk::Desk;
use crate::watch::Watch;

/// Looks by itself this often, whatever is due: other servers write too.
const NET: Span = Span::from_secs(1);
/// How often the clock is compared, and old keys and events are forgotten.
const HOUSEKEEPING: Span = Span::from_mins(1);
/// The shortest pause between two rounds.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Keeps an eye on time.
#[derive(Debug)]
pub(crate) struct Timers {
    watch: Watch,
    housekept: Timestamp,
}

impl Timers {
    pub(crate) const fn new(now: Timestamp) -> Self {
        Self { watch: Watch::start(now), housekept: now }
    }

    /// Does what is due until told to stop.
    pub(crate) async fn run(mut self, desk: Desk, mut stopped: flag::Receiver<bool>) {
        loop {
            let pause = match self.round(&desk).await {
                Ok(next) => next.since(desk.now()).min(NET).to_std(),
                Err(error) => {
                    tracing::warn!("timers and leases wait: {}", error.with_cause());
                    NET.to_std()
                }
            };
            if timeout(pause.max(PAUSE_MIN), stopped.changed()).await.is_ok() {
                return;
            }
        }
    }

    /// Does what is due now; returns when something is due next.
    pub(crate) async fn round(&mut self, desk: &Desk) -> Result<Timestamp, Error> {
        let due = desk.read(DueNext).await?;
        let now = desk.now();
        self.watch.heard(now);
        // Leases do not wait for timers that cannot be advanced.
        let advanced = if is_due(due.timer, now) { self.advance_all(desk).await } else { Ok(()) };
        if is_due(due.lease, now) {
            self.sweep_all(desk).await?;
        }
        advanced?;
        if now.since(self.housekept) >= HOUSEKEEPING {
            while is_full_turn(desk.write(IdempotencyPrune { now }).await?) {}
            let before = now.minus(desk.shared.settings.events_kept);
            while is_full_turn(desk.write(EventsPrune { before }).await?) {}
            desk.shared.clock.synchronise(&desk.shared.store).await?;
            self.housekept = now;
        }
        // What is past and still there is a lease in its grace: it must not keep
        // the loop busy.
        let next = [due.timer, due.lease].into_iter().flatten().filter(|next| *next > now).min();
        Ok(next.unwrap_or_else(|| now.plus(NET)))
    }

    async fn advance_all(&mut self, desk: &Desk) -> Result<(), Error> {
        while is_full_turn(desk.write(Advance { ctx: desk.ctx(Caller::Desk) }).await?) {
            self.watch.heard(desk.now());
        }
        Ok(())
    }

    /// Ends leases that are over. Time is taken before each turn and counted after
    /// it: a machine that sleeps meanwhile is no silence of the holders.
    async fn sweep_all(&mut self, desk: &Desk) -> Result<(), Error> {
        loop {
            let ctx = desk.ctx(Caller::Desk);
            let watching_since = self.watch.heard(ctx.now);
            let lapsed = desk.write(LeaseSweep { ctx, watching_since, draw: desk.draw() }).await?;
            self.watch.heard(desk.now());
            if lapsed > 0 {
                metrics::counter!("extraboard_leases_lapsed_total").increment(lapsed as u64);
                tracing::info!(lapsed, "{lapsed} dispatches were not heard of and ended");
            }
            if !is_full_turn(lapsed) {
                return Ok(());
            }
        }
    }
}

fn is_due(moment: Option<Timestamp>, now: Timestamp) -> bool {
    moment.is_some_and(|moment| moment <= now)
}
