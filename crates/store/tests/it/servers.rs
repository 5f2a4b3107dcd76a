//! What only PostgreSQL has: many servers, and transactions that overlap.

use std::sync::Arc;
use std::time::Duration;

use extraboard_core::gate::Nothing;
use extraboard_core::id::Pos;
use extraboard_core::state::State;
use extraboard_store::Store;
use extraboard_store::verbs::Sequence;
use sqlx::Executor as _;

use crate::database::{Database, connect};
use crate::harness::{TestStore, opening};

const STUCK_AFTER: Duration = Duration::from_secs(20);

/// Looks until some session waits for a lock.
async fn until_somebody_waits(database: &Database) {
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
       WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while database.raw_int(waiting).await == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_misses_no_event_though_writers_commit_out_of_order() {
    let ctx = TestStore::postgres().await;
    let first = ctx.add("first").await;
    let mut slow = connect(ctx.database.url()).await;
    slow.execute("BEGIN").await.unwrap();
    slow.execute(
        "INSERT INTO event (type, task, actor, at, data) VALUES ('task.edited', 1, 'slow', 1, '{}')",
    )
    .await
    .unwrap();
    let second = ctx.add("second").await;
    let seen = ctx.events().await;
    assert_eq!(
        seen.iter().map(|event| event.task).collect::<Vec<_>>(),
        [Some(first.number), Some(second.number)]
    );
    slow.execute("COMMIT").await.unwrap();
    ctx.add("third").await;
    ctx.sequence().await;
    let rest = ctx.events_after(seen.last().unwrap().pos).await;
    let actors: Vec<_> = rest.iter().map(|event| (event.pos, event.actor.as_str())).collect();
    assert_eq!(actors, [(Pos(3), "slow"), (Pos(4), "person:ann")]);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_servers_hear_of_new_positions() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    let mut listener = other.listen().await.unwrap();
    ctx.add("t").await;
    one.write(Sequence).await.unwrap();
    tokio::time::timeout(STUCK_AFTER, listener.heard()).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_passes_over_what_is_being_written() {
    let ctx = TestStore::postgres().await;
    let [head, next] = [ctx.add("head").await, ctx.add("next").await];
    let mut writer = connect(ctx.database.url()).await;
    writer.execute("BEGIN").await.unwrap();
    writer.execute("SELECT 1 FROM task WHERE number = 1 FOR UPDATE").await.unwrap();
    assert_eq!(ctx.claim().await.task.number, next.number);
    writer.execute("ROLLBACK").await.unwrap();
    assert_eq!(ctx.claim().await.task.number, head.number);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_passes_over_many_that_are_being_written() {
    let ctx = TestStore::postgres().await;
    for number in 1..=12 {
        ctx.add(&format!("task {number}")).await;
    }
    let mut writer = connect(ctx.database.url()).await;
    writer.execute("BEGIN").await.unwrap();
    writer.execute("SELECT 1 FROM task WHERE number <= 10 FOR UPDATE").await.unwrap();
    assert_eq!(ctx.claim().await.task.number.0, 11);
    assert_eq!(ctx.claim().await.task.number.0, 12);
    writer.execute("ROLLBACK").await.unwrap();
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
    let store = Arc::clone(&ctx.store);
    let batch = ctx.batch(vec![ctx.request("a")]);
    let claim = tokio::spawn(async move { store.write(batch).await.unwrap().pop().unwrap().unwrap() });
    until_somebody_waits(&ctx.database).await;
    writer.execute("DELETE FROM line WHERE task = 1").await.unwrap();
    writer.execute("UPDATE task SET state = 'backlog', queued_at = NULL; COMMIT").await.unwrap();
    assert_eq!(claim.await.unwrap().unwrap_err(), Nothing::Empty);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_waited_hands_out_what_is_still_in_line() {
    let ctx = TestStore::postgres().await;
    ctx.add("only").await;
    let mut writer = connect(ctx.database.url()).await;
    writer.execute("BEGIN").await.unwrap();
    writer.execute("UPDATE task SET title = 'edited' WHERE number = 1").await.unwrap();
    let store = Arc::clone(&ctx.store);
    let batch = ctx.batch(vec![ctx.request("a")]);
    let claim = tokio::spawn(async move { store.write(batch).await.unwrap().pop().unwrap().unwrap() });
    until_somebody_waits(&ctx.database).await;
    writer.execute("COMMIT").await.unwrap();
    let claimed = claim.await.unwrap().unwrap();
    assert_eq!((claimed.task.title.as_str(), claimed.task.state), ("edited", State::Running));
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_servers_migrate_one_empty_database_at_once() {
    let database = Database::postgres();
    let openings: Vec<_> = (0..4)
        .map(|_| {
            let url = database.url().to_owned();
            tokio::spawn(async move { Store::open(&url, &opening("a server")).await.map(drop) })
        })
        .collect();
    for opened in openings {
        opened.await.unwrap().unwrap();
    }
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM sequencer").await, 1);
}
