//! The loop: claim, go on, end.

use extraboard_mcp::serve;
use rmcp::model::ProtocolVersion;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;

use super::client::{Endpoint, Session, none, settings, stdio};
use super::desk::{Answer, FakeDesk};

async fn check_loop(desk: &FakeDesk, session: &Session) {
    let claimed = session.call("claim", json!({"project": "apollo", "capabilities": ["rust", "gpu"]})).await;
    assert_eq!(claimed.data["claimed"], true);
    assert_eq!(claimed.data["dispatch"], json!({"id": "d1", "attempt": 1, "leaseSeconds": 3600}));
    assert_eq!(claimed.data["prompt"], "Do task 41.");
    assert!(claimed.text.contains("You hold task #41") && claimed.text.contains("Do task 41."));
    assert!(!claimed.text.contains("xbd_") && !claimed.data.to_string().contains("xbd_"));
    let order = json!({"dispatch": "d1", "number": 41, "order": "continue", "reason": null, "held": true});
    assert_eq!(claimed.orders(), &json!([order]));
    assert!(claimed.text.ends_with("- #41 (dispatch d1): order: continue"), "{}", claimed.text);
    let seen = &desk.seen("POST /api/dispatch/next")[0];
    assert!(seen.line.contains("projectId=apollo&capabilities=rust%2Cgpu"), "{}", seen.line);
    assert_eq!((seen.agent.as_deref(), seen.token.as_deref()), (Some("curly"), None));

    let beat = session.call("heartbeat", json!({"costUsd": 0.5, "tokens": {"input": 1, "output": 2}})).await;
    assert_eq!(beat.data["leaseSeconds"], 3600);
    session.call("progress", json!({"progress": {"percent": 60}})).await;
    let beats = desk.seen("POST /api/dispatches/d1/heartbeat");
    assert_eq!(beats[0].body, json!({"costUsd": 0.5, "tokens": {"input": 1, "output": 2}}));
    assert_eq!(beats[1].body, json!({"progress": {"percent": 60}}));
    assert_eq!((beats[0].token.as_deref(), beats[0].agent.as_deref()), (Some("xbd_1"), None));

    let done = session.call("complete", json!({"agentSummary": "Done.", "commits": [{"sha": "abc"}]})).await;
    assert_eq!(done.data["issue"]["status"], "done");
    assert_eq!(done.orders(), &json!([]));
    let seen = &desk.seen("POST /api/dispatches/d1/complete")[0];
    assert_eq!(seen.body, json!({"agentSummary": "Done.", "commits": [{"sha": "abc"}]}));
    assert_eq!(session.refused("heartbeat", none()).await.code(), "nothing_held");
}

#[tokio::test]
async fn the_whole_loop_over_stdio() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    check_loop(&desk, &stdio.session).await;
    assert!(desk.seen("POST /api/dispatch/next")[0].line.contains("adapter=claude"));
}

#[tokio::test]
async fn the_whole_loop_over_http() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    check_loop(&desk, &endpoint.session("curly").await).await;
}

#[tokio::test]
async fn the_whole_loop_over_stdio_without_a_handshake() {
    let desk = FakeDesk::start().await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(serve(settings(&desk), reader, writer, std::future::pending()));
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = ().serve_with_lifecycle(ours, lifecycle).await.unwrap();
    check_loop(&desk, &Session { client }).await;
}

#[tokio::test]
async fn nothing_to_do_says_why() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    desk.once("POST /api/dispatch/next", Answer::Nothing("held"));
    let said = stdio.session.call("claim", json!({"waitSeconds": 5})).await;
    assert_eq!((&said.data["claimed"], &said.data["reason"]), (&json!(false), &json!("held")));
    assert!(said.text.starts_with("Nothing to do now: held"), "{}", said.text);
    assert!(desk.seen("POST /api/dispatch/next")[0].line.contains("wait=5s"));
}

#[tokio::test]
async fn several_dispatches_are_named_in_reports() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    let second = session.call("claim", none()).await;
    assert!(second.text.contains("You already held #41"), "{}", second.text);
    assert_eq!(second.orders().as_array().unwrap().len(), 2);
    let said = session.refused("complete", none()).await;
    assert_eq!(said.code(), "which_dispatch");
    assert!(said.text.contains("#41 (d1), #42 (d2)"), "{}", said.text);
    assert_eq!(session.refused("complete", json!({"number": 7})).await.code(), "not_held");
    assert_eq!(session.refused("complete", json!({"number": 41, "dispatch": "d2"})).await.code(), "not_held");
    session.call("release", json!({"number": 42})).await;
    session.call("fail", json!({"dispatch": "d1", "error": "no", "class": "setup", "retryAfter": 5})).await;
    assert_eq!(desk.seen("POST /api/dispatches/d2/release").len(), 1);
    let failed = &desk.seen("POST /api/dispatches/d1/fail")[0];
    assert_eq!(failed.body, json!({"error": "no", "class": "setup", "retryAfter": 5}));
}

#[tokio::test]
async fn a_question_ends_the_work() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    let said = session.call("ask", json!({"question": "Which?"})).await;
    assert_eq!(
        said.text,
        "#41 is waiting for an answer; its status is blocked. It is not in your hands any more."
    );
    assert_eq!(desk.seen("POST /api/dispatches/d1/ask")[0].body, json!({"question": "Which?"}));
    assert_eq!(said.orders(), &json!([]));
}

#[tokio::test]
async fn a_stale_report_says_to_stop_and_is_not_held_any_more() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    let stale = json!({"error": "Dispatch d1 was superseded.", "code": "stale_dispatch", "order": "stop"});
    desk.once("POST /api/dispatches/d1/complete", Answer::Json(409, stale));
    let said = session.refused("complete", none()).await;
    assert_eq!((said.code(), said.orders()), ("stale_dispatch", &json!([])));
    assert!(said.text.starts_with("Dispatch d1 was superseded. (stale_dispatch). The task is not yours"));
    assert_eq!(session.refused("release", none()).await.code(), "nothing_held");
}

#[tokio::test]
async fn a_report_that_did_not_get_through_may_be_repeated() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    let down = json!({"error": "The database does not answer.", "code": "unavailable"});
    desk.once("POST /api/dispatches/d1/complete", Answer::Json(503, down));
    let said = session.refused("complete", none()).await;
    assert_eq!(said.orders()[0]["order"], "continue");
    session.call("complete", none()).await;
}
