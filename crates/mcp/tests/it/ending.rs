//! However a session ends, what it held is released.

use std::time::Duration;

use extraboard_mcp::{HttpSettings, serve};
use serde_json::json;

use super::client::{Endpoint, none, settings, stdio};
use super::desk::{Answer, FakeDesk, PATIENCE};

const CLAIM: &str = "POST /api/dispatch/next";

#[tokio::test]
async fn a_terminal_that_closes_gives_everything_back() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    stdio.session.call("claim", none()).await;
    stdio.session.call("claim", none()).await;
    drop(stdio.session);
    tokio::time::timeout(PATIENCE, stdio.server).await.unwrap().unwrap().unwrap();
    for (n, token) in [(1, "xbd_1"), (2, "xbd_2")] {
        let released = desk.seen(&format!("POST /api/dispatches/d{n}/release"));
        assert_eq!(released.len(), 1);
        assert_eq!(released[0].token.as_deref(), Some(token));
    }
}

#[tokio::test]
async fn a_caller_that_wants_it_to_end_gets_everything_back() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    stdio.session.call("claim", none()).await;
    stdio.stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, stdio.server).await.unwrap().unwrap().unwrap();
    assert_eq!(desk.seen("POST /api/dispatches/d1/release").len(), 1);
}

#[tokio::test]
async fn a_claim_that_waits_does_not_outlive_the_terminal() {
    let desk = FakeDesk::start().await;
    desk.once(CLAIM, Answer::Never);
    let stdio = stdio(&desk).await;
    let session = stdio.session;
    let waiting = tokio::spawn(async move { session.try_call("claim", json!({"waitSeconds": 60})).await });
    desk.wait_for(CLAIM, 1).await;
    waiting.abort();
    let _ = waiting.await;
    tokio::time::timeout(Duration::from_secs(4), stdio.server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_desk_that_does_not_answer_does_not_keep_the_process() {
    let desk = FakeDesk::start().await;
    desk.always("POST /api/dispatches/d1/release", Answer::Never);
    let stdio = stdio(&desk).await;
    stdio.session.call("claim", none()).await;
    drop(stdio.session);
    tokio::time::timeout(PATIENCE, stdio.server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn nobody_on_the_other_side_is_no_error() {
    let desk = FakeDesk::start().await;
    serve(settings(&desk), tokio::io::empty(), tokio::io::sink(), std::future::pending()).await.unwrap();
}

#[tokio::test]
async fn a_deleted_http_session_gives_everything_back() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let session = endpoint.session("curly").await;
    session.call("claim", none()).await;
    session.client.cancel().await.unwrap();
    let released = desk.wait_for("POST /api/dispatches/d1/release", 1).await;
    assert_eq!(released[0].token.as_deref(), Some("xbd_1"));
}

#[tokio::test]
async fn an_idle_http_session_gives_everything_back() {
    let desk = FakeDesk::start().await;
    let settings = HttpSettings { idle: Duration::from_secs(1), ..HttpSettings::new(desk.url.clone()) };
    let endpoint = Endpoint::with(settings).await;
    let session = endpoint.session("curly").await;
    session.call("claim", none()).await;
    desk.wait_for("POST /api/dispatches/d1/release", 1).await;
}

#[tokio::test]
async fn a_server_that_ends_gives_back_what_its_sessions_hold() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let (one, two) = (endpoint.session("curly").await, endpoint.session("moe").await);
    one.call("claim", none()).await;
    two.call("claim", none()).await;
    endpoint.service.close().await;
    assert_eq!(desk.seen("POST /api/dispatches/d1/release").len(), 1);
    assert_eq!(desk.seen("POST /api/dispatches/d2/release").len(), 1);
}
