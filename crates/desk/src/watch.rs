//! Since when leases have been watched without a break.

use extraboard_core::clock::{Span, Timestamp};

/// The longest time between two answers of the database that still counts as watching.
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

    /// Notes that the database just answered; returns since when watching counts.
    ///
    /// To be called after each answer, so that a round with much to do is no break
    /// and one that was stuck is.
    pub fn heard(&mut self, now: Timestamp) -> Timestamp {
        // Clocks are set a little, either way, all the time; that is no jump.
        if self.last.since(now) > BREAK_MAX || now.since(self.last) > BREAK_MAX {
            self.since = now;
        }
        self.last = now;
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_micros(0).plus(Span::from_secs(secs))
    }

    #[test]
    fn steady_answers_count_from_the_start() {
        let mut watch = Watch::start(at(0));
        for secs in 1..100 {
            assert_eq!(watch.heard(at(secs)), at(0));
        }
    }

    #[test]
    fn a_jump_forward_begins_anew() {
        let mut watch = Watch::start(at(0));
        assert_eq!(watch.heard(at(3600)), at(3600));
        assert_eq!(watch.heard(at(3605)), at(3600));
    }

    #[test]
    fn o4_a_jump_back_begins_anew() {
        let mut watch = Watch::start(at(3600));
        assert_eq!(watch.heard(at(0)), at(0));
        assert_eq!(watch.heard(at(1)), at(0));
    }

    #[test]
    fn a_clock_that_is_set_back_a_little_changes_nothing() {
        let mut watch = Watch::start(at(100));
        watch.heard(at(105));
        assert_eq!(watch.heard(at(104)), at(100));
    }

    #[test]
    fn a_database_that_did_not_answer_is_a_break() {
        let mut watch = Watch::start(at(0));
        watch.heard(at(5));
        assert_eq!(watch.heard(at(16)), at(16));
    }
}
