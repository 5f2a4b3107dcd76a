//! The end of a session, with the order of events in the test's hands.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use axum::extract::State as Shared;
use axum::http::Uri;
use axum::{Json, Router};
use extraboard_api::client::Credentials;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::*;
use crate::server::{Server, Sessions};

/// How long the test waits for something to happen before it gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A desk that answers nothing until it is told to.
#[derive(Debug, Default)]
struct SlowDesk {
    asked: Notify,
    told: Notify,
    answered: AtomicUsize,
}

impl SlowDesk {
    async fn start() -> (Arc<Self>, String) {
        let desk = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&desk));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (desk, url)
    }
}

async fn answer(Shared(desk): Shared<Arc<SlowDesk>>, uri: Uri) -> Json<Value> {
    assert_eq!(uri.path(), "/api/dispatches/d1/release");
    desk.asked.notify_one();
    desk.told.notified().await;
    desk.answered.fetch_add(1, Ordering::SeqCst);
    Json(json!({"order": "continue", "reason": null, "leaseSeconds": null, "issue": issue()}))
}

fn issue() -> Value {
    json!({
        "id": "uuid-41", "number": 41, "title": "Task 41", "type": "code", "status": "todo", "state": "queued",
        "priority": 3, "priorityValue": 50, "maxRetries": 3, "attempt": 1, "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z"
    })
}

/// Returns a session that holds dispatch `d1`.
async fn holding(url: String) -> Arc<Session> {
    let client = Client::new(&url, &Credentials::Anonymous).unwrap();
    let session = Session::new(Desk::own(url, client.clone()), ClaimerQuery::default(), Beats::Background);
    let next = json!({
        "issue": issue(), "prompt": null, "meta": null,
        "dispatch": {"id": "d1", "attempt": 1, "fence": 1, "token": "xbd_1", "leaseSeconds": 3600}
    });
    let claimed = Claim::Work(serde_json::from_value(next).unwrap());
    let claim = std::future::ready(Ok(claimed));
    session.claim(&client, &CancellationToken::new(), claim).await.unwrap();
    session
}

#[tokio::test]
async fn whoever_ends_a_session_second_waits_for_the_first() {
    let (desk, url) = SlowDesk::start().await;
    let session = holding(url).await;
    drop(Server::new(Arc::clone(&session), None, Sessions::Connection));
    timeout(PATIENCE, desk.asked.notified()).await.unwrap();
    assert!(!session.is_holding(), "the first has taken everything out of the session's hands");

    let mut second = pin!(session.close());
    let polled = second.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "the second went ahead while the release was under way");
    desk.told.notify_one();
    timeout(PATIENCE, second).await.unwrap();
    assert_eq!(desk.answered.load(Ordering::SeqCst), 1);
}
