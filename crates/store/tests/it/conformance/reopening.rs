//! Cancel, close and reopen while somebody still works on the old dispatch.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::dispatch::{ENDING_LEASE, Phase};
use extraboard_core::gate::Nothing;
use extraboard_core::reason::Reason;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_core::status::Status;
use extraboard_store::error::Error;
use extraboard_store::verbs::{ClaimRequest, Verdict};

use crate::harness::{TestStore, agent, asked, completed, failed, person};

pub(crate) async fn a_reopened_task_waits_for_its_old_dispatch_and_stays_reopened(ctx: &TestStore) {
    for report in [completed("1"), failed(FailureClass::Crash), asked(), Report::Release] {
        let task = ctx.add("t").await;
        let old = ctx.claim().await;
        ctx.apply(task.number, Verb::Cancel).await;
        ctx.pass(Span::from_secs(1));
        let reopened = ctx.apply(task.number, Verb::Reopen).await;
        assert_eq!((reopened.state, reopened.queued_at), (State::Queued, Some(ctx.now())));
        assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Empty);
        let by_name = ctx.ask(agent("b"), task.number, Status::InProgress).await;
        assert!(matches!(by_name, Err(Error::NotReady { .. })));
        let settled = ctx.report(&old, report).await;
        assert_eq!(settled.dispatch.phase.reason(), Some(Reason::UserCanceled));
        assert_eq!((settled.task.state, settled.task.not_before), (State::Queued, None));
        let new = ctx.claim().await;
        assert_eq!((new.task.number, new.dispatch.fence.0), (task.number, 2));
        ctx.complete(&new).await;
    }
}

pub(crate) async fn a_reopened_task_joins_the_line_when_the_old_lease_ends(ctx: &TestStore) {
    let task = ctx.add("t").await;
    ctx.claim().await;
    ctx.apply(task.number, Verb::Cancel).await;
    ctx.apply(task.number, Verb::Reopen).await;
    ctx.pass(ENDING_LEASE);
    assert_eq!(ctx.sweep().await, 1);
    assert_eq!(ctx.get(task.number).await.counters.lost, 0);
    assert_eq!(ctx.claim().await.task.number, task.number);
}

pub(crate) async fn a_reopened_task_stays_reopened_if_its_dispatch_ended_for_another_reason(ctx: &TestStore) {
    for reason in [Reason::CooperativePreemption, Reason::HardCapExceeded, Reason::Crash] {
        let task = ctx.add("t").await;
        let old = ctx.claim().await;
        ctx.terminate(&old.dispatch, reason).await;
        ctx.apply(task.number, Verb::Cancel).await;
        ctx.apply(task.number, Verb::Reopen).await;
        assert!(ctx.try_claim().await.is_err());
        let settled = ctx.complete(&old).await;
        assert_eq!(settled.dispatch.phase.reason(), Some(reason));
        assert_eq!((settled.task.state, settled.task.not_before), (State::Queued, None), "{reason}");
        ctx.complete(&ctx.claim().await).await;
    }
}

pub(crate) async fn a_task_closed_by_a_person_stays_closed(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    let closed = ctx.apply(task.number, Verb::Close).await;
    assert_eq!((closed.state, closed.completed_at), (State::Done, Some(ctx.now())));
    let settled = ctx.fail(&claimed, FailureClass::ExecutionFailed).await;
    assert_eq!((settled.verdict, settled.task.state), (Verdict::Accepted, State::Done));
    assert_eq!(settled.dispatch.phase.reason(), Some(Reason::UserCanceled));
}

pub(crate) async fn a_person_may_cancel_what_they_hold_while_it_is_ending(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let request = ClaimRequest { caller: person(), ..ctx.request("") };
    let claimed = ctx.claim_with(request).await.unwrap().unwrap();
    ctx.terminate(&claimed.dispatch, Reason::CooperativePreemption).await;
    let patched = ctx.ask(person(), task.number, Status::Canceled).await.unwrap();
    assert_eq!(patched.task.state, State::Canceled);
    let known = ctx.heartbeat(&claimed.dispatch).await.dispatch;
    assert_eq!(known.phase.reason(), Some(Reason::CooperativePreemption));
}

pub(crate) async fn a_holder_that_cancels_is_done_at_once(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    let patched = ctx.ask(agent("a"), task.number, Status::Canceled).await.unwrap();
    assert_eq!((patched.task.state, patched.dispatch), (State::Canceled, None));
    let known = ctx.heartbeat(&claimed.dispatch).await.dispatch;
    assert!(matches!(known.phase, Phase::Closed { reason: Some(Reason::UserCanceled), .. }));
}

pub(crate) async fn o6_what_is_finished_leaves_only_by_reopen_and_retry(ctx: &TestStore) {
    for state in [State::Done, State::Canceled, State::Failed, State::TimedOut] {
        let before = super::tasks::task_in(ctx, state).await.unwrap();
        for caller in [agent("a"), Caller::Anonymous] {
            for verb in [Verb::Admit, Verb::Park, Verb::Cancel, Verb::Reopen, Verb::Retry, Verb::Close] {
                assert!(ctx.try_move(caller.clone(), before.number, verb).await.is_err(), "{state} {verb}");
            }
        }
        for verb in [Verb::Admit, Verb::Park, Verb::Close, Verb::Approve] {
            assert!(ctx.try_move(person(), before.number, verb).await.is_err(), "{state} {verb}");
        }
        assert_eq!(ctx.get(before.number).await, before);
        ctx.delete(before.number).await;
    }
}
