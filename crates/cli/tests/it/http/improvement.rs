//! How a bad prompt gets better, and how far the token of a dispatch goes meanwhile.

use serde_json::{Value, json};

use super::page::Page;
use super::prompts::beyond_loopback;
use super::reviews::active;
use super::{numbers, promote, report, review};
use crate::harness::{Desk, Request, get, patch, post};

fn show_as_person(desk: &Desk, number: i64) -> Value {
    desk.send_as_person(get(&format!("/api/issues/{number}"))).expect(200)["data"].clone()
}

#[test]
fn bad_prompt_is_improved_by_an_agent_and_promoted_by_a_person() {
    let (desk, agent) = beyond_loopback(3);
    let next = || desk.send(&get("/api/dispatch/next").token(&agent)).expect(200);
    for _ in 0..3 {
        let next = next();
        let issue = &next["issue"]["id"];
        let token = next["dispatch"]["token"].as_str().unwrap();
        desk.send(&review(&next["meta"]["versionId"], issue, 1).token(token)).expect(201);
        desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    }
    let work = next();
    assert_eq!(work["issue"]["title"], "Improve prompt template: task-execution");
    assert_eq!(work["meta"]["templateSlug"], "prompt-improvement");
    let prompt = work["prompt"].as_str().unwrap();
    let page = Page::read(prompt);
    assert!(page.lines.contains(&"Version 1 of `task-execution`, as it is:".to_owned()), "{prompt}");
    assert!(page.texts("text: ").iter().any(|text| text.contains("{{> issue_context}}")), "{prompt}");
    let token = work["dispatch"]["token"].as_str().unwrap();
    let add = |slug: &str, content: &str| {
        let path = format!("/api/templates/{slug}/versions");
        desk.send(&post(&path, &json!({"content": content, "changelog": "better"})).token(token))
    };
    for slug in ["code-writing", "task-execution-run", "nope"] {
        add(slug, "Mine.").refused(403, "out_of_scope");
    }
    add("task-execution", "{{{issue.title}}}").refused(422, "validation");
    let draft = add("task-execution", "Better: {{issue.title}}").expect(201)["data"].clone();
    assert_eq!((&draft["status"], &draft["authorType"]), (&json!("draft"), &json!("agent")));
    let path = format!("/api/templates/task-execution/versions/{}/promote", draft["version"]);
    desk.send(&post(&path, &Value::Null).token(token)).refused(403, "out_of_scope");
    for (request, status) in [
        (get("/api/templates/task-execution"), 200),
        (get("/api/templates/task-execution/versions"), 200),
        (get("/api/templates/task-execution/reviews"), 200),
        (get("/api/templates/code-writing"), 403),
        (patch("/api/templates/task-execution", &json!({"specificity": 0})), 403),
        (Request::new("DELETE", "/api/templates/task-execution"), 403),
    ] {
        let reply = desk.send(&request.clone().token(token));
        assert_eq!(reply.status, status, "{request:?}: {}", reply.text());
    }
    desk.send(&report(&work, "complete", &Value::Null)).expect(200);
    promote(&desk, "task-execution", 2);
    let body = json!({"title": "the next", "type": "task", "status": "todo"});
    desk.send_as_person(post("/api/issues", &body)).expect(201);
    let next = next();
    assert_eq!((&next["prompt"], &next["meta"]["versionNumber"]), (&json!("Better: the next"), &json!(2)));
    assert_eq!(active(&desk, "task-execution")["reviewCount"], 0, "a new version starts anew");
    let list = desk.send_as_person(get("/api/issues?labelId=prompt-improvement")).expect(200);
    assert_eq!(numbers(&list), [4]);
    assert_eq!(show_as_person(&desk, 4)["state"], "done");
}

#[test]
fn dispatch_that_is_closed_adds_no_draft() {
    let (desk, agent) = beyond_loopback(1);
    let template = active(&desk, "task-execution");
    let issue = show_as_person(&desk, 1);
    for _ in 0..3 {
        desk.send_as_person(review(&template["id"], &issue["id"], 1)).expect(201);
    }
    desk.send_as_person(post("/api/issues/1/cancel", &Value::Null)).expect(200);
    let next = desk.send(&get("/api/dispatch/next").token(&agent)).expect(200);
    let token = next["dispatch"]["token"].as_str().unwrap();
    let add = || post("/api/templates/task-execution/versions", &json!({"content": "x"})).token(token);
    desk.send(&add()).expect(201);
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    desk.send(&add()).refused(403, "out_of_scope");
    desk.send(&get("/api/templates/task-execution").token(token)).refused(403, "out_of_scope");
}

/// Returns a desk beyond loopback, and two dispatches.
fn two_dispatches() -> (Desk, Value, Value) {
    let (desk, agent) = beyond_loopback(2);
    let [one, other] = [(), ()].map(|()| desk.send(&get("/api/dispatch/next").token(&agent)).expect(200));
    (desk, one, other)
}

#[test]
fn dispatch_moves_its_issue_to_no_other_parent_or_project_beyond_loopback() {
    let (desk, one, other) = two_dispatches();
    desk.send_as_person(post("/api/projects", &json!({"name": "secret"}))).expect(201);
    let token = one["dispatch"]["token"].as_str().unwrap();
    let path = format!("/api/issues/{}", one["issue"]["number"]);
    for body in [json!({"parentId": other["issue"]["number"]}), json!({"projectId": "secret"})] {
        desk.send(&patch(&path, &body).token(token)).refused(403, "out_of_scope");
    }
    desk.send(&patch(&path, &json!({"title": "still mine"})).token(token)).expect(200);
    let after = desk.send_as_person(get(&path)).expect(200)["data"].clone();
    assert_eq!((&after["parentId"], &after["projectId"]), (&Value::Null, &Value::Null));
}

#[test]
fn dispatch_reviews_no_version_but_its_own_beyond_loopback() {
    let (desk, one, _) = two_dispatches();
    let token = one["dispatch"]["token"].as_str().unwrap();
    let foreign = active(&desk, "code-writing");
    desk.send(&review(&foreign["id"], &one["issue"]["id"], 1).token(token)).refused(403, "out_of_scope");
    desk.send(&review(&one["meta"]["versionId"], &one["issue"]["id"], 1).token(token)).expect(201);
    desk.send(&review(&one["meta"]["versionId"], &one["issue"]["id"], 1)).refused(401, "unauthorized");
}

#[test]
fn dispatch_reviews_for_no_issue_but_its_own_beyond_loopback() {
    let (desk, one, other) = two_dispatches();
    let token = one["dispatch"]["token"].as_str().unwrap();
    let foreign = review(&one["meta"]["versionId"], &other["issue"]["id"], 1);
    desk.send(&foreign.token(token)).refused(403, "out_of_scope");
    assert_eq!(active(&desk, "task-execution")["reviewCount"], 0);
}

#[test]
fn dispatch_gets_no_issue_but_its_own_by_a_key() {
    let (desk, one, _) = two_dispatches();
    let token = one["dispatch"]["token"].as_str().unwrap();
    let body =
        json!({"title": "secret", "type": "task", "externalKey": "issue-1-follow-up", "description": "s"});
    desk.send_as_person(post("/api/issues", &body)).expect(201);
    let own = json!({"title": "t", "type": "task", "parentId": 1, "externalKey": "issue-1-follow-up"});
    let reply = desk.send(&post("/api/issues", &own).token(token));
    assert!(!reply.text().contains("secret"), "{} {}", reply.status, reply.text());
}
