//! Events and openings, with servers side by side.

use extraboard_core::id::Pos;
use extraboard_store::Store;
use extraboard_store::verbs::Sequence;
use sqlx::Executor as _;

use super::STUCK_AFTER;
use crate::database::{Database, connect};
use crate::harness::{TestStore, opening};

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
