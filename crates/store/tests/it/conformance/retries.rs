//! Failures: back-offs, counters, and where each reason leads.

use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::gate::Nothing;
use extraboard_core::reason::{Counters, Draw, Reason};
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{Claimed, DispatchReport, Reported, TaskDraft, TaskEdit};

use crate::harness::{TestStore, failed, person};

/// Claims at the exact moment the task is due, not a microsecond earlier.
async fn claim_when_due(ctx: &TestStore, wait: Span) -> Claimed {
    ctx.pass(Span::from_micros(wait.as_micros() - 1));
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::NotBefore);
    ctx.pass(Span::from_micros(1));
    ctx.claim().await
}

/// Fails a task again and again, with exactly these waits between.
async fn fail_through(ctx: &TestStore, class: FailureClass, waits_secs: &[i64]) -> Reported {
    let mut claimed = ctx.claim().await;
    for secs in waits_secs {
        let wait = Span::from_secs(*secs);
        let failed = ctx.fail(&claimed, class).await.task;
        assert_eq!((failed.state, failed.not_before), (State::Queued, Some(ctx.now().plus(wait))));
        claimed = claim_when_due(ctx, wait).await;
    }
    ctx.fail(&claimed, class).await
}

async fn has_event(ctx: &TestStore, event_type: EventType) -> bool {
    ctx.events().await.iter().any(|event| event.event_type == event_type)
}

pub(crate) async fn a_later_moment_somebody_set_outlasts_a_back_off(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let later = ctx.now().plus(Span::from_days(1));
    let edit = TaskEdit { not_before: Some(Some(later)), ..TaskEdit::default() };
    ctx.store.write(ctx.patching(person(), claimed.task.number, edit, None)).await.unwrap();
    let failed = ctx.fail(&claimed, FailureClass::Crash).await.task;
    assert_eq!((failed.state, failed.not_before), (State::Queued, Some(later)));
}

pub(crate) async fn r1_crashes_back_off_1_5_15_30_minutes_and_the_fifth_fails(ctx: &TestStore) {
    ctx.add("t").await;
    let last = fail_through(ctx, FailureClass::Crash, &[60, 300, 900, 1800]).await;
    assert_eq!((last.task.state, last.task.counters.crash), (State::Failed, 5));
    assert!(has_event(ctx, EventType::TaskDeadLettered).await);
}

pub(crate) async fn an_unavailable_agent_backs_off_2_5_10_15_minutes_and_the_fifth_blocks(ctx: &TestStore) {
    ctx.add("t").await;
    let last = fail_through(ctx, FailureClass::AgentUnavailable, &[120, 300, 600, 900]).await;
    assert_eq!((last.task.state, last.task.counters.unavailable), (State::Blocked, 5));
    assert!(has_event(ctx, EventType::TaskNeedsPerson).await);
}

pub(crate) async fn failed_attempts_double_their_wait_until_retries_are_used_up(ctx: &TestStore) {
    ctx.add("t").await;
    let last = fail_through(ctx, FailureClass::ExecutionFailed, &[30, 60, 120]).await;
    assert_eq!((last.task.state, last.task.last_error.as_deref()), (State::Failed, Some("boom")));
}

pub(crate) async fn attempts_that_take_too_long_end_as_timed_out(ctx: &TestStore) {
    ctx.add("t").await;
    let last = fail_through(ctx, FailureClass::AttemptTimeout, &[30, 60, 120]).await;
    assert_eq!(last.task.state, State::TimedOut);
}

pub(crate) async fn the_draw_stretches_a_back_off_by_up_to_a_quarter(ctx: &TestStore) {
    ctx.add("t").await;
    let said = ctx.saying(&ctx.claim().await, failed(FailureClass::ExecutionFailed));
    let said = DispatchReport { draw: Draw::from_random(1000), ..said };
    let task = ctx.store.write(said).await.unwrap().task;
    assert_eq!(task.not_before, Some(ctx.now().plus(Span::from_micros(37_500_000))));
}

pub(crate) async fn r2_each_category_spends_only_its_own_counter(ctx: &TestStore) {
    ctx.add("t").await;
    for class in [FailureClass::Crash, FailureClass::AgentUnavailable, FailureClass::ExecutionFailed] {
        ctx.fail(&ctx.claim().await, class).await;
        ctx.pass(Span::from_mins(30));
    }
    let claimed = ctx.claim().await;
    ctx.lapse().await;
    let counters = ctx.get(claimed.task.number).await.counters;
    assert_eq!(counters, Counters { crash: 1, unavailable: 1, retry: 1, lost: 1 });
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(ctx.get(claimed.task.number).await.counters, Counters::default());
}

pub(crate) async fn r3_preemption_shutdown_and_release_spend_and_reset_nothing(ctx: &TestStore) {
    let queued_at = ctx.add("t").await.queued_at;
    ctx.fail(&ctx.claim().await, FailureClass::Crash).await;
    ctx.pass(Span::from_mins(1));
    for reason in [
        Reason::CooperativePreemption,
        Reason::PreemptionTimeout,
        Reason::GracefulShutdown,
        Reason::AgentDrained,
        Reason::Released,
    ] {
        let claimed = ctx.claim().await;
        ctx.terminate(&claimed.dispatch, reason).await;
        let task = ctx.report(&claimed, Report::Release).await.task;
        assert_eq!((task.state, task.not_before), (State::Queued, None), "{reason}");
        assert_eq!(task.counters, Counters { crash: 1, ..Counters::default() }, "{reason}");
        assert_eq!(task.queued_at, queued_at, "{reason}");
    }
}

pub(crate) async fn r5_max_retries_zero_fails_at_the_first_failure(ctx: &TestStore) {
    ctx.create(TaskDraft { max_retries: 0, ..TaskDraft::new("t") }).await;
    let task = ctx.fail(&ctx.claim().await, FailureClass::ExecutionFailed).await.task;
    assert_eq!(task.state, State::Failed);
}

pub(crate) async fn r6_what_is_not_retryable_is_a_dead_letter_at_once(ctx: &TestStore) {
    ctx.add("t").await;
    let hopeless = Report::Fail {
        class: FailureClass::ExecutionFailed,
        retryable: Retryable::No,
        retry_after: None,
        error: None,
        provider: None,
    };
    let task = ctx.report(&ctx.claim().await, hopeless).await.task;
    assert_eq!((task.state, task.last_error.as_deref()), (State::Failed, Some("execution_failed")));
    assert!(has_event(ctx, EventType::TaskDeadLettered).await);
}

pub(crate) async fn r11_retry_resets_counters_and_keeps_history(ctx: &TestStore) {
    let created = ctx.create(TaskDraft { max_retries: 0, ..TaskDraft::new("t") }).await;
    ctx.fail(&ctx.claim().await, FailureClass::ExecutionFailed).await;
    ctx.pass(Span::from_secs(1));
    let retried = ctx.apply(created.number, Verb::Retry).await;
    assert_eq!((retried.state, retried.attempt, retried.counters), (State::Queued, 0, Counters::default()));
    assert_eq!((retried.queued_at, retried.fence.0), (created.queued_at, 1));
    let again = ctx.claim().await;
    assert_eq!((again.dispatch.fence.0, again.dispatch.attempt), (2, 1));
    let dispatches = format!("SELECT COUNT(*) FROM dispatch WHERE task = {}", created.number);
    assert_eq!(ctx.database.raw_int(&dispatches).await, 2);
}

pub(crate) async fn rate_limited_waits_as_long_as_told_and_spends_nothing(ctx: &TestStore) {
    ctx.add("t").await;
    let told = Report::Fail {
        class: FailureClass::RateLimited,
        retryable: Retryable::Yes,
        retry_after: Some(Span::from_secs(90)),
        error: None,
        provider: None,
    };
    let task = ctx.report(&ctx.claim().await, told).await.task;
    assert_eq!(task.not_before, Some(ctx.now().plus(Span::from_secs(90))));
    assert_eq!(task.counters, Counters::default());
}

pub(crate) async fn a_task_lost_ten_times_is_poison(ctx: &TestStore) {
    let task = ctx.add("t").await;
    for lost in 1..=10 {
        ctx.claim().await;
        ctx.lapse().await;
        let task = ctx.get(task.number).await;
        let expected = if lost < 10 { State::Queued } else { State::Failed };
        assert_eq!((task.state, task.counters.lost), (expected, lost));
    }
    assert!(has_event(ctx, EventType::TaskDeadLettered).await);
}

/// Returns the state a running task of a fresh line is in after a dispatch ended so.
fn destination(reason: Reason) -> State {
    use Reason as R;
    match reason {
        R::UserCanceled | R::TaskDeleted => State::Canceled,
        R::HardCapExceeded => State::Failed,
        R::CostLimitReached | R::Asked | R::Setup => State::Blocked,
        R::CooperativePreemption
        | R::PreemptionTimeout
        | R::GracefulShutdown
        | R::AgentDrained
        | R::Released
        | R::AckExpired
        | R::AgentStopped
        | R::LeaseExpired
        | R::RateLimited
        | R::PromptBroken
        | R::Crash
        | R::AgentUnavailable
        | R::ExecutionFailed
        | R::AttemptTimeout => State::Queued,
    }
}

pub(crate) async fn k11_every_reason_routes_to_one_state(ctx: &TestStore) {
    for reason in Reason::ALL {
        let task = ctx.add(reason.as_str()).await;
        let claimed = ctx.claim().await;
        ctx.terminate(&claimed.dispatch, *reason).await;
        ctx.pass(Span::from_secs(60));
        assert_eq!(ctx.sweep().await, 1, "{reason}");
        let settled = ctx.heartbeat(&claimed.dispatch).await;
        assert_eq!(settled.task.state, destination(*reason), "{reason}");
        assert_eq!(settled.dispatch.phase.reason(), Some(*reason));
        assert_eq!(settled.task.deleted_at.is_some(), *reason == Reason::TaskDeleted, "{reason}");
        if *reason != Reason::TaskDeleted {
            ctx.delete(task.number).await;
        }
    }
}
