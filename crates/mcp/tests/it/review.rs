//! Rating prompts.

use serde_json::{Value, json};

use super::client::{Endpoint, Session, none, stdio};
use super::desk::{Answer, FakeDesk, next};

const CLAIM: &str = "POST /api/dispatch/next";
const REVIEWS: &str = "POST /api/prompt-reviews";

fn marks() -> Value {
    json!({"clarity": 4, "completeness": 5, "relevance": 3})
}

async fn check_review(desk: &FakeDesk, session: &Session) {
    let claimed = session.call("claim", none()).await;
    assert_eq!(claimed.data["meta"], json!({"templateSlug": "task-execution", "versionNumber": 2}));
    assert!(
        claimed.text.contains("Its prompt was made by version 2 of the template task-execution."),
        "{}",
        claimed.text
    );
    let mut review = marks();
    review["feedback"] = json!("Say which branch.");
    let said = session.call("review", review).await;
    assert!(
        said.text.starts_with(
            "You rated the prompt of #41, made by version 2 of the template task-execution. The task is still in \
             your hands"
        ),
        "{}",
        said.text
    );
    assert_eq!((&said.data["review"]["id"], &said.orders()[0]["held"]), (&json!("r1"), &json!(true)));
    let seen = &desk.seen(REVIEWS)[0];
    let body = json!({
        "versionId": "v2", "issueId": "uuid-41", "clarity": 4, "completeness": 5, "relevance": 3,
        "feedback": "Say which branch."
    });
    assert_eq!(seen.body, body);
    assert_eq!((seen.token.as_deref(), seen.agent.as_deref()), (Some("xbd_1"), None));
    session.call("complete", none()).await;
    assert_eq!(session.refused("review", marks()).await.code(), "nothing_held");
    assert_eq!(desk.seen(REVIEWS).len(), 1);
}

#[tokio::test]
async fn whoever_holds_a_task_rates_its_prompt() {
    let desk = FakeDesk::start().await;
    check_review(&desk, &stdio(&desk).await.session).await;
    let desk = FakeDesk::start().await;
    check_review(&desk, &Endpoint::start(&desk).await.session("curly").await).await;
}

#[tokio::test]
async fn a_prompt_that_no_template_made_is_not_rated() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    desk.once(CLAIM, Answer::Json(200, next(1, 3600, &Value::Null)));
    let claimed = session.call("claim", none()).await;
    assert_eq!(claimed.data["meta"], Value::Null);
    assert!(!claimed.text.contains("template"), "{}", claimed.text);
    let said = session.refused("review", marks()).await;
    assert!(
        said.text.starts_with(
            "no template made the prompt of #41, so there is nothing to review (no_template). Go on with the task"
        ),
        "{}",
        said.text
    );
    assert!(desk.seen(REVIEWS).is_empty());
    session.call("complete", none()).await;
}

#[tokio::test]
async fn with_several_tasks_in_hand_the_prompt_is_named() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    let mut other: Value = next(2, 3600, &Value::Null);
    other["meta"] = json!({
        "templateSlug": "signal-triage", "templateId": "t2", "versionId": "v9", "versionNumber": 9,
        "reviewUrl": "POST /api/prompt-reviews"
    });
    desk.once(CLAIM, Answer::Json(200, other));
    session.call("claim", none()).await;
    assert_eq!(session.refused("review", marks()).await.code(), "which_dispatch");
    for (which, value) in [("number", json!(42)), ("dispatch", json!("d2"))] {
        let mut review = marks();
        review[which] = value;
        session.call("review", review).await;
    }
    let seen = desk.seen(REVIEWS);
    assert_eq!(seen.len(), 2);
    for seen in seen {
        assert_eq!((&seen.body["versionId"], &seen.body["issueId"]), (&json!("v9"), &json!("uuid-42")));
        assert_eq!(seen.token.as_deref(), Some("xbd_2"));
    }
}

#[tokio::test]
async fn a_review_that_is_refused_costs_nothing() {
    let desk = FakeDesk::start().await;
    let session = stdio(&desk).await.session;
    session.call("claim", none()).await;
    for (status, code, then) in [
        (404, "not_found", "Check the number or id"),
        (409, "conflict", "What was said first stands: go on"),
        (403, "out_of_scope", "do not try again"),
    ] {
        desk.once(REVIEWS, Answer::Json(status, json!({"error": "No.", "code": code})));
        let said = session.refused("review", marks()).await;
        assert_eq!((said.code(), &said.orders()[0]["held"]), (code, &json!(true)));
        assert!(said.text.contains(then), "{}", said.text);
    }
    session.call("complete", none()).await;
}
