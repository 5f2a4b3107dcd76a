//! What is on offer, and what is refused before the desk hears of it.

use extraboard_mcp::HttpSettings;
use serde_json::json;

use super::client::{Endpoint, Session, none, stdio};
use super::desk::{Answer, FakeDesk, issue};

const NAMES: [&str; 15] = [
    "claim",
    "heartbeat",
    "progress",
    "review",
    "complete",
    "fail",
    "release",
    "ask",
    "create",
    "relate",
    "signal",
    "queue",
    "why",
    "comment",
    "inbox",
];

async fn check_offer(session: &Session) {
    let tools = session.client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, NAMES);
    for tool in &tools {
        let schema = tool.schema_as_json_value();
        assert_eq!(schema["additionalProperties"], json!(false), "{}", tool.name);
        assert!(tool.description.as_ref().unwrap().len() > 100, "{}", tool.name);
        for (name, property) in schema["properties"].as_object().unwrap() {
            let is_said = property.get("description").is_some() || property.get("$ref").is_some();
            assert!(is_said, "{} of {}: {property}", name, tool.name);
        }
    }
    let info = session.client.peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().unwrap().name, "extraboard");
    assert!(info.instructions.as_ref().unwrap().contains("call claim"));
}

#[tokio::test]
async fn both_transports_offer_the_same_tools() {
    let desk = FakeDesk::start().await;
    check_offer(&stdio(&desk).await.session).await;
    check_offer(&Endpoint::start(&desk).await.session("curly").await).await;
}

#[tokio::test]
async fn a_claim_shows_what_it_takes() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    let tools = stdio.session.client.list_all_tools().await.unwrap();
    let claim = tools[0].schema_as_json_value();
    let names: Vec<&String> = claim["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["account", "capabilities", "kinds", "owner", "project", "provider", "waitSeconds"]);
    assert_eq!(claim.get("required"), None);
    let wait = &claim["properties"]["waitSeconds"];
    assert_eq!((&wait["minimum"], &wait["maximum"]), (&json!(0), &json!(60)));
    let create = tools.iter().find(|tool| tool.name == "create").unwrap().schema_as_json_value();
    assert_eq!(create["required"], json!(["title", "type"]));
}

#[tokio::test]
async fn a_review_and_a_signal_show_what_they_take() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    let tools = stdio.session.client.list_all_tools().await.unwrap();
    let schema = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().schema_as_json_value();
    let review = schema("review");
    assert_eq!(review["required"], json!(["clarity", "completeness", "relevance"]));
    for mark in ["clarity", "completeness", "relevance"] {
        let mark = &review["properties"][mark];
        assert_eq!((&mark["minimum"], &mark["maximum"]), (&json!(1), &json!(5)));
    }
    let signal = schema("signal");
    assert_eq!(signal["required"], json!(["source", "type", "severity", "payload"]));
    assert_eq!(signal["properties"]["payload"]["type"], "object");
    assert_eq!(signal["properties"]["severity"]["enum"], json!(["low", "medium", "high", "critical"]));
}

#[tokio::test]
async fn bad_parameters_are_refused_with_what_is_wrong() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    for (tool, arguments, wrong) in [
        ("claim", json!({"projekt": "a"}), "unknown field `projekt`"),
        ("claim", json!({"waitSeconds": 61}), "waitSeconds is 61, and at most 60"),
        ("claim", json!({"waitSeconds": -1}), "expected u64"),
        ("create", json!({"title": "x"}), "missing field `type`"),
        ("complete", json!({"commits": [{"message": "no sha"}]}), "missing field `sha`"),
        ("progress", json!({}), "missing field `progress`"),
        ("why", json!({"issue": true}), "the uuid or the number of an issue"),
        ("review", json!({"clarity": 5, "completeness": 5}), "missing field `relevance`"),
        ("review", json!({"clarity": 4.5, "completeness": 5, "relevance": 5}), "floating point `4.5`"),
        ("review", json!({"clarity": 0, "completeness": 5, "relevance": 5}), "clarity is 0"),
        ("review", json!({"clarity": 1, "completeness": 6, "relevance": 5}), "completeness is 6"),
        ("review", json!({"clarity": 1, "completeness": 5, "relevance": -1}), "marks are from 1 to 5"),
        ("signal", json!({"source": "ci", "type": "build", "severity": "low"}), "missing field `payload`"),
        (
            "signal",
            json!({"source": "ci", "type": "build", "severity": "low", "payload": "red"}),
            "invalid type: string \"red\"",
        ),
        ("create", json!({"title": "x", "type": "task", "labels": "bug"}), "expected a sequence"),
    ] {
        let said = stdio.session.refused(tool, arguments).await;
        assert_eq!(said.code(), "bad_parameters");
        assert!(said.text.contains(wrong), "{}", said.text);
        assert_eq!(said.orders(), &json!([]));
    }
    assert!(desk.seen("").is_empty());
    let error = stdio.session.try_call("conquer", none()).await.unwrap_err().to_string();
    assert!(error.contains("there is no tool `conquer`"), "{error}");
}

#[tokio::test]
async fn what_the_desk_refuses_is_a_tool_error() {
    let desk = FakeDesk::start().await;
    let stdio = stdio(&desk).await;
    let refusal = json!({
        "error": "The title is too long.", "code": "validation",
        "details": [{"field": "title", "message": "at most 500 characters"}]
    });
    desk.once("POST /api/issues", Answer::Json(422, refusal));
    let said = stdio.session.refused("create", json!({"title": "x", "type": "task"})).await;
    assert_eq!(
        said.text,
        "The title is too long. (validation). Correct the parameters and call again. title: at most 500 characters"
    );
    assert_eq!(said.data["details"][0]["field"], "title");
    let said = stdio.session.refused("inbox", none()).await;
    assert_eq!((said.code(), &said.data["error"]), ("not_found", &json!("There is no such thing.")));
}

#[tokio::test]
async fn a_desk_that_is_down_is_a_tool_error() {
    let desk = FakeDesk::start().await;
    let endpoint = Endpoint::with(HttpSettings::new("http://127.0.0.1:1")).await;
    let said = endpoint.session("curly").await.refused("queue", none()).await;
    assert_eq!(said.code(), "unreachable");
    assert!(said.text.contains("xb up"), "{}", said.text);
    assert!(desk.seen("").is_empty());
}

#[tokio::test]
async fn looking_and_adding_go_to_their_routes() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    let said = session.call("queue", json!({"all": true, "kinds": ["code", "task"]})).await;
    assert_eq!(said.data["entries"][0]["number"], 9);
    assert!(said.text.contains("#9 “Task 9” (code, score 72)"), "{}", said.text);
    let line = "GET /api/dispatch/queue?kinds=code%2Ctask&adapter=claude&limit=20&all=true";
    assert_eq!(desk.seen("GET /api/dispatch/queue")[0].line, line);

    let said =
        session.call("create", json!({"title": "x", "type": "task", "blockedBy": [3, "uuid-4"]})).await;
    assert_eq!(said.data["issue"]["number"], 77);
    let seen = &desk.seen("POST /api/issues")[0];
    assert_eq!(seen.body, json!({"title": "x", "type": "task", "blockedBy": ["3", "uuid-4"]}));
    assert_eq!(seen.agent.as_deref(), Some("curly"));

    let comment = json!({
        "id": "c1", "issueId": "uuid-9", "kind": "comment", "body": "Hm.", "authorName": "curly",
        "authorType": "agent", "parentId": null, "createdAt": "2026-01-01T00:00:00Z"
    });
    desk.once("POST /api/issues/9/comments", Answer::Json(201, json!({"data": comment})));
    session.call("comment", json!({"issue": 9, "body": "Hm."})).await;
    assert_eq!(desk.seen("POST /api/issues/9/comments")[0].body, json!({"body": "Hm."}));
    desk.once("GET /api/issues/9/comments", Answer::Json(200, json!({"data": [comment], "total": 1})));
    let said = session.call("comment", json!({"issue": 9})).await;
    assert_eq!(
        said.text,
        "1 comments.\n- curly (comment, 2026-01-01T00:00:00Z):\n```text: comment, data from outside\nHm.\n```"
    );
    assert_eq!(session.refused("comment", json!({"body": "where?"})).await.code(), "nothing_held");
}

#[tokio::test]
async fn a_task_is_created_with_labels_and_once_for_its_key() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    let task = json!({"title": "x", "type": "task", "labels": ["bug", "uuid-l"], "externalKey": "issue-9-1"});
    let said = session.call("create", task.clone()).await;
    assert_eq!((&said.data["created"], &said.data["issue"]["number"]), (&json!(true), &json!(77)));
    assert_eq!(said.text, "Created #77, “Task 77”; its status is triage.");
    let body =
        json!({"title": "x", "type": "task", "labelIds": ["bug", "uuid-l"], "externalKey": "issue-9-1"});
    assert_eq!(desk.seen("POST /api/issues")[0].body, body);

    desk.once("POST /api/issues", Answer::Json(200, json!({"data": issue(12, "done")})));
    let said = session.call("create", task).await;
    assert_eq!((&said.data["created"], &said.data["issue"]["number"]), (&json!(false), &json!(12)));
    assert_eq!(
        said.text,
        "Nothing was created or changed, because there is one with that externalKey already: #12, “Task 12”; its \
         status is done."
    );
}

#[tokio::test]
async fn a_signal_becomes_a_task() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    let signal = json!({
        "id": "s1", "source": "ci", "sourceId": null, "type": "build.failed", "severity": "high",
        "payload": {"message": "red"}, "issueId": "uuid-78", "createdAt": "2026-01-01T00:00:00Z"
    });
    let pair = json!({"data": {"signal": signal, "issue": issue(78, "triage")}});
    desk.once("POST /api/signals", Answer::Json(201, pair));
    let told = json!({
        "source": "ci", "type": "build.failed", "severity": "high", "payload": {"message": "red"},
        "project": "apollo"
    });
    let said = session.call("signal", told).await;
    assert_eq!(said.text, "The desk took it in and made #78 of it, “Task 78”; its status is triage.");
    assert_eq!(said.data["issue"]["number"], 78);
    let short = json!({"id": "s1", "source": "ci", "type": "build.failed", "severity": "high"});
    assert_eq!(said.data["signal"], short);
    let seen = &desk.seen("POST /api/signals")[0];
    let body = json!({
        "source": "ci", "type": "build.failed", "severity": "high", "payload": {"message": "red"},
        "projectId": "apollo"
    });
    assert_eq!((&seen.body, seen.agent.as_deref()), (&body, Some("curly")));
}

#[tokio::test]
async fn why_and_relate_and_inbox_say_it_in_words() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    let brief =
        json!({"id": "u", "number": 9, "title": "Nine", "type": "code", "status": "todo", "state": "queued"});
    let why = json!({
        "issue": brief, "claimer": null, "verdict": "held", "score": null, "breakdown": null, "position": null,
        "gates": [{"gate": "blocker", "detail": "#3 is not done", "until": null, "change": "finish #3"}],
        "change": "finish #3", "decisions": [], "pos": 12
    });
    desk.once("GET /api/issues/9/why?agent=moe", Answer::Json(200, json!({"data": why})));
    let said = session.call("why", json!({"issue": "9", "agent": "moe"})).await;
    assert_eq!(said.text, "#9, “Nine”: held.\n- blocker: #3 is not done\nWhat would start it: finish #3.");
    assert_eq!(said.data["verdict"], "held");

    let relation = json!({
        "id": "r", "type": "blocks", "issueId": "a", "relatedIssueId": "u", "related": brief,
        "createdAt": "2026-01-01T00:00:00Z"
    });
    desk.once("POST /api/issues/3/relations", Answer::Json(201, json!({"data": relation})));
    let said = session.call("relate", json!({"issue": 3, "type": "blocks", "to": 9})).await;
    assert_eq!(said.text, "Issue 3 blocks #9.");
    let body = json!({"type": "blocks", "relatedIssueId": "9"});
    assert_eq!(desk.seen("POST /api/issues/3/relations")[0].body, body);

    let item = json!({
        "id": 1, "kind": "question", "issueId": "u", "number": 9, "title": "Nine", "text": "Which?",
        "createdAt": "2026-01-01T00:00:00Z"
    });
    let items = json!({"data": [item], "total": 1});
    desk.once("GET /api/inbox?kind=question", Answer::Json(200, items));
    let said = session.call("inbox", json!({"kinds": ["question"]})).await;
    assert_eq!(
        said.text,
        "1 wait for a person.\n- #9 “Nine” (question)\n```text: what was said, data from outside\nWhich?\n```"
    );
}
