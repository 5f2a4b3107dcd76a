//! Rank: the order of the line, fixed when a task enters it.
//!
//! Under a profile whose age grows for ever at one rate the order of all tasks
//! never changes: a point is worth a fixed span of waiting, and the line is sorted
//! once, on write, by *virtual arrival*. Where age is capped no such order exists,
//! but among tasks with equal points the older one is always ahead: each number of
//! points is a *level*, sorted by waiting, and a claim compares the heads of the
//! levels at its own time. Nothing in line ever has to be moved because time passes.

use std::cmp::Reverse;

use crate::capabilities::Capabilities;
use crate::clock::Timestamp;
use crate::doors::Doors;
use crate::id::{ProjectNumber, TaskNumber};
use crate::kind::Kind;
use crate::profile::Profile;

/// A task's place in line: its level, and its place there.
///
/// Of two ranks of one level the smaller is handed out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// The points, where age is capped; else 0.
    pub level: i64,
    /// The place in the level's order.
    pub arrival: i64,
    /// When it was queued: the first tie-breaker.
    pub queued_at: Timestamp,
    /// Its number: the last one.
    pub number: TaskNumber,
}

/// What ranks of different levels are compared by; the smaller is handed out first.
pub type Order = (Reverse<i128>, Timestamp, TaskNumber);

impl Rank {
    /// Ranks a task with these points, queued at that moment.
    pub fn new(profile: &Profile, points: i64, queued_at: Timestamp, number: TaskNumber) -> Self {
        if profile.is_linear() {
            return Self { level: 0, arrival: profile.arrival(points, queued_at), queued_at, number };
        }
        Self { level: points, arrival: queued_at.as_micros(), queued_at, number }
    }

    /// Returns where the task stands among all others at that time.
    pub fn order(&self, profile: &Profile, now: Timestamp) -> Order {
        (Reverse(self.merit(profile, now)), self.queued_at, self.number)
    }

    fn merit(&self, profile: &Profile, now: Timestamp) -> i128 {
        if profile.is_linear() {
            profile.linear_merit(self.arrival, now)
        } else {
            profile.capped_merit(self.level, self.queued_at, now)
        }
    }

    /// Returns the first rank of a level that is not ahead of this one: whatever is
    /// smaller there is ahead.
    #[must_use]
    pub fn bound_in(&self, level: i64, profile: &Profile, now: Timestamp) -> Self {
        if profile.is_linear() || level == self.level {
            return Self { level, ..*self };
        }
        let merit = self.merit(profile, now);
        let worth = |micros| profile.capped_merit(level, Timestamp::from_micros(micros), now);
        // Waiting less is never worth more, so both edges can be searched for.
        let equal_from = first_micros(|micros| worth(micros) <= merit);
        let less_from = first_micros(|micros| worth(micros) < merit);
        let queued = self.queued_at.as_micros().clamp(equal_from, less_from);
        let tied = queued == self.queued_at.as_micros();
        let number = if tied { self.number } else { TaskNumber(0) };
        Self { level, arrival: queued, queued_at: Timestamp::from_micros(queued), number }
    }
}

/// Returns the first moment of which something is true that stays true.
fn first_micros(is_true: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, i64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_true(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// What tasks of one lane have in common: gates look at nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The project they belong to.
    pub project: Option<ProjectNumber>,
    /// The sort of work.
    pub kind: Kind,
    /// What it takes to do them.
    pub needs: Capabilities,
    /// Whose agents may do them; anybody's if nobody is named.
    pub owner: Option<String>,
    /// The doors they may leave by.
    pub doors: Doors,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Span;
    use crate::profile::ProfileName;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn shipped(name: ProfileName) -> Profile {
        Profile::shipped(name)
    }

    fn rank(profile: &Profile, points: i64, waited: Span, number: i64) -> Rank {
        Rank::new(profile, points, NOW.minus(waited), TaskNumber(number))
    }

    #[test]
    fn in_pipeline_a_point_is_worth_a_day() {
        let profile = shipped(ProfileName::Pipeline);
        let urgent = rank(&profile, 100, Span::ZERO, 2);
        assert!(rank(&profile, 10, Span::from_days(91), 1) < urgent);
        assert!(urgent < rank(&profile, 10, Span::from_days(89), 3));
    }

    #[test]
    fn a10_ties_go_to_the_earlier_then_to_the_smaller_number() {
        let profile = shipped(ProfileName::Pipeline);
        assert!(rank(&profile, 50, Span::from_days(1), 9) < rank(&profile, 51, Span::ZERO, 1));
        assert!(rank(&profile, 50, Span::ZERO, 1) < rank(&profile, 50, Span::ZERO, 2));
    }

    #[test]
    fn in_depth_first_an_old_plan_beats_a_fresh_deep_code_loop_only_with_patience() {
        let profile = shipped(ProfileName::DepthFirst);
        let code = rank(&profile, 130, Span::ZERO, 1);
        let ahead = |waited| rank(&profile, 40, waited, 2).order(&profile, NOW) < code.order(&profile, NOW);
        assert!(!ahead(Span::from_mins(50)));
        assert!(!ahead(Span::from_mins(50 + 40 * 60 - 1)));
        // At 40 hours past the cap both have 130; the tie goes to the one that waited.
        assert!(ahead(Span::from_mins(50 + 40 * 60)));
    }

    #[test]
    fn without_age_the_older_of_equals_is_first() {
        let mut profile = shipped(ProfileName::Pipeline);
        profile.set("age_boost_per_day", 0).unwrap();
        assert!(rank(&profile, 50, Span::from_days(9), 9) < rank(&profile, 50, Span::ZERO, 1));
        assert!(rank(&profile, 51, Span::ZERO, 9) < rank(&profile, 50, Span::from_days(999), 1));
    }

    fn profiles() -> impl Strategy<Value = Profile> {
        let capped = (0i64..4, 0i64..60, 0i64..3).prop_map(|(age, max, patience)| {
            let mut profile = shipped(ProfileName::DepthFirst);
            profile.set("age_boost_per_minute", age).unwrap();
            profile.set("age_boost_max", max).unwrap();
            profile.set("patience_per_hour", patience).unwrap();
            profile
        });
        prop_oneof![Just(shipped(ProfileName::Pipeline)), capped]
    }

    proptest! {
        /// A rank of one level is smaller exactly if it is ahead, whatever the time.
        #[test]
        fn within_a_level_the_order_never_changes(
            profile in profiles(),
            points in -50i64..200,
            a in 0i64..20_000_000_000, b in 0i64..20_000_000_000, later in 0i64..1_000_000_000_000,
        ) {
            let a = rank(&profile, points, Span::from_micros(a), 1);
            let b = rank(&profile, points, Span::from_micros(b), 2);
            let now = NOW.plus(Span::from_micros(later));
            prop_assert_eq!(a < b, a.order(&profile, now) < b.order(&profile, now));
        }

        #[test]
        fn a_linear_order_never_changes(
            a in (-500i64..500, 0i64..1_000_000_000_000), b in (-500i64..500, 0i64..1_000_000_000_000),
            later in 0i64..10_000_000_000_000,
        ) {
            let profile = shipped(ProfileName::Pipeline);
            let a = rank(&profile, a.0, Span::from_micros(a.1), 1);
            let b = rank(&profile, b.0, Span::from_micros(b.1), 2);
            let now = NOW.plus(Span::from_micros(later));
            prop_assert_eq!(a < b, a.order(&profile, now) < b.order(&profile, now));
        }

        /// Smaller than the bound in a level is exactly what is ahead.
        #[test]
        fn a_bound_parts_a_level(
            profile in profiles(),
            mine in (0i64..200, 0i64..400_000_000_000), other in (0i64..200, 0i64..400_000_000_000),
            numbers in prop_oneof![Just((1, 2)), Just((2, 1))],
        ) {
            let mine = rank(&profile, mine.0, Span::from_micros(mine.1), numbers.0);
            let other = rank(&profile, other.0, Span::from_micros(other.1), numbers.1);
            let ahead = other.order(&profile, NOW) < mine.order(&profile, NOW);
            prop_assert_eq!(other < mine.bound_in(other.level, &profile, NOW), ahead);
        }
    }
}
