//! Profiles: what a task's points are made of, and what waiting is worth.
//!
//! `score = priority + boost + kind + goal + depth − retry + age + patience`. All
//! terms but the last two are whole numbers fixed on write; together they are the
//! task's *points*. Age is the same function of waiting for every task, so of two
//! tasks with equal points the older one is always ahead.

use crate::clock::{Span, Timestamp};
use crate::kind::Kind;
use crate::task::Task;
use crate::words::words;

const HOUR: Span = Span::from_mins(60);

words! {
    /// The two shipped profiles.
    pub enum ProfileName, "profile" {
        /// Seed 000's: early stages first, a point a day.
        Pipeline = "pipeline",
        /// Seed 004's: inner loops first, a point a minute up to a cap.
        DepthFirst = "depth_first",
    }
}

/// The span of waiting for which age gives its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeSpan {
    /// Points per day.
    Day,
    /// Points per minute.
    Minute,
}

impl AgeSpan {
    const fn micros(self) -> i64 {
        match self {
            Self::Day => Span::from_days(1).as_micros(),
            Self::Minute => Span::from_mins(1).as_micros(),
        }
    }
}

/// The numbers of a profile, every one of which may be overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The profile the numbers started from.
    pub name: ProfileName,
    /// What a point of priority counts.
    pub priority_weight: i64,
    /// Points by kind, in the order of [`Kind::ALL`].
    kinds: [i64; Kind::ALL.len()],
    /// Points if the task's project has an active goal.
    pub goal_bonus: i64,
    /// Points for each span of waiting.
    pub age_boost: i64,
    /// That span.
    pub age_span: AgeSpan,
    /// The most points for age; patience takes over.
    pub age_boost_max: Option<i64>,
    /// Points for each hour of waiting after the cap.
    pub patience_per_hour: i64,
    /// Points for each level of depth.
    pub depth_boost: i64,
    /// Points off for each failed attempt.
    pub retry_penalty: i64,
    /// The most points off.
    pub retry_penalty_max: i64,
}

/// The parts of a score, in whole points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// For priority.
    pub priority_weight: i64,
    /// What the operator added.
    pub boost: i64,
    /// For the kind.
    pub type_bonus: i64,
    /// For a goal.
    pub goal_bonus: i64,
    /// For waiting.
    pub age_bonus: i64,
    /// For waiting longer than age counts.
    pub patience: i64,
    /// For depth.
    pub depth_bonus: i64,
    /// For failures; never positive.
    pub retry_penalty: i64,
}

impl Score {
    /// Returns the sum of the parts.
    pub const fn total(&self) -> i64 {
        self.points() + self.age_bonus + self.patience
    }

    /// Returns the part that does not change with time.
    pub const fn points(&self) -> i64 {
        self.priority_weight
            + self.boost
            + self.type_bonus
            + self.goal_bonus
            + self.depth_bonus
            + self.retry_penalty
    }
}

/// Whether the task's project has an active goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// It has one.
    Active,
    /// It has none, or there is no project.
    #[default]
    None,
}

/// What is known when a task is ranked, beyond the task itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// The profile in force.
    pub profile: Profile,
    /// The goal of the task's project.
    pub goal: Goal,
}

impl Profile {
    /// Returns a profile as it is shipped.
    pub const fn shipped(name: ProfileName) -> Self {
        match name {
            ProfileName::Pipeline => Self {
                name,
                priority_weight: 1,
                //      signal hypothesis plan spec phase code task monitor
                kinds: [50, 40, 30, 20, 20, 20, 20, 10],
                goal_bonus: 20,
                age_boost: 1,
                age_span: AgeSpan::Day,
                age_boost_max: None,
                patience_per_hour: 0,
                depth_boost: 0,
                retry_penalty: 0,
                retry_penalty_max: 0,
            },
            ProfileName::DepthFirst => Self {
                name,
                priority_weight: 0,
                kinds: [60, 60, 40, 60, 80, 100, 60, 60],
                goal_bonus: 0,
                age_boost: 1,
                age_span: AgeSpan::Minute,
                age_boost_max: Some(50),
                patience_per_hour: 1,
                depth_boost: 10,
                retry_penalty: 5,
                retry_penalty_max: 30,
            },
        }
    }

    /// Tells whether children wait for their parents unless they say otherwise.
    pub const fn gates_by_parent(&self) -> bool {
        matches!(self.name, ProfileName::DepthFirst)
    }

    /// Returns the points of a kind.
    pub const fn kind_bonus(&self, kind: Kind) -> i64 {
        self.kinds[kind as usize]
    }

    /// Tells whether age grows for ever at one rate, so that one order of all
    /// tasks holds at any time.
    pub const fn is_linear(&self) -> bool {
        !matches!(self.age_boost_max, Some(max) if max == 0 || self.age_boost > 0)
    }

    /// Returns the parts of a task's score.
    pub fn score(&self, task: &Task, goal: Goal, now: Timestamp) -> Score {
        let failures = task.counters.crash + task.counters.retry;
        let (age_bonus, patience) = task.queued_at.map_or((0, 0), |queued_at| self.waiting(queued_at, now));
        Score {
            priority_weight: task.priority.points() * self.priority_weight,
            boost: task.boost,
            type_bonus: self.kind_bonus(task.kind),
            goal_bonus: if goal == Goal::Active { self.goal_bonus } else { 0 },
            age_bonus,
            patience,
            depth_bonus: task.depth * self.depth_boost,
            retry_penalty: -(failures.saturating_mul(self.retry_penalty)).min(self.retry_penalty_max),
        }
    }

    /// Returns the whole points for age and for patience.
    fn waiting(&self, queued_at: Timestamp, now: Timestamp) -> (i64, i64) {
        let waited = i128::from(now.since(queued_at).as_micros().max(0));
        match self.capped_after().filter(|after| waited >= i128::from(*after)) {
            None => (whole(waited * i128::from(self.age_boost), self.age_span.micros()), 0),
            Some(after) => {
                let beyond = (waited - i128::from(after)) * i128::from(self.patience_per_hour);
                (self.age_boost_max.unwrap_or(0), whole(beyond, HOUR.as_micros()))
            }
        }
    }

    /// Returns how long age counts, in microseconds; nothing if for ever.
    fn capped_after(&self) -> Option<i64> {
        match self.age_boost_max? {
            0 => Some(0),
            max if self.age_boost > 0 => Some(max.saturating_mul(self.age_span.micros()) / self.age_boost),
            _ => None,
        }
    }

    /// Returns the place of these points in a linear order: the larger the later.
    ///
    /// With one point per span this is the moment at which the task would have
    /// arrived if it had no points.
    pub(crate) fn arrival(&self, points: i64, queued_at: Timestamp) -> i64 {
        let aged = queued_at.as_micros().saturating_mul(self.age_boost);
        aged.saturating_sub(points.saturating_mul(self.age_span.micros()))
    }

    /// Returns the exact worth of a place in a linear order: the larger the sooner.
    pub(crate) fn linear_merit(&self, arrival: i64, now: Timestamp) -> i128 {
        i128::from(now.as_micros()) * i128::from(self.age_boost) - i128::from(arrival)
    }

    /// Returns the exact worth of points and waiting, in units both phases share.
    pub(crate) fn capped_merit(&self, points: i64, queued_at: Timestamp, now: Timestamp) -> i128 {
        let (age_span, hour) = (i128::from(self.age_span.micros()), i128::from(HOUR.as_micros()));
        let waited = i128::from(now.since(queued_at).as_micros().max(0));
        let fixed = i128::from(points) * age_span * hour;
        match self.capped_after().filter(|after| waited >= i128::from(*after)) {
            None => fixed + waited * i128::from(self.age_boost) * hour,
            Some(after) => {
                let capped = i128::from(self.age_boost_max.unwrap_or(0)) * age_span * hour;
                let beyond = waited - i128::from(after);
                fixed + capped + beyond * i128::from(self.patience_per_hour) * age_span
            }
        }
    }
}

/// Returns whole points, saturated.
fn whole(points: i128, span: i64) -> i64 {
    i64::try_from(points / i128::from(span)).unwrap_or(i64::MAX)
}

/// A number of a profile: its key, what it may be, and where it is kept.
struct Number {
    key: &'static str,
    least: i64,
    most: i64,
    get: fn(&Profile) -> Option<i64>,
    set: fn(&mut Profile, i64),
}

/// The largest number of points a single term may give or take.
const TERM_MAX: i64 = 1_000;

macro_rules! number {
    ($key:literal, $least:expr, $most:expr, $field:ident) => {
        Number {
            key: $key,
            least: $least,
            most: $most,
            get: |profile| Some(profile.$field),
            set: |profile, number| profile.$field = number,
        }
    };
}

macro_rules! kind_number {
    ($kind:ident) => {
        Number {
            key: Kind::$kind.as_str(),
            least: -TERM_MAX,
            most: TERM_MAX,
            get: |profile| Some(profile.kinds[Kind::$kind as usize]),
            set: |profile, number| profile.kinds[Kind::$kind as usize] = number,
        }
    };
}

macro_rules! age_number {
    ($key:literal, $span:ident) => {
        Number {
            key: $key,
            least: 0,
            most: TERM_MAX,
            get: |profile| (profile.age_span == AgeSpan::$span).then_some(profile.age_boost),
            set: |profile, number| {
                profile.age_boost = number;
                profile.age_span = AgeSpan::$span;
            },
        }
    };
}

const NUMBERS: &[Number] = &[
    number!("priority_weight", 0, 100, priority_weight),
    kind_number!(Signal),
    kind_number!(Hypothesis),
    kind_number!(Plan),
    kind_number!(Spec),
    kind_number!(Phase),
    kind_number!(Code),
    kind_number!(Task),
    kind_number!(Monitor),
    number!("goal_bonus", -TERM_MAX, TERM_MAX, goal_bonus),
    age_number!("age_boost_per_day", Day),
    age_number!("age_boost_per_minute", Minute),
    Number {
        key: "age_boost_max",
        least: 0,
        most: 100_000,
        get: |profile| profile.age_boost_max,
        set: |profile, number| profile.age_boost_max = Some(number),
    },
    number!("patience_per_hour", 0, TERM_MAX, patience_per_hour),
    number!("depth_boost_per_level", -TERM_MAX, TERM_MAX, depth_boost),
    number!("retry_penalty_per_iteration", 0, TERM_MAX, retry_penalty),
    number!("retry_penalty_max", 0, 10_000, retry_penalty_max),
];

impl Profile {
    /// Returns every key a number can be set by.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        NUMBERS.iter().map(|number| number.key)
    }

    /// Returns the numbers by key, without those that do not apply.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, i64)> {
        NUMBERS.iter().filter_map(|number| Some((number.key, (number.get)(self)?)))
    }

    /// Sets one number.
    pub fn set(&mut self, key: &str, value: i64) -> Result<(), BadNumber> {
        let number = NUMBERS.iter().find(|number| number.key == key);
        let Some(number) = number else { return Err(BadNumber::Key(key.to_owned())) };
        if !(number.least..=number.most).contains(&value) {
            return Err(BadNumber::Range { key: number.key, least: number.least, most: number.most, value });
        }
        (number.set)(self, value);
        Ok(())
    }
}

/// A number a profile cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadNumber {
    /// There is no such number.
    #[error("a profile has no number {0:?}")]
    Key(String),
    /// The value is out of range.
    #[error("{key}: expected {least} to {most}, got {value}")]
    Range {
        /// The number.
        key: &'static str,
        /// The least it may be.
        least: i64,
        /// The most it may be.
        most: i64,
        /// What it was to be.
        value: i64,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{Fence, TaskId, TaskNumber};
    use crate::line::Rank;
    use crate::priority::Priority;
    use crate::reason::Counters;
    use crate::state::State;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn task(kind: Kind, waited: Span) -> Task {
        Task {
            id: TaskId::from_uuid(uuid::Uuid::nil()),
            number: TaskNumber(1),
            title: "t".to_owned(),
            description: None,
            kind,
            state: State::Queued,
            priority: Priority::DEFAULT,
            boost: 0,
            doors: crate::doors::Doors::ANY,
            needs: crate::capabilities::Capabilities::default(),
            owner: None,
            labels: Vec::new(),
            external_key: None,
            prompt_broken: false,
            project: None,
            project_id: None,
            parent: None,
            parent_id: None,
            depth: 0,
            gated_by_parent: false,
            parent_open: false,
            open_blockers: 0,
            artifact: None,
            artifact_present: false,
            max_retries: 3,
            signal_source: None,
            signal_payload: None,
            hypothesis: None,
            agent_summary: None,
            result: None,
            commits: None,
            pull_requests: None,
            question: None,
            answer: None,
            last_error: None,
            not_before: None,
            queued_at: Some(NOW.minus(waited)),
            fence: Fence(0),
            attempt: 0,
            dispatch: None,
            counters: Counters::default(),
            created_at: NOW,
            updated_at: NOW,
            started_at: None,
            completed_at: None,
            deleted_at: None,
        }
    }

    fn depth_first(task: &Task) -> Score {
        Profile::shipped(ProfileName::DepthFirst).score(task, Goal::None, NOW)
    }

    fn failed(times: i64, task: Task) -> Task {
        Task { counters: Counters { retry: times - 1, crash: 1, ..Counters::default() }, ..task }
    }

    #[test]
    fn a9_the_pipeline_score_is_the_sum_of_its_parts() {
        let profile = Profile::shipped(ProfileName::Pipeline);
        let mut signal = task(Kind::Signal, Span::from_days(3));
        signal.priority = Priority::new(75).unwrap();
        signal.boost = 5;
        let score = profile.score(&signal, Goal::Active, NOW);
        let expected = Score {
            priority_weight: 75,
            boost: 5,
            type_bonus: 50,
            goal_bonus: 20,
            age_bonus: 3,
            ..Score::default()
        };
        assert_eq!(score, expected);
        assert_eq!(score.total(), 153);
        assert_eq!(profile.score(&signal, Goal::None, NOW).total(), 133);
    }

    #[test]
    fn a9_kinds_have_the_points_of_the_seeds() {
        let points = |name| {
            let profile = Profile::shipped(name);
            Kind::ALL.iter().map(|kind| (kind.as_str(), profile.kind_bonus(*kind))).collect::<Vec<_>>()
        };
        let expected = [
            ("signal", 50),
            ("hypothesis", 40),
            ("plan", 30),
            ("spec", 20),
            ("phase", 20),
            ("code", 20),
            ("task", 20),
            ("monitor", 10),
        ];
        assert_eq!(points(ProfileName::Pipeline), expected);
        let expected = [
            ("signal", 60),
            ("hypothesis", 60),
            ("plan", 40),
            ("spec", 60),
            ("phase", 80),
            ("code", 100),
            ("task", 60),
            ("monitor", 60),
        ];
        assert_eq!(points(ProfileName::DepthFirst), expected);
    }

    #[test]
    fn l1_the_worked_example_is_135_130_111() {
        let a = Task { depth: 3, ..task(Kind::Code, Span::from_mins(5)) };
        let b = Task { depth: 2, ..task(Kind::Phase, Span::from_mins(30)) };
        let c = failed(4, Task { depth: 3, ..task(Kind::Code, Span::from_mins(1)) });
        let totals = [a, b, c].map(|task| depth_first(&task).total());
        assert_eq!(totals, [135, 130, 111]);
    }

    #[test]
    fn l2_the_penalty_is_at_most_30() {
        let penalty = |times| depth_first(&failed(times, task(Kind::Code, Span::ZERO))).retry_penalty;
        assert_eq!([1, 2, 6, 7, 100].map(penalty), [-5, -10, -30, -30, -30]);
    }

    #[test]
    fn l3_age_gives_at_most_50_and_then_patience_a_point_an_hour() {
        let parts = |mins| {
            let score = depth_first(&task(Kind::Code, Span::from_mins(mins)));
            (score.age_bonus, score.patience)
        };
        assert_eq!(
            [0, 1, 49, 50, 51, 109, 110, 50 + 600].map(parts),
            [(0, 0), (1, 0), (49, 0), (50, 0), (50, 0), (50, 0), (50, 1), (50, 10)]
        );
    }

    #[test]
    fn l4_each_level_of_depth_gives_10() {
        let bonus = |depth| depth_first(&Task { depth, ..task(Kind::Code, Span::ZERO) }).depth_bonus;
        assert_eq!([0, 1, 2, 8].map(bonus), [0, 10, 20, 80]);
    }

    #[test]
    fn a_task_queued_in_the_future_has_no_age() {
        assert_eq!(depth_first(&task(Kind::Code, Span::from_mins(-90))).total(), 100);
    }

    #[test]
    fn every_number_can_be_set_and_read_back() {
        let mut profile = Profile::shipped(ProfileName::DepthFirst);
        for key in Profile::keys() {
            profile.set(key, 7).unwrap();
            assert!(profile.numbers().any(|number| number == (key, 7)), "{key}");
        }
        assert_eq!(profile.set("plam", 1), Err(BadNumber::Key("plam".to_owned())));
        let error = profile.set("plan", 1_001).unwrap_err();
        assert_eq!(error.to_string(), "plan: expected -1000 to 1000, got 1001");
    }

    /// The longest a task with 0 points less than the best fresh one can be passed:
    /// in `depth_first` by hours past the cap, one for each point between them.
    #[test]
    fn l14_patience_bounds_how_long_a_task_can_be_passed() {
        let profile = Profile::shipped(ProfileName::DepthFirst);
        // The worst off, a plan that failed often, against the best: code at full depth.
        let (worst, best) = (40 - 30, 100 + 80);
        let hours = best - worst - 50;
        let waited = Span::from_mins(50 + hours * 60);
        let old = Rank::new(&profile, worst, NOW.minus(waited), TaskNumber(1));
        let fresh = Rank::new(&profile, best, NOW, TaskNumber(2));
        assert!(old.order(&profile, NOW) < fresh.order(&profile, NOW));
        assert_eq!(hours, 120);
    }

    proptest! {
        /// The order of the line never contradicts the whole points that are shown.
        #[test]
        fn a3_the_line_refines_the_shown_score_at_any_time(
            name in prop_oneof![Just(ProfileName::Pipeline), Just(ProfileName::DepthFirst)],
            a in (1i64..=100, 0usize..8, 0i64..4, 0i64..1_000_000_000_000),
            b in (1i64..=100, 0usize..8, 0i64..4, 0i64..1_000_000_000_000),
            later in 0i64..10_000_000_000_000,
        ) {
            let profile = Profile::shipped(name);
            let now = NOW.plus(Span::from_micros(later));
            let place = |(points, kind, depth, waited): (i64, usize, i64, i64)| {
                let mut task = task(Kind::ALL[kind], Span::from_micros(waited));
                task.priority = Priority::new(points).unwrap();
                task.depth = depth;
                let ranking = Ranking { profile: profile.clone(), goal: Goal::None };
                let order = task.rank(&ranking).unwrap().order(&profile, now);
                (order, profile.score(&task, Goal::None, now).total())
            };
            let ((order_a, score_a), (order_b, score_b)) = (place(a), place(b));
            if score_a > score_b {
                prop_assert!(order_a < order_b);
            }
        }
    }
}
