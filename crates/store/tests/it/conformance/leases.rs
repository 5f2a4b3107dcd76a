//! Leases: who is heard of, who is told to end, and when the desk gives up on a holder.

use extraboard_core::clock::Span;
use extraboard_core::dispatch::{ENDING_LEASE, PULL_LEASE, Phase};
use extraboard_core::reason::Reason;
use extraboard_core::state::State;
use extraboard_store::verbs::{ClaimRequest, DueNext, TaskDraft, Terminated, Verdict};

use crate::harness::{START, TestStore};

pub(crate) async fn k2_the_first_reason_wins(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    let first = Reason::CooperativePreemption;
    assert_eq!(ctx.terminate(&claimed.dispatch, first).await, Terminated::Ending);
    for later in [Reason::Crash, Reason::HardCapExceeded, Reason::UserCanceled, Reason::TaskDeleted] {
        assert_eq!(ctx.terminate(&claimed.dispatch, later).await, Terminated::Already(first));
    }
    let settled = ctx.complete(&claimed).await;
    assert_eq!(settled.dispatch.phase.reason(), Some(first));
    assert_eq!(settled.task.state, State::Queued);
    assert_eq!(ctx.terminate(&claimed.dispatch, Reason::Crash).await, Terminated::Closed);
}

pub(crate) async fn terminate_leaves_at_most_a_minute(ctx: &TestStore) {
    ctx.add("long").await;
    let long = ctx.claim().await;
    ctx.terminate(&long.dispatch, Reason::AgentDrained).await;
    let told = ctx.heartbeat(&long.dispatch).await.dispatch;
    assert_eq!(told.lease_until, ctx.now().plus(ENDING_LEASE));

    ctx.add("short").await;
    let request = ClaimRequest { lease: Span::from_secs(20), ..ctx.request("a") };
    let short = ctx.claim_with(request).await.unwrap().unwrap();
    ctx.terminate(&short.dispatch, Reason::AgentDrained).await;
    assert_eq!(ctx.heartbeat(&short.dispatch).await.dispatch.lease_until, short.dispatch.lease_until);
}

pub(crate) async fn heartbeats_never_extend_an_ending_lease(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.terminate(&claimed.dispatch, Reason::CooperativePreemption).await;
    let end = ctx.now().plus(ENDING_LEASE);
    for _ in 0..5 {
        ctx.pass(Span::from_secs(10));
        let told = ctx.heartbeat(&claimed.dispatch).await;
        assert_eq!((told.verdict, told.dispatch.lease_until), (Verdict::Accepted, end));
        assert_eq!(told.dispatch.heartbeat_at, ctx.now());
    }
    assert_eq!(ctx.sweep().await, 0);
    ctx.pass(Span::from_secs(10));
    assert_eq!(ctx.sweep().await, 1);
    assert_eq!(ctx.get(claimed.task.number).await.state, State::Queued);
}

pub(crate) async fn heartbeats_renew_an_open_lease(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    for _ in 0..3 {
        ctx.pass(Span::from_mins(59));
        assert_eq!(ctx.heartbeat(&claimed.dispatch).await.verdict, Verdict::Accepted);
        assert_eq!(ctx.sweep().await, 0);
    }
    ctx.pass(Span::from_micros(PULL_LEASE.as_micros() - 1));
    assert_eq!(ctx.sweep().await, 0);
    ctx.pass(Span::from_micros(1));
    assert_eq!(ctx.sweep().await, 1);
}

pub(crate) async fn a_desk_that_was_down_longer_than_a_lease_hears_its_holders_first(ctx: &TestStore) {
    for title in ["alive", "silent"] {
        ctx.add(title).await;
    }
    let [alive, silent] = [ctx.claim().await, ctx.claim().await];
    ctx.pass(Span::from_mins(600));
    let back = ctx.now();
    assert_eq!(ctx.sweep_since(back).await, 0);
    ctx.pass(Span::from_mins(30));
    assert_eq!(ctx.sweep_since(back).await, 0);
    assert_eq!(ctx.heartbeat(&alive.dispatch).await.verdict, Verdict::Accepted);
    ctx.pass(Span::from_mins(30));
    assert_eq!(ctx.sweep_since(back).await, 1);
    assert_eq!(ctx.get(silent.task.number).await.state, State::Queued);
    assert_eq!(ctx.complete(&alive).await.task.state, State::Done);
}

pub(crate) async fn a_dispatch_told_to_end_gets_a_minute_of_grace_not_a_lease(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.terminate(&claimed.dispatch, Reason::CooperativePreemption).await;
    let back = ctx.now();
    ctx.pass(Span::from_secs(59));
    assert_eq!(ctx.sweep_since(back).await, 0);
    ctx.pass(Span::from_secs(1));
    assert_eq!(ctx.sweep_since(back).await, 1);
    assert_eq!(ctx.get(claimed.task.number).await.state, State::Queued);
}

pub(crate) async fn o4_a_clock_that_jumps_back_expires_nothing(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.pass(Span::from_days(-1));
    assert_eq!(ctx.sweep_since(START).await, 0);
    assert_eq!(ctx.heartbeat(&claimed.dispatch).await.verdict, Verdict::Accepted);
    ctx.pass(Span::from_mins(59));
    assert_eq!(ctx.sweep_since(START).await, 0);
    assert_eq!(ctx.complete(&claimed).await.task.state, State::Done);
}

pub(crate) async fn the_next_moment_is_the_next_timer_and_the_next_lease(ctx: &TestStore) {
    assert_eq!(ctx.store.read(DueNext).await.unwrap(), extraboard_store::verbs::Due::default());
    ctx.add("now").await;
    let lease = ctx.claim().await.dispatch.lease_until;
    let timer = ctx.now().plus(Span::from_secs(7));
    ctx.create(TaskDraft { not_before: Some(timer), ..TaskDraft::new("later") }).await;
    let due = ctx.store.read(DueNext).await.unwrap();
    assert_eq!((due.timer, due.lease), (Some(timer), Some(lease)));
}

pub(crate) async fn a_dispatch_ends_at_once_when_its_task_is_deleted(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.delete(task.number).await;
    let told = ctx.heartbeat(&claimed.dispatch).await;
    assert_eq!(told.dispatch.phase, Phase::Ending(Reason::TaskDeleted));
    assert_eq!(told.task.state, State::Canceled);
    let settled = ctx.complete(&claimed).await;
    assert_eq!((settled.verdict, settled.task.state), (Verdict::Accepted, State::Canceled));
    assert_eq!(settled.task.dispatch, None);
}
