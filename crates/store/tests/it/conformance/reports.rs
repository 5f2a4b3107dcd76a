//! Reports: which of them count, and what the others leave behind.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::dispatch::Phase;
use extraboard_core::id::Fence;
use extraboard_core::reason::Reason;
use extraboard_core::report::{FailureClass, Outcome, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_store::error::Error;
use extraboard_store::verbs::{DispatchHeartbeat, DispatchReport, Usage, Verdict};

use crate::harness::{TestStore, agent, asked, completed, failed, holder, person};

fn spent(cost_micros: i64) -> Usage {
    Usage { cost_micros: Some(cost_micros), ..Usage::default() }
}

pub(crate) async fn a13_a_lapsed_lease_requeues_and_the_old_dispatch_cannot_touch_the_new_one(
    ctx: &TestStore,
) {
    let queued_at = ctx.add("t").await.queued_at;
    let old = ctx.claim().await;
    ctx.lapse().await;
    let requeued = ctx.get(old.task.number).await;
    assert_eq!((requeued.state, requeued.queued_at, requeued.counters.lost), (State::Queued, queued_at, 1));
    let new = ctx.claim().await;
    assert_eq!((new.dispatch.fence, new.dispatch.attempt), (Fence(2), 2));
    for report in [completed("1"), failed(FailureClass::Crash), asked(), Report::Release] {
        let late = ctx.report(&old, report).await;
        assert_eq!((late.verdict, &late.task), (Verdict::Stale, &new.task));
    }
    assert_eq!(ctx.heartbeat(&new.dispatch).await.dispatch.phase, Phase::Open);
    assert_eq!(ctx.complete(&new).await.task.state, State::Done);
}

pub(crate) async fn a_stale_report_books_its_cost_and_keeps_its_result_as_evidence(ctx: &TestStore) {
    ctx.add("t").await;
    let old = ctx.claim().await;
    ctx.lapse().await;
    let new = ctx.claim().await;
    let said = DispatchReport { usage: spent(700), ..ctx.saying(&old, completed(r#""late""#)) };
    let late = ctx.store.write(said).await.unwrap();
    assert_eq!(late.verdict, Verdict::Stale);
    let kept = ctx.heartbeat(&old.dispatch).await.dispatch;
    assert_eq!((kept.cost_micros, kept.result.as_deref()), (Some(700), Some(r#""late""#)));
    assert_eq!(kept.phase.reason(), Some(Reason::LeaseExpired));
    assert_eq!(ctx.get(new.task.number).await, new.task);
}

pub(crate) async fn a_late_completion_counts_if_nobody_claimed_since(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.lapse().await;
    let late = ctx.complete(&claimed).await;
    assert_eq!((late.verdict, late.task.state), (Verdict::Accepted, State::Done));
    assert_eq!(late.task.counters.lost, 0);
    assert_eq!(late.dispatch.outcome, Some(Outcome::Completed));
    assert_eq!(late.dispatch.phase.reason(), Some(Reason::LeaseExpired));
    assert!(ctx.try_claim().await.is_err());
}

pub(crate) async fn a_late_failure_counts_if_nobody_claimed_since(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.lapse().await;
    let late = ctx.fail(&claimed, FailureClass::Crash).await;
    assert_eq!((late.verdict, late.task.state), (Verdict::Accepted, State::Queued));
    assert_eq!(late.task.not_before, Some(ctx.now().plus(Span::from_mins(1))));
    assert_eq!((late.task.counters.crash, late.task.counters.lost), (1, 1));
    let again = ctx.fail(&claimed, FailureClass::Crash).await;
    assert_eq!((again.verdict, again.task), (Verdict::Repeated, late.task));
}

pub(crate) async fn a_late_question_counts_if_nobody_claimed_since(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.lapse().await;
    let late = ctx.report(&claimed, asked()).await;
    assert_eq!((late.verdict, late.task.state), (Verdict::Accepted, State::Blocked));
    assert_eq!(late.task.last_error.as_deref(), Some("which one?"));
}

pub(crate) async fn a_late_heartbeat_is_stale_and_renews_nothing(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.lapse().await;
    let late = ctx.heartbeat(&claimed.dispatch).await;
    assert_eq!((late.verdict, late.task.state), (Verdict::Stale, State::Queued));
    assert!(late.dispatch.lease_until <= ctx.now());
}

pub(crate) async fn a_late_report_does_not_touch_what_was_parked_canceled_or_reopened(ctx: &TestStore) {
    let moves: [&[Verb]; 3] = [&[Verb::Park], &[Verb::Cancel], &[Verb::Cancel, Verb::Reopen]];
    for verbs in moves {
        ctx.add("t").await;
        let claimed = ctx.claim().await;
        ctx.lapse().await;
        for verb in verbs {
            ctx.apply(claimed.task.number, *verb).await;
        }
        let before = ctx.get(claimed.task.number).await;
        let late = ctx.complete(&claimed).await;
        assert_eq!((late.verdict, &late.task), (Verdict::Stale, &before), "{verbs:?}");
        assert_eq!(ctx.get(claimed.task.number).await, before, "{verbs:?}");
        ctx.delete(claimed.task.number).await;
    }
}

pub(crate) async fn k5_a_repeated_report_changes_nothing(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let said = DispatchReport { usage: spent(5), ..ctx.saying(&claimed, completed("1")) };
    let first = ctx.store.write(said.clone()).await.unwrap();
    ctx.pass(Span::from_secs(1));
    let again = ctx.store.write(said).await.unwrap();
    assert_eq!(again.verdict, Verdict::Repeated);
    assert_eq!((again.task, again.dispatch), (first.task.clone(), first.dispatch));
    assert_eq!(ctx.get(claimed.task.number).await, first.task);
}

pub(crate) async fn k5_a_report_on_what_is_finished_changes_nothing(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let done = ctx.complete(&claimed).await.task;
    for report in [failed(FailureClass::Crash), asked(), Report::Release] {
        let stale = ctx.report(&claimed, report).await;
        assert_eq!((stale.verdict, stale.task), (Verdict::Stale, done.clone()));
    }
    assert_eq!(ctx.get(claimed.task.number).await, done);
}

pub(crate) async fn only_the_holder_reports(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let wrong_fence = Caller::Holder { dispatch: claimed.dispatch.id, fence: Fence(2) };
    let other_token = Caller::Holder { dispatch: ctx.dispatch_id(), fence: Fence(1) };
    for caller in [agent("b"), Caller::Anonymous, wrong_fence, other_token, Caller::Desk] {
        for report in [completed("1"), failed(FailureClass::Crash), asked(), Report::Release] {
            let said = DispatchReport { ctx: ctx.ctx(caller.clone()), ..ctx.saying(&claimed, report) };
            let refused = ctx.store.write(said).await;
            assert!(matches!(refused, Err(Error::NotHolder { .. })), "{caller}");
        }
        let heartbeat = DispatchHeartbeat {
            ctx: ctx.ctx(caller.clone()),
            dispatch: claimed.dispatch.id,
            usage: spent(1),
        };
        assert!(matches!(ctx.store.write(heartbeat).await, Err(Error::NotHolder { .. })), "{caller}");
    }
    assert_eq!(ctx.get(claimed.task.number).await, claimed.task);
    assert_eq!(ctx.heartbeat(&claimed.dispatch).await.dispatch, claimed.dispatch);
    let by_name = DispatchReport { ctx: ctx.ctx(agent("a")), ..ctx.saying(&claimed, completed("1")) };
    assert_eq!(ctx.store.write(by_name).await.unwrap().task.state, State::Done);
}

pub(crate) async fn a_persons_word_on_anothers_dispatch_is_an_order_to_end(ctx: &TestStore) {
    for (report, reason) in
        [(Report::Release, Reason::Released), (failed(FailureClass::Crash), Reason::Crash)]
    {
        ctx.add("t").await;
        let claimed = ctx.claim().await;
        let said = DispatchReport { ctx: ctx.ctx(person()), ..ctx.saying(&claimed, report) };
        let ordered = ctx.store.write(said).await.unwrap();
        assert_eq!(ordered.dispatch.phase, Phase::Ending(reason));
        assert_eq!(ordered.task.state, State::Running);
        let told = ctx.heartbeat(&claimed.dispatch).await;
        assert_eq!((told.verdict, told.dispatch.phase), (Verdict::Accepted, Phase::Ending(reason)));
        let settled = ctx.complete(&claimed).await;
        assert_eq!(settled.task.state, State::Queued, "{reason}");
        assert_eq!(settled.dispatch.phase.reason(), Some(reason));
        ctx.delete(claimed.task.number).await;
    }
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let said = DispatchReport { ctx: ctx.ctx(person()), ..ctx.saying(&claimed, completed("1")) };
    assert!(matches!(ctx.store.write(said).await, Err(Error::NotHolder { .. })));
}

pub(crate) async fn a_person_who_ends_a_dispatch_says_why_and_whether_to_try_again(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let hopeless = Report::Fail {
        class: FailureClass::ExecutionFailed,
        retryable: Retryable::No,
        retry_after: None,
        error: Some("wrong branch".to_owned()),
        provider: None,
    };
    let said = DispatchReport { ctx: ctx.ctx(person()), ..ctx.saying(&claimed, hopeless) };
    ctx.store.write(said).await.unwrap();
    let settled = ctx.complete(&claimed).await;
    assert_eq!(settled.task.state, State::Failed);
    assert_eq!(settled.task.last_error.as_deref(), Some("wrong branch"));
}

pub(crate) async fn a_report_on_an_unknown_dispatch_is_refused(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let unknown = ctx.dispatch_id();
    let said = DispatchReport { dispatch: unknown, ..ctx.saying(&claimed, completed("1")) };
    assert!(matches!(ctx.store.write(said).await, Err(Error::NoDispatch(id)) if id == unknown));
    let ctx_of = ctx.ctx(holder(&claimed.dispatch));
    let heartbeat = DispatchHeartbeat { ctx: ctx_of, dispatch: unknown, usage: Usage::default() };
    assert!(matches!(ctx.store.write(heartbeat).await, Err(Error::NoDispatch(id)) if id == unknown));
}
