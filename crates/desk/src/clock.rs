//! The desk's clock: this machine's, set to the database's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use extraboard_core::clock::{Clock, Span, Timestamp};
use extraboard_store::Store;
use extraboard_store::error::Error;

/// The longest answer that still tells the time.
const ROUND_TRIP_MAX: Span = Span::from_micros(250_000);

/// A clock that replicas of one database share.
pub(crate) struct DeskClock {
    local: Arc<dyn Clock>,
    offset_micros: AtomicI64,
}

impl std::fmt::Debug for DeskClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeskClock").field("offset_micros", &self.offset_micros).finish_non_exhaustive()
    }
}

impl DeskClock {
    pub(crate) fn new(local: Arc<dyn Clock>) -> Self {
        Self { local, offset_micros: AtomicI64::new(0) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.local.now().plus(Span::from_micros(self.offset_micros.load(Ordering::Relaxed)))
    }

    /// Measures how far this machine's clock is from the database's.
    pub(crate) async fn synchronise(&self, store: &Store) -> Result<(), Error> {
        let before = self.local.now();
        let Some(database) = store.now().await? else { return Ok(()) };
        let round_trip = self.local.now().since(before);
        if round_trip > ROUND_TRIP_MAX {
            // A sample that had to wait says more about the waiting.
            return Ok(());
        }
        let middle = before.plus(Span::from_micros(round_trip.as_micros() / 2));
        self.offset_micros.store(database.since(middle).as_micros(), Ordering::Relaxed);
        Ok(())
    }
}
