//! Real time, and ids that differ.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use extraboard_core::clock::{Clock, Entropy, Timestamp};

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Lets time pass, as clients that poll and people who add tasks do.
#[expect(clippy::disallowed_methods, reason = "there is nothing to wait for but time")]
pub(crate) async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

#[derive(Debug)]
pub(crate) struct RealClock;

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "a benchmark runs in real time")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Bytes that never repeat within a run.
#[derive(Debug)]
pub(crate) struct Counting(AtomicU64);

impl Counting {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(u64::from(std::process::id()) << 32))
    }
}

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        for (byte, next) in bytes.iter_mut().zip(count.iter().cycle()) {
            *byte = *next;
        }
    }
}
