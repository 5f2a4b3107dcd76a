//! Since when leases have been watched without a break.

use extraboard_core::clock::{Span, Timestamp};

/// The longest time between two sweeps that still counts as watching.
const BREAK_MAX: Span = Span::from_secs(10);

/// Remembers when watching began.
///
/// Nobody could be heard while the server was down, asleep, or without its
/// database. After such a break, and after the clock jumped either way, every
/// holder gets a whole lease to be heard again.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    since: Timestamp,
    last: Timestamp,
}

impl Watch {
    /// Begins to watch.
    pub const fn start(now: Timestamp) -> Self {
        Self { since: now, last: now }
    }

    /// Returns since when watching counts, at the beginning of a sweep.
    pub fn since(&mut self, now: Timestamp) -> Timestamp {
        if now < self.last || now.since(self.last) > BREAK_MAX {
            self.since = now;
        }
        self.since
    }

    /// Notes a sweep that reached the database.
    pub const fn swept(&mut self, now: Timestamp) {
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_micros(0).plus(Span::from_secs(secs))
    }

    #[test]
    fn steady_sweeps_count_from_the_start() {
        let mut watch = Watch::start(at(0));
        for secs in 1..100 {
            assert_eq!(watch.since(at(secs)), at(0));
            watch.swept(at(secs));
        }
    }

    #[test]
    fn a_jump_forward_begins_anew() {
        let mut watch = Watch::start(at(0));
        assert_eq!(watch.since(at(3600)), at(3600));
    }

    #[test]
    fn o4_a_jump_back_begins_anew() {
        let mut watch = Watch::start(at(3600));
        assert_eq!(watch.since(at(0)), at(0));
        watch.swept(at(0));
        assert_eq!(watch.since(at(1)), at(0));
    }

    #[test]
    fn a_database_that_did_not_answer_is_a_break_too() {
        let mut watch = Watch::start(at(0));
        for secs in 1..=11 {
            watch.since(at(secs));
        }
        assert_eq!(watch.since(at(11)), at(11));
    }
}
