//! How often a caller may ask.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use extraboard_core::clock::{Span, Timestamp};

/// How many seconds' worth of requests a caller may save up.
const SAVED_SECS: i64 = 2;
/// How many callers are remembered; beyond that those who have their fill saved up are forgotten.
const CALLERS_MAX: usize = 10_000;
const MICROS: i64 = 1_000_000;

/// Measures callers out by their names.
#[derive(Debug)]
pub(crate) struct Meter {
    per_second: Option<u32>,
    callers: Mutex<HashMap<String, Account>>,
}

/// What a caller has left, in millionths of a request.
#[derive(Clone, Copy, Debug)]
struct Account {
    left: i64,
    at: Timestamp,
}

impl Meter {
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        Self { per_second, callers: Mutex::new(HashMap::new()) }
    }

    /// Counts a request; says how many seconds to wait if it is one too many.
    pub(crate) fn count(&self, caller: &str, now: Timestamp) -> Result<(), i64> {
        let Some(per_second) = self.per_second.map(i64::from) else { return Ok(()) };
        let most = per_second * SAVED_SECS * MICROS;
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS_MAX {
            let full = Span::from_secs(SAVED_SECS);
            callers.retain(|_, account| now.since(account.at) < full);
        }
        let account = callers.entry(caller.to_owned()).or_insert(Account { left: most, at: now });
        let passed = now.since(account.at).as_micros().clamp(0, SAVED_SECS * MICROS);
        account.left = (account.left + passed * per_second).min(most);
        account.at = now;
        if account.left < MICROS {
            let earned_a_second = per_second * MICROS;
            return Err((MICROS - account.left + earned_a_second - 1) / earned_a_second);
        }
        account.left -= MICROS;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_micros(millis * 1_000)
    }

    #[test]
    fn a_caller_has_two_seconds_worth_saved_up_and_earns_more_with_time() {
        let meter = Meter::new(Some(10));
        for _ in 0..20 {
            meter.count("a", at(0)).unwrap();
        }
        assert_eq!(meter.count("a", at(0)), Err(1));
        assert_eq!(meter.count("b", at(0)), Ok(()));
        assert_eq!(meter.count("a", at(99)), Err(1));
        assert_eq!(meter.count("a", at(200)), Ok(()));
        assert_eq!(meter.count("a", at(200)), Ok(()));
        assert_eq!(meter.count("a", at(200)), Err(1));
    }

    #[test]
    fn a_clock_that_is_set_back_takes_nothing_away() {
        let meter = Meter::new(Some(1));
        meter.count("a", at(10_000)).unwrap();
        assert_eq!(meter.count("a", at(0)), Ok(()));
        assert_eq!(meter.count("a", at(0)), Err(1));
    }

    #[test]
    fn without_a_limit_nobody_is_counted() {
        let meter = Meter::new(None);
        for _ in 0..1_000 {
            meter.count("a", at(0)).unwrap();
        }
        assert!(meter.callers.lock().unwrap().is_empty());
    }

    #[test]
    fn callers_that_have_gone_are_forgotten() {
        let meter = Meter::new(Some(1));
        for caller in 0..CALLERS_MAX {
            meter.count(&caller.to_string(), at(0)).unwrap();
        }
        meter.count("late", at(5_000)).unwrap();
        assert_eq!(meter.callers.lock().unwrap().len(), 1);
    }
}
