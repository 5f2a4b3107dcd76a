//! What happens by itself with time.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::doors::Door;
use extraboard_core::gate::{Claimer, Nothing};
use extraboard_core::state::State;
use extraboard_store::verbs::{Claimed, DispatchHeartbeat, Queue, QueueScope, TaskDraft, Usage};

use crate::harness::{LEASE, TestDesk};

fn later(t: &TestDesk, title: &str, wait: Span) -> TaskDraft {
    TaskDraft { not_before: Some(t.desk.now().plus(wait)), ..TaskDraft::new(title) }
}

pub(crate) async fn a_task_joins_the_line_when_its_moment_comes(mut t: TestDesk) {
    let task = t.add_draft(later(&t, "later", Span::from_secs(30))).await;
    assert_eq!(t.claim("a").await.unwrap_err(), Nothing::NotBefore);
    t.pass(Span::from_secs(30)).await;
    assert_eq!(t.view(&task).await.task.not_before, None);
    assert_eq!(t.claim("a").await.unwrap().task.number, task.number);
}

pub(crate) async fn the_queue_shows_what_is_due_without_waiting_for_a_timer(t: TestDesk) {
    let task = t.add_draft(later(&t, "later", Span::from_secs(30))).await;
    let claimer = Claimer::anyone("anonymous", Door::Pull);
    let now = t.desk.now();
    let queue = Queue { claimer, scope: QueueScope::Open, offset: 0, limit: 10, now };
    assert_eq!(t.desk.queue(queue.clone()).await.unwrap().total, 0);
    t.clock.step(Span::from_secs(30));
    assert_eq!(t.desk.queue(queue).await.unwrap().entries[0].task.number, task.number);
}

pub(crate) async fn a_lease_ends_when_its_holder_is_silent(mut t: TestDesk) {
    let task = t.add("forgotten").await;
    t.claim("a").await.unwrap();
    t.pass(LEASE).await;
    let view = t.view(&task).await;
    assert_eq!((view.task.state, view.task.counters.lost), (State::Queued, 1));
    assert_eq!(t.claim("b").await.unwrap().dispatch.fence.0, 2);
}

pub(crate) async fn o4_a_clock_that_jumps_ends_no_lease_early(mut t: TestDesk) {
    let task = t.add("held").await;
    let claimed = t.claim("a").await.unwrap();
    for jump in [Span::from_days(1), Span::from_days(-2)] {
        t.clock.step(jump);
        t.turn().await;
        assert_eq!(t.view(&task).await.task.state, State::Running, "{jump:?}");
        heartbeat(&t, &claimed).await;
    }
    t.pass(LEASE).await;
    assert_eq!(t.view(&task).await.task.state, State::Queued);
}

pub(crate) async fn a_desk_that_was_down_hears_heartbeats_before_it_ends_leases(mut t: TestDesk) {
    let task = t.add("held").await;
    let claimed = t.claim("a").await.unwrap();
    t.clock.step(Span::from_days(1));
    let mut t = t.restart().await;
    t.turn().await;
    t.pass(Span::from_secs(15)).await;
    heartbeat(&t, &claimed).await;
    t.pass(Span::from_secs(15)).await;
    let view = t.view(&task).await;
    assert_eq!((view.task.state, view.task.fence), (State::Running, claimed.dispatch.fence));
}

async fn heartbeat(t: &TestDesk, claimed: &Claimed) {
    let ctx = t.desk.ctx(Caller::Agent("a".to_owned()));
    let usage = Usage::default();
    t.desk.write(DispatchHeartbeat { ctx, dispatch: claimed.dispatch.id, usage }).await.unwrap();
}
