//! `/health` after a write that failed, though the database has long been back.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_store::error::Error;
use extraboard_store::verbs::TaskDelete;
use serde_json::{Value, json};

use crate::harness::TestServer;

fn ok() -> (u16, Value) {
    (200, json!({"status": "ok"}))
}

fn unavailable() -> (u16, Value) {
    (503, json!({"status": "unavailable", "error": "the database does not take writes"}))
}

/// Writes something of which the database does not say whether it took it.
async fn fail_to_write(server: &TestServer) {
    server.relay.lose_next_commit();
    let added = server.add("unconfirmed").await;
    assert!(matches!(added, Err(Error::Unavailable(_))), "{added:?}");
}

#[tokio::test]
async fn a_write_that_failed_is_remembered_for_ten_seconds() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/health").await, ok());
    fail_to_write(&server).await;
    assert_eq!(server.get("/health").await, unavailable());
    server.step(Span::from_micros(9_999_999));
    assert_eq!(server.get("/health").await, unavailable(), "to ask is not to write");
    server.step(Span::from_micros(1));
    assert_eq!(server.get("/health").await, ok());
}

#[tokio::test]
async fn a_write_that_succeeds_makes_up_for_one_that_failed() {
    let server = TestServer::start().await;
    fail_to_write(&server).await;
    assert_eq!(server.get("/health").await, unavailable());
    server.add("confirmed").await.unwrap();
    assert_eq!(server.get("/health").await, ok());
}

#[tokio::test]
async fn a_write_that_was_refused_is_no_failure_of_the_database() {
    let server = TestServer::start().await;
    let (ctx, task) = (server.desk.ctx(Caller::Anonymous), TaskRef::Number(TaskNumber(9)));
    let refused = server.desk.write(TaskDelete { ctx, task }).await;
    assert!(matches!(refused, Err(Error::NoTask(_))), "{refused:?}");
    assert_eq!(server.get("/health").await, ok());
}
