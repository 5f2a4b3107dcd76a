//! Claims beside writers that hold what stands in line.

use extraboard_core::gate::{Limits, Nothing};
use extraboard_core::id::TaskRef;
use extraboard_core::state::{State, Verb};
use extraboard_core::status::Status;
use extraboard_store::error::Error;
use extraboard_store::verbs::{Claimed, TaskEdit, TaskMove};
use sqlx::Executor as _;

use super::{EVENTS, Hold, begin, finished, until_waiting, until_waiting_or};
use crate::database::connect;
use crate::harness::{Answer, TestStore, agent, person};

/// Returns the answer to the only request of a batch.
fn only(answers: Result<Vec<Answer>, Error>) -> Result<Claimed, Nothing> {
    answers.unwrap().pop().unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_passes_over_what_is_being_written() {
    let ctx = TestStore::postgres().await;
    let [head, next] = [ctx.add("head").await, ctx.add("next").await];
    let writer = Hold::of_task(&ctx, head.number).await;
    assert_eq!(ctx.claim().await.task.number, next.number);
    writer.let_go().await;
    assert_eq!(ctx.claim().await.task.number, head.number);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_passes_over_many_that_are_being_written() {
    let ctx = TestStore::postgres().await;
    for number in 1..=12 {
        ctx.add(&format!("task {number}")).await;
    }
    let writer = Hold::of(&ctx, "SELECT 1 FROM task WHERE number <= 10 FOR UPDATE").await;
    assert_eq!(ctx.claim().await.task.number.0, 11);
    assert_eq!(ctx.claim().await.task.number.0, 12);
    writer.let_go().await;
    assert_eq!(ctx.claim().await.task.number.0, 1);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_waits_for_a_task_does_not_hold_its_place_in_line() {
    let ctx = TestStore::postgres().await;
    ctx.add("only").await;
    let mut writer = connect(ctx.database.url()).await;
    writer.execute("BEGIN; SET LOCAL lock_timeout = '500ms'").await.unwrap();
    writer.execute("SELECT 1 FROM task WHERE number = 1 FOR UPDATE").await.unwrap();
    let claim = begin(&ctx.store, ctx.batch(vec![ctx.request("a")]));
    until_waiting(&ctx.database, 1).await;
    writer.execute("DELETE FROM line WHERE task = 1").await.unwrap();
    writer.execute("UPDATE task SET state = 'backlog', queued_at = NULL; COMMIT").await.unwrap();
    assert_eq!(only(finished(claim).await).unwrap_err(), Nothing::Empty);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_waited_hands_out_what_is_still_in_line() {
    let ctx = TestStore::postgres().await;
    ctx.add("only").await;
    let mut writer = connect(ctx.database.url()).await;
    writer.execute("BEGIN").await.unwrap();
    writer.execute("UPDATE task SET title = 'edited' WHERE number = 1").await.unwrap();
    let claim = begin(&ctx.store, ctx.batch(vec![ctx.request("a")]));
    until_waiting(&ctx.database, 1).await;
    writer.execute("COMMIT").await.unwrap();
    let claimed = only(finished(claim).await).unwrap();
    assert_eq!((claimed.task.title.as_str(), claimed.task.state), ("edited", State::Running));
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_before_a_claim_leaves_nothing_to_claim() {
    let ctx = TestStore::postgres().await;
    let task = ctx.add("only").await.number;
    let [one, other] = ctx.replicas().await;
    let events = Hold::of(&ctx, EVENTS).await;
    let cancel = TaskMove { ctx: ctx.ctx(person()), task: TaskRef::Number(task), verb: Verb::Cancel };
    let cancel = begin(&one, cancel);
    until_waiting(&ctx.database, 1).await;
    let claim = begin(&other, ctx.batch(vec![ctx.request("a")]));
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    finished(cancel).await.unwrap();
    assert_eq!(only(finished(claim).await).unwrap_err(), Nothing::Empty);
    assert_eq!((ctx.get(task).await.state, ctx.get(task).await.fence.0), (State::Canceled, 0));
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_after_a_claim_ends_its_dispatch() {
    let ctx = TestStore::postgres().await;
    let task = ctx.add("only").await.number;
    let [one, other] = ctx.replicas().await;
    let events = Hold::of(&ctx, EVENTS).await;
    let claim = begin(&one, ctx.batch(vec![ctx.request("a")]));
    until_waiting(&ctx.database, 1).await;
    let cancel = TaskMove { ctx: ctx.ctx(person()), task: TaskRef::Number(task), verb: Verb::Cancel };
    let cancel = begin(&other, cancel);
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    let claimed = only(finished(claim).await).unwrap();
    assert_eq!(finished(cancel).await.unwrap().task.state, State::Canceled);
    assert_eq!(ctx.complete(&claimed).await.task.state, State::Canceled);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_is_counted_under_the_lock_of_claims() {
    for asks_by_name in [false, true] {
        let ctx = TestStore::postgres().await;
        let [_, second] = [ctx.add("first").await.number, ctx.add("second").await.number];
        ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
        let [one, other] = ctx.replicas().await;
        let events = Hold::of(&ctx, EVENTS).await;
        let first = begin(&one, ctx.batch(vec![ctx.request("a")]));
        until_waiting(&ctx.database, 1).await;
        if asks_by_name {
            let patch = ctx.patching(agent("b"), second, TaskEdit::default(), Some(Status::InProgress));
            let patch = begin(&other, patch);
            until_waiting(&ctx.database, 2).await;
            events.let_go().await;
            let refused = finished(patch).await.unwrap_err();
            assert!(matches!(refused, Error::NotReady { .. }), "{refused}");
        } else {
            let claim = begin(&other, ctx.batch(vec![ctx.request("b")]));
            until_waiting(&ctx.database, 2).await;
            events.let_go().await;
            assert_eq!(only(finished(claim).await).unwrap_err(), Nothing::Limit);
        }
        only(finished(first).await).unwrap();
        ctx.audit().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_beside_one_that_asks_by_name_counts_it() {
    let ctx = TestStore::postgres().await;
    let [_, second] = [ctx.add("first").await.number, ctx.add("second").await.number];
    ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
    let [one, other] = ctx.replicas().await;
    let events = Hold::of(&ctx, EVENTS).await;
    let patch = ctx.patching(agent("b"), second, TaskEdit::default(), Some(Status::InProgress));
    let patch = begin(&one, patch);
    until_waiting(&ctx.database, 1).await;
    let claim = begin(&other, ctx.batch(vec![ctx.request("a")]));
    until_waiting_or(&ctx.database, 2, &claim).await;
    events.let_go().await;
    assert!(finished(patch).await.unwrap().opened.is_some());
    assert_eq!(only(finished(claim).await).unwrap_err(), Nothing::Limit);
    ctx.audit().await;
}
