//! Migrations: forward only, and never over a newer schema.

use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::TaskGet;

use crate::harness::{TestStore, opening};

/// Waits until nobody has the database open, then opens it again.
async fn reopen(ctx: TestStore) -> (crate::database::Database, Result<Store, Error>) {
    let TestStore { store, database, .. } = ctx;
    store.close().await;
    drop(store);
    let store = Store::open(database.url(), &opening("again")).await;
    (database, store)
}

pub(crate) async fn opening_again_keeps_everything(ctx: &TestStore) {
    let other = ctx.another().await;
    let task = other.add("t").await;
    let (database, store) = reopen(other).await;
    let kept = store.unwrap().read(TaskGet { task: TaskRef::Number(TaskNumber(1)) }).await.unwrap();
    assert_eq!(kept.task, task);
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 2);
}

pub(crate) async fn a_database_of_a_newer_version_is_refused_and_untouched(ctx: &TestStore) {
    let other = ctx.another().await;
    other.add("t").await;
    let newer = "INSERT INTO schema_migration (version, name, applied_at) VALUES (99, 'later', 1);
       DROP TABLE timer";
    other.database.raw(newer).await.unwrap();
    let (database, store) = reopen(other).await;
    let refused = store.unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 99, .. }));
    let message = refused.to_string();
    assert!(message.contains("schema version 99") && message.contains("newer xb"), "{message}");
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 3);
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM task").await, 1);
    assert!(database.raw("SELECT * FROM timer").await.is_err());
}

pub(crate) async fn a_migration_that_fails_leaves_nothing_behind(ctx: &TestStore) {
    let other = ctx.another().await;
    let clash = "DROP TABLE dispatch; DROP TABLE line; DELETE FROM schema_migration";
    other.database.raw(clash).await.unwrap();
    let (database, store) = reopen(other).await;
    assert!(matches!(store.unwrap_err(), Error::Broken(_)));
    assert!(database.raw("SELECT * FROM line").await.is_err());
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 0);
}
