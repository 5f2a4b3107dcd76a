//! Resources: issues, and the prompts of what the session holds.

use rmcp::model::{ReadResourceRequestParams, ResourceContents};
use serde_json::Value;

use super::client::{Endpoint, Session, none, stdio};
use super::desk::FakeDesk;

async fn read(session: &Session, uri: &str) -> Result<(String, String), String> {
    let read = session.client.read_resource(ReadResourceRequestParams::new(uri)).await;
    let contents = read.map_err(|error| error.to_string())?.contents.remove(0);
    match contents {
        ResourceContents::TextResourceContents { mime_type, text, .. } => Ok((mime_type.unwrap(), text)),
        other => panic!("{other:?}"),
    }
}

async fn check_resources(session: &Session) {
    let templates = session.client.list_all_resource_templates().await.unwrap();
    let templates: Vec<&str> = templates.iter().map(|template| template.uri_template.as_str()).collect();
    assert_eq!(templates, ["extraboard://issues/{number}", "extraboard://dispatches/{id}/prompt"]);
    assert!(session.client.list_all_resources().await.unwrap().is_empty());

    let (mime_type, text) = read(session, "extraboard://issues/9").await.unwrap();
    assert_eq!(mime_type, "application/json");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["number"], 9);
    let error = read(session, "extraboard://dispatches/d1/prompt").await.unwrap_err();
    assert!(error.contains("this session does not hold dispatch d1"), "{error}");

    session.call("claim", none()).await;
    let (mime_type, text) = read(session, "extraboard://dispatches/d1/prompt").await.unwrap();
    assert_eq!((mime_type.as_str(), text.as_str()), ("text/markdown", "# Do it"));
    let listed = session.client.list_all_resources().await.unwrap();
    let listed: Vec<&str> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(listed, ["extraboard://issues/41", "extraboard://dispatches/d1/prompt"]);

    let error = read(session, "file:///etc/passwd").await.unwrap_err();
    assert!(error.contains("there is no resource `file:///etc/passwd`: expected"), "{error}");
}

#[tokio::test]
async fn resources_are_read_over_both_transports() {
    let desk = FakeDesk::start().await;
    check_resources(&stdio(&desk).await.session).await;
    let desk = FakeDesk::start().await;
    check_resources(&Endpoint::start(&desk).await.session("curly").await).await;
}
