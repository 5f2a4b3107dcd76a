//! Rank: the order of the line, fixed when a task enters it.
//!
//! Age raises every waiting task at the same rate, so their order does not
//! change with time. A point is worth a day of waiting: a task with 50 points
//! stands in line as if it had arrived 50 days earlier. That moment, the
//! virtual arrival, is sorted once, on write.

use crate::clock::{Span, Timestamp};
use crate::doors::{Door, Doors};
use crate::id::TaskNumber;
use crate::kind::Kind;
use crate::priority::Priority;

/// What one point of score is worth in waiting time.
pub const POINT: Span = Span::from_days(1);

/// A task's place in line; the smaller one is handed out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// When the task would have arrived if it had no points.
    pub arrival: Timestamp,
    /// When it was queued: the first tie-breaker.
    pub queued_at: Timestamp,
    /// Its number: the last one.
    pub number: TaskNumber,
}

impl Rank {
    /// Ranks a task of that priority, queued at that moment.
    pub fn new(priority: Priority, queued_at: Timestamp, number: TaskNumber) -> Self {
        let head_start = Span::from_micros(POINT.as_micros() * priority.points());
        Self { arrival: queued_at.minus(head_start), queued_at, number }
    }
}

/// The parts of a score, in whole points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Points for priority.
    pub priority: i64,
    /// Points for the time spent waiting.
    pub age: i64,
}

impl Score {
    /// Scores a task of that priority, queued at that moment.
    ///
    /// Points shown are whole while the line is exact, so this order never
    /// contradicts the line's, it only has more ties.
    pub fn new(priority: Priority, queued_at: Timestamp, now: Timestamp) -> Self {
        let age = now.since(queued_at).as_micros().div_euclid(POINT.as_micros()).max(0);
        Self { priority: priority.points(), age }
    }

    /// Returns the sum of the parts.
    pub const fn total(self) -> i64 {
        self.priority + self.age
    }
}

/// What tasks of one lane have in common: gates look at nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The sort of work.
    pub kind: Kind,
    /// The doors they may leave by.
    pub doors: Doors,
}

impl Lane {
    /// Tells whether a claimer at that door may take from this lane.
    pub const fn is_open(&self, door: Door) -> bool {
        self.doors.contains(door)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn priority(points: i64) -> Priority {
        Priority::new(points).unwrap()
    }

    #[test]
    fn a_point_is_worth_a_day() {
        let now = Timestamp::from_micros(0).plus(Span::from_days(400));
        let urgent = Rank::new(priority(100), now, TaskNumber(2));
        let patient = Rank::new(priority(10), now.minus(Span::from_days(91)), TaskNumber(1));
        let younger = Rank::new(priority(10), now.minus(Span::from_days(89)), TaskNumber(3));
        assert!(patient < urgent);
        assert!(urgent < younger);
    }

    #[test]
    fn ties_go_to_the_earlier_then_to_the_smaller_number() {
        let day = Timestamp::from_micros(0).plus(Span::from_days(100));
        let rank = |points, days, number| {
            Rank::new(priority(points), day.plus(Span::from_days(days)), TaskNumber(number))
        };
        assert!(rank(50, 0, 9) < rank(51, 1, 1));
        assert!(rank(50, 0, 1) < rank(50, 0, 2));
    }

    #[test]
    fn a_task_queued_in_the_future_has_no_age() {
        let now = Timestamp::from_micros(0);
        assert_eq!(Score::new(priority(50), now.plus(POINT), now).total(), 50);
    }

    proptest! {
        #[test]
        fn the_line_refines_the_shown_score_at_any_time(
            a in (1i64..=100, 0i64..1_000_000_000_000),
            b in (1i64..=100, 0i64..1_000_000_000_000),
            later in 0i64..10_000_000_000_000,
        ) {
            let now = Timestamp::from_micros(1_000_000_000_000 + later);
            let place = |(points, queued_at): (i64, i64), number| {
                let queued_at = Timestamp::from_micros(queued_at);
                let rank = Rank::new(priority(points), queued_at, TaskNumber(number));
                (rank, Score::new(priority(points), queued_at, now).total())
            };
            let (rank_a, score_a) = place(a, 1);
            let (rank_b, score_b) = place(b, 2);
            if score_a > score_b {
                prop_assert!(rank_a < rank_b);
            }
        }
    }
}
