//! Why a dispatch ended, and where its task goes: one row per reason.
//!
//! The first reason recorded for a dispatch wins; settlement reads its row here
//! and nowhere else. The random draw for jitter is passed in.

use crate::clock::{Span, Timestamp};
use crate::report::Retryable;
use crate::state::Verb;
use crate::words::words;

words! {
    /// Why a dispatch ends.
    pub enum Reason, "reason" {
        /// It yielded to something more important.
        CooperativePreemption = "cooperative_preemption",
        /// It did not yield in time and was ended.
        PreemptionTimeout = "preemption_timeout",
        /// Its runner stopped.
        GracefulShutdown = "graceful_shutdown",
        /// Its agent takes no more work.
        AgentDrained = "agent_drained",
        /// Its holder gave it back.
        Released = "released",
        /// It was pushed and never accepted.
        AckExpired = "ack_expired",
        /// Its agent is gone.
        AgentStopped = "agent_stopped",
        /// Its lease lapsed.
        LeaseExpired = "lease_expired",
        /// The task was canceled or closed by somebody else.
        UserCanceled = "user_canceled",
        /// The task was deleted.
        TaskDeleted = "task_deleted",
        /// The task used up its active time.
        HardCapExceeded = "hard_cap_exceeded",
        /// The task used up its budget.
        CostLimitReached = "cost_limit_reached",
        /// The agent asked a person.
        Asked = "asked",
        /// The provider refuses work for a while.
        RateLimited = "rate_limited",
        /// Its prompt could not be made.
        PromptBroken = "prompt_broken",
        /// The agent died.
        Crash = "crash",
        /// The agent could not be reached.
        AgentUnavailable = "agent_unavailable",
        /// The agent is not set up.
        Setup = "setup",
        /// The work went wrong.
        ExecutionFailed = "execution_failed",
        /// The attempt took too long.
        AttemptTimeout = "attempt_timeout",
    }
}

impl Reason {
    /// Tells whether the work itself went wrong, or nobody was heard of again: what the next
    /// attempt should know of, and what counts against the prompt.
    pub const fn is_failure(self) -> bool {
        matches!(
            self,
            Self::Crash
                | Self::ExecutionFailed
                | Self::AttemptTimeout
                | Self::LeaseExpired
                | Self::AgentStopped
                | Self::HardCapExceeded
        )
    }
}

/// Minutes to wait after the first, second, … crash; one more is the last.
const CRASH_BACKOFF_MINS: [i64; 4] = [1, 5, 15, 30];
/// Minutes to wait after the agent was unavailable; one more blocks the task.
const UNAVAILABLE_BACKOFF_MINS: [i64; 4] = [2, 5, 10, 15];
/// How often a task may be lost before it counts as poison.
const LOST_MAX: i64 = 10;
/// The wait after a first failed attempt; it doubles with each further one.
const RETRY_BACKOFF_BASE: Span = Span::from_secs(30);
/// The longest wait after a failed attempt, before jitter.
const RETRY_BACKOFF_MAX: Span = Span::from_mins(15);
/// The shortest wait after a provider refused on an account nobody named: there is
/// no gate to close.
const RATE_LIMIT_BACKOFF: Span = Span::from_secs(2);
/// The wait after a prompt could not be made.
pub const PROMPT_BACKOFF: Span = Span::from_mins(5);

/// How often in a row a task failed, by cause. Success and `retry` clear them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Agents that died.
    pub crash: i64,
    /// Agents that could not be reached.
    pub unavailable: i64,
    /// Attempts that failed or took too long.
    pub retry: i64,
    /// Dispatches nobody was heard of again.
    pub lost: i64,
}

/// A random draw of 0 to 1000, for jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(i64);

impl Draw {
    /// The draw that adds nothing.
    pub const NONE: Self = Self(0);

    /// Makes a draw of any random number.
    pub fn from_random(random: u16) -> Self {
        Self(i64::from(random % 1001))
    }

    /// Returns the delay with 0 to 25 % added.
    fn stretch(self, delay: Span) -> Span {
        Span::from_micros(delay.as_micros() + delay.as_micros() * self.0 / 4000)
    }
}

/// What is known when a dispatch settles.
#[derive(Clone, Copy, Debug)]
pub struct Settlement {
    /// Why it ended.
    pub reason: Reason,
    /// Whether the holder thinks another attempt makes sense.
    pub retryable: Retryable,
    /// The wait the holder asked for.
    pub retry_after: Option<Span>,
    /// The task's counters before.
    pub counters: Counters,
    /// How often the task may be tried again.
    pub max_retries: i64,
    /// Whether the work was done on a named account, which has a gate of its own.
    pub on_account: bool,
    /// The present.
    pub now: Timestamp,
    /// For jitter.
    pub draw: Draw,
}

/// Something people should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The desk gave the task up.
    DeadLetter,
    /// The task waits for a person.
    NeedsPerson,
    /// Somebody should look now.
    Alert,
}

/// Where a settled task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// What happens to the task; nothing if it was moved when the reason was set.
    pub verb: Option<Verb>,
    /// The counters after.
    pub counters: Counters,
    /// The earliest moment of the next attempt.
    pub not_before: Option<Timestamp>,
    /// Whom to tell.
    pub notice: Option<Notice>,
}

/// Returns where the task goes: the reason table.
pub fn route(settlement: &Settlement) -> Route {
    use Reason as R;
    let stay = Route { verb: None, counters: settlement.counters, not_before: None, notice: None };
    match settlement.reason {
        R::CooperativePreemption
        | R::PreemptionTimeout
        | R::GracefulShutdown
        | R::AgentDrained
        | R::Released => Route { verb: Some(Verb::Requeue), ..stay },
        R::AckExpired | R::AgentStopped | R::LeaseExpired => lost(settlement),
        R::UserCanceled | R::TaskDeleted => stay,
        R::HardCapExceeded => Route { verb: Some(Verb::Fail), notice: Some(Notice::Alert), ..stay },
        R::CostLimitReached => Route { verb: Some(Verb::Block), ..stay },
        R::Asked | R::Setup => Route { verb: Some(Verb::Block), notice: Some(Notice::NeedsPerson), ..stay },
        // The gate of the account holds back whoever works on it; others may go on at once.
        R::RateLimited if settlement.on_account => Route { verb: Some(Verb::Requeue), ..stay },
        R::RateLimited => requeue_after(settlement, settlement.counters, RATE_LIMIT_BACKOFF),
        R::PromptBroken => Route {
            notice: Some(Notice::NeedsPerson),
            ..requeue_after(settlement, settlement.counters, PROMPT_BACKOFF)
        },
        R::Crash => crash(settlement),
        R::AgentUnavailable => unavailable(settlement),
        R::ExecutionFailed => attempt_failed(settlement, Verb::Fail),
        R::AttemptTimeout => attempt_failed(settlement, Verb::TimeOut),
    }
}

fn requeue_after(settlement: &Settlement, counters: Counters, backoff: Span) -> Route {
    let delay = backoff.max(settlement.retry_after.unwrap_or(Span::ZERO));
    Route { verb: Some(Verb::Requeue), counters, not_before: Some(settlement.now.plus(delay)), notice: None }
}

fn give_up(counters: Counters, verb: Verb, notice: Notice) -> Route {
    Route { verb: Some(verb), counters, not_before: None, notice: Some(notice) }
}

fn lost(settlement: &Settlement) -> Route {
    let counters = Counters { lost: settlement.counters.lost + 1, ..settlement.counters };
    if counters.lost >= LOST_MAX {
        return give_up(counters, Verb::Fail, Notice::DeadLetter);
    }
    Route { verb: Some(Verb::Requeue), counters, not_before: None, notice: None }
}

fn crash(settlement: &Settlement) -> Route {
    let counters = Counters { crash: settlement.counters.crash + 1, ..settlement.counters };
    match nth(CRASH_BACKOFF_MINS, counters.crash) {
        Some(mins) => requeue_after(settlement, counters, Span::from_mins(mins)),
        None => give_up(counters, Verb::Fail, Notice::DeadLetter),
    }
}

fn unavailable(settlement: &Settlement) -> Route {
    let counters = Counters { unavailable: settlement.counters.unavailable + 1, ..settlement.counters };
    match nth(UNAVAILABLE_BACKOFF_MINS, counters.unavailable) {
        Some(mins) => requeue_after(settlement, counters, Span::from_mins(mins)),
        None => give_up(counters, Verb::Block, Notice::NeedsPerson),
    }
}

fn attempt_failed(settlement: &Settlement, exhausted: Verb) -> Route {
    let counters = Counters { retry: settlement.counters.retry + 1, ..settlement.counters };
    if settlement.retryable == Retryable::No {
        return give_up(counters, Verb::Fail, Notice::DeadLetter);
    }
    if counters.retry > settlement.max_retries {
        return give_up(counters, exhausted, Notice::DeadLetter);
    }
    let doublings = u32::try_from(counters.retry - 1).unwrap_or(u32::MAX).min(16);
    let micros = RETRY_BACKOFF_BASE.as_micros() << doublings;
    let backoff = Span::from_micros(micros).min(RETRY_BACKOFF_MAX);
    requeue_after(settlement, counters, settlement.draw.stretch(backoff))
}

/// Returns the `count`-th entry of a schedule, counted from one.
fn nth<const N: usize>(schedule: [i64; N], count: i64) -> Option<i64> {
    usize::try_from(count - 1).ok().and_then(|index| schedule.get(index)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

    fn settlement(reason: Reason) -> Settlement {
        Settlement {
            reason,
            retryable: Retryable::Yes,
            retry_after: None,
            counters: Counters { crash: 1, unavailable: 2, retry: 1, lost: 3 },
            max_retries: 3,
            on_account: false,
            now: NOW,
            draw: Draw::NONE,
        }
    }

    /// Settles the same reason again and again; yields verb and wait in seconds.
    fn waits(first: Settlement, times: usize) -> Vec<(Verb, Option<i64>)> {
        let mut next = Settlement { counters: Counters::default(), ..first };
        (0..times)
            .map(|_| {
                let route = route(&next);
                next.counters = route.counters;
                (route.verb.unwrap(), route.not_before.map(|at| at.since(NOW).as_secs()))
            })
            .collect()
    }

    fn check_free_requeue(reason: Reason) {
        let settlement = settlement(reason);
        let expected = Route {
            verb: Some(Verb::Requeue),
            counters: settlement.counters,
            not_before: None,
            notice: None,
        };
        assert_eq!(route(&settlement), expected, "{reason}");
    }

    #[test]
    fn r3_cooperative_preemption_spends_and_resets_nothing() {
        check_free_requeue(Reason::CooperativePreemption);
    }

    #[test]
    fn r3_preemption_timeout_spends_and_resets_nothing() {
        check_free_requeue(Reason::PreemptionTimeout);
    }

    #[test]
    fn r3_graceful_shutdown_spends_and_resets_nothing() {
        check_free_requeue(Reason::GracefulShutdown);
    }

    #[test]
    fn agent_drained_spends_and_resets_nothing() {
        check_free_requeue(Reason::AgentDrained);
    }

    #[test]
    fn released_spends_and_resets_nothing() {
        check_free_requeue(Reason::Released);
    }

    fn check_lost(reason: Reason) {
        let routes = waits(settlement(reason), 10);
        assert!(routes[..9].iter().all(|route| *route == (Verb::Requeue, None)), "{reason}");
        assert_eq!(routes[9], (Verb::Fail, None), "{reason}");
        let spent = route(&settlement(reason)).counters;
        assert_eq!(spent, Counters { lost: 4, ..settlement(reason).counters });
    }

    #[test]
    fn lease_expired_requeues_nine_times_then_fails_as_poison() {
        check_lost(Reason::LeaseExpired);
    }

    #[test]
    fn ack_expired_spends_lost() {
        check_lost(Reason::AckExpired);
    }

    #[test]
    fn agent_stopped_spends_lost() {
        check_lost(Reason::AgentStopped);
    }

    #[test]
    fn user_canceled_moves_nothing_at_settlement() {
        assert_eq!(route(&settlement(Reason::UserCanceled)).verb, None);
    }

    #[test]
    fn task_deleted_moves_nothing_at_settlement() {
        assert_eq!(route(&settlement(Reason::TaskDeleted)).verb, None);
    }

    #[test]
    fn hard_cap_exceeded_fails_with_an_alert() {
        let route = route(&settlement(Reason::HardCapExceeded));
        assert_eq!((route.verb, route.notice), (Some(Verb::Fail), Some(Notice::Alert)));
    }

    #[test]
    fn cost_limit_reached_blocks() {
        assert_eq!(route(&settlement(Reason::CostLimitReached)).verb, Some(Verb::Block));
    }

    #[test]
    fn asked_blocks_and_needs_a_person() {
        let route = route(&settlement(Reason::Asked));
        assert_eq!((route.verb, route.notice), (Some(Verb::Block), Some(Notice::NeedsPerson)));
    }

    #[test]
    fn rate_limited_waits_at_least_as_long_as_told_and_spends_nothing() {
        let told = Settlement { retry_after: Some(Span::from_secs(90)), ..settlement(Reason::RateLimited) };
        let route = route(&told);
        assert_eq!(route.not_before, Some(NOW.plus(Span::from_secs(90))));
        assert_eq!(route.counters, told.counters);
        assert_eq!(waits(settlement(Reason::RateLimited), 1), [(Verb::Requeue, Some(2))]);
    }

    #[test]
    fn rate_limited_on_an_account_leaves_the_waiting_to_its_gate() {
        let told = Settlement {
            retry_after: Some(Span::from_secs(90)),
            on_account: true,
            ..settlement(Reason::RateLimited)
        };
        let route = route(&told);
        assert_eq!((route.verb, route.not_before), (Some(Verb::Requeue), None));
        assert_eq!(route.counters, told.counters);
    }

    #[test]
    fn prompt_broken_backs_off_and_needs_a_person() {
        let route = route(&settlement(Reason::PromptBroken));
        assert_eq!(route.verb, Some(Verb::Requeue));
        assert_eq!(route.not_before, Some(NOW.plus(Span::from_mins(5))));
        assert_eq!(route.notice, Some(Notice::NeedsPerson));
    }

    #[test]
    fn r1_crash_backs_off_1_5_15_30_minutes_and_the_fifth_fails() {
        use Verb::{Fail, Requeue};
        assert_eq!(
            waits(settlement(Reason::Crash), 5),
            [
                (Requeue, Some(60)),
                (Requeue, Some(300)),
                (Requeue, Some(900)),
                (Requeue, Some(1800)),
                (Fail, None)
            ]
        );
    }

    #[test]
    fn agent_unavailable_backs_off_2_5_10_15_minutes_and_the_fifth_blocks() {
        use Verb::{Block, Requeue};
        assert_eq!(
            waits(settlement(Reason::AgentUnavailable), 5),
            [
                (Requeue, Some(120)),
                (Requeue, Some(300)),
                (Requeue, Some(600)),
                (Requeue, Some(900)),
                (Block, None)
            ]
        );
    }

    #[test]
    fn setup_errors_block_at_once() {
        let route = route(&settlement(Reason::Setup));
        assert_eq!((route.verb, route.notice), (Some(Verb::Block), Some(Notice::NeedsPerson)));
    }

    #[test]
    fn execution_failed_doubles_its_wait_and_fails_when_exhausted() {
        use Verb::{Fail, Requeue};
        assert_eq!(
            waits(settlement(Reason::ExecutionFailed), 4),
            [(Requeue, Some(30)), (Requeue, Some(60)), (Requeue, Some(120)), (Fail, None)]
        );
    }

    #[test]
    fn the_wait_after_a_failure_is_at_most_a_quarter_over_15_minutes() {
        let many = Settlement { max_retries: 100, draw: Draw(1000), ..settlement(Reason::ExecutionFailed) };
        let routes = waits(many, 100);
        assert_eq!(routes[0].1, Some(37));
        assert_eq!(routes[99].1, Some(15 * 60 + 225));
    }

    #[test]
    fn r5_max_retries_zero_fails_at_the_first_failure() {
        let none = Settlement { max_retries: 0, ..settlement(Reason::ExecutionFailed) };
        assert_eq!(waits(none, 1), [(Verb::Fail, None)]);
    }

    #[test]
    fn r6_what_is_not_retryable_is_a_dead_letter_at_once() {
        let hopeless = Settlement { retryable: Retryable::No, ..settlement(Reason::ExecutionFailed) };
        let route = route(&hopeless);
        assert_eq!((route.verb, route.notice), (Some(Verb::Fail), Some(Notice::DeadLetter)));
    }

    #[test]
    fn attempt_timeout_times_out_when_exhausted() {
        assert_eq!(waits(settlement(Reason::AttemptTimeout), 4)[3], (Verb::TimeOut, None));
    }

    #[test]
    fn r2_each_category_spends_only_its_own_counter() {
        let before = settlement(Reason::Crash).counters;
        let after = |reason| route(&settlement(reason)).counters;
        assert_eq!(after(Reason::Crash), Counters { crash: 2, ..before });
        assert_eq!(after(Reason::AgentUnavailable), Counters { unavailable: 3, ..before });
        assert_eq!(after(Reason::ExecutionFailed), Counters { retry: 2, ..before });
        assert_eq!(after(Reason::LeaseExpired), Counters { lost: 4, ..before });
    }

    #[test]
    fn k11_every_reason_routes_to_exactly_one_state() {
        use crate::state::State;
        for reason in Reason::ALL {
            let route = route(&settlement(*reason));
            if let Some(verb) = route.verb {
                assert!(State::Running.after(verb).is_ok(), "{reason}");
                assert!(State::Assigned.after(verb).is_ok(), "{reason}");
            }
        }
    }
}
