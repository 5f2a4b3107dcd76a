//! What is peculiar to HTTP: who the caller is, whose a session is, and which hosts and versions are served.

use std::collections::HashMap;

use extraboard_mcp::HttpSettings;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

use super::client::{Endpoint, Session, http, none};
use super::desk::FakeDesk;

const CLAIM: &str = "POST /api/dispatch/next";

/// Posts a message by hand, and returns the session's id and what stands in the event stream.
async fn post(
    endpoint: &Endpoint,
    headers: &[(&'static str, &str)],
    message: &Value,
) -> (u16, String, String) {
    let mut request = http(&endpoint.url)
        .post(&endpoint.url)
        .header("accept", "application/json, text/event-stream")
        .json(message);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    let id = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    (response.status().as_u16(), id.unwrap_or_default(), response.text().await.unwrap())
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }})
}

fn call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

#[tokio::test]
async fn a_session_acts_as_whoever_asks() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    endpoint.session("moe").await.call("claim", none()).await;
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.clone()).auth_header("xba_1");
    let client = rmcp::ServiceExt::serve((), endpoint.transport(config)).await.unwrap();
    Session { client }.call("claim", none()).await;
    let seen = desk.seen(CLAIM);
    assert_eq!((seen[0].agent.as_deref(), seen[0].token.as_deref()), (Some("moe"), None));
    assert_eq!((seen[1].agent.as_deref(), seen[1].token.as_deref()), (None, Some("xba_1")));
}

#[tokio::test]
async fn sessions_do_not_see_what_others_hold() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let (one, two) = (endpoint.session("curly").await, endpoint.session("curly").await);
    one.call("claim", none()).await;
    assert_eq!(two.call("queue", none()).await.orders(), &json!([]));
    assert_eq!(two.refused("complete", none()).await.code(), "nothing_held");
    assert_eq!(two.refused("complete", json!({"dispatch": "d1"})).await.code(), "not_held");
    assert!(two.client.list_all_resources().await.unwrap().is_empty());
    assert_eq!(one.call("queue", none()).await.orders()[0]["dispatch"], "d1");
}

#[tokio::test]
async fn a_session_belongs_to_the_caller_who_uses_it_first() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let (status, id, _) = post(&endpoint, &[("x-agent-id", "curly")], &initialize()).await;
    assert_eq!(status, 200);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let curly = [("x-agent-id", "curly"), ("mcp-session-id", id.as_str())];
    assert_eq!(post(&endpoint, &curly, &initialized).await.0, 202);
    let (_, _, claimed) = post(&endpoint, &curly, &call("claim")).await;
    assert!(claimed.contains("Do task 41."), "{claimed}");
    let moe = [("x-agent-id", "moe"), ("mcp-session-id", id.as_str())];
    let (_, _, refused) = post(&endpoint, &moe, &call("complete")).await;
    assert!(refused.contains("other_caller") && !refused.contains("d1"), "{refused}");
    assert!(desk.seen("POST /api/dispatches/d1/complete").is_empty());
}

#[tokio::test]
async fn a_server_reached_by_another_name_answers() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let headers = [("host", "desk.example.org"), ("origin", "https://desk.example.org")];
    assert_eq!(post(&endpoint, &headers, &initialize()).await.0, 200);
}

#[tokio::test]
async fn a_request_without_a_session_claims_nothing() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    for version in ["2025-11-25", "2026-07-28"] {
        let said = claim_without_session(&endpoint, version).await;
        assert!(said.contains("no_session"), "{said}");
    }
    assert!(desk.seen(CLAIM).is_empty());
}

async fn claim_without_session(endpoint: &Endpoint, version: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let mut message = call("claim");
    message["params"]["_meta"] = meta;
    let headers = [
        ("mcp-protocol-version", version),
        ("x-agent-id", "curly"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "claim"),
    ];
    post(endpoint, &headers, &message).await.2
}

#[tokio::test]
async fn a_client_of_a_newer_protocol_falls_back_to_one_with_sessions() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::start(&desk).await;
    let headers = [("x-agent-id".parse().unwrap(), "curly".parse().unwrap())];
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.clone());
    let config = config.custom_headers(HashMap::from_iter(headers));
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let client = ().serve_with_lifecycle(endpoint.transport(config), lifecycle).await.unwrap();
    let session = Session { client };
    session.call("claim", none()).await;
    session.call("complete", none()).await;
}

#[tokio::test]
async fn there_are_no_more_sessions_than_there_may_be() {
    let desk = FakeDesk::start().await;
    let settings = HttpSettings { session_count_max: 1, ..HttpSettings::new(desk.url.clone()) };
    let endpoint = Endpoint::with(settings).await;
    assert_eq!(post(&endpoint, &[], &initialize()).await.0, 200);
    assert_eq!(post(&endpoint, &[], &initialize()).await.0, 500);
}
