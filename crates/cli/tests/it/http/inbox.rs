//! Questions, answers, comments and the inbox.

use serde_json::{Value, json};

use super::{claim, create, names, on_both, report, show};
use crate::harness::{Desk, Request, get, patch, post};

on_both!(
    a_question_is_answered_and_the_answer_is_in_the_prompt,
    the_inbox_is_for_persons,
    what_came_of_the_work_is_kept_and_shown,
    comments_are_threads,
    a_prompt_is_for_its_holder,
);

fn a_question_is_answered_and_the_answer_is_in_the_prompt(desk: &mut Desk) {
    let issue = create(desk, &json!({"title": "Choose"}));
    let next = claim(desk, "ada");
    let reply = desk.send(&report(&next, "ask", &json!({"question": "Left or right?"}))).expect(200);
    assert_eq!((&reply["order"], &reply["issue"]["status"]), (&json!("stop"), &json!("blocked")));
    for body in [json!({}), json!({"question": " "})] {
        let refused = desk.send(&report(&next, "ask", &body)).refused(422, "validation");
        assert!(refused["error"].as_str().unwrap().contains("question: expected some text"), "{refused}");
    }
    desk.send(&report(&next, "ask", &json!({"question": "Left or right?"}))).expect(200);
    desk.send(&report(&next, "ask", &json!({"question": "Up or down?"}))).refused(409, "stale_dispatch");
    let inbox = desk.send(&get("/api/inbox")).expect(200);
    let item = &inbox["data"][0];
    assert_eq!(names(item), ["createdAt", "id", "issueId", "kind", "number", "text", "title"]);
    assert_eq!((&item["kind"], &item["text"]), (&json!("question"), &json!("Left or right?")));
    let path = format!("/api/issues/{}/answer", issue["number"]);
    desk.send(&post(&path, &json!({"answer": "Left"}))).refused(401, "unauthorized");
    let refused = desk.send_as_person(post(&path, &json!({"answer": " "}))).refused(422, "validation");
    assert!(refused["error"].as_str().unwrap().contains("answer: expected some text"), "{refused}");
    let answered = desk.send_as_person(post(&path, &json!({"answer": "Left"}))).expect(200);
    assert_eq!((&answered["data"]["state"], &answered["data"]["answer"]), (&json!("queued"), &json!("Left")));
    assert_eq!(desk.send(&get("/api/inbox")).expect(200), json!({"data": [], "total": 0}));
    let prompt = claim(desk, "bob")["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Left or right?") && prompt.contains("\nLeft\n"), "{prompt}");
    desk.send_as_person(post(&path, &json!({"answer": "Right"}))).refused(409, "illegal_transition");
}

fn the_inbox_is_for_persons(desk: &mut Desk) {
    for title in ["one", "two"] {
        create(desk, &json!({"title": title, "maxRetries": 0}));
        let next = claim(desk, "ada");
        desk.send(&report(&next, "fail", &json!({"error": "it broke"}))).expect(200);
    }
    let inbox = desk.send(&get("/api/inbox?kind=dead_letter&limit=1")).expect(200);
    assert_eq!((&inbox["total"], &inbox["data"][0]["text"]), (&json!(2), &json!("it broke")));
    let dismiss = format!("/api/inbox/{}/dismiss", inbox["data"][0]["id"]);
    desk.send(&post(&dismiss, &Value::Null)).refused(401, "unauthorized");
    desk.send_as_person(post(&dismiss, &Value::Null)).expect(204);
    desk.send_as_person(post(&dismiss, &Value::Null)).refused(404, "not_found");
    assert_eq!(desk.send(&get("/api/inbox")).expect(200)["total"], 1);
    desk.send(&get("/api/inbox?kind=letters")).refused(422, "validation");
    desk.send_as_person(post("/api/inbox/x/dismiss", &Value::Null)).refused(400, "bad_request");
    // What moves on takes its item with it.
    desk.send_as_person(post("/api/issues/2/retry", &Value::Null)).expect(200);
    assert_eq!(desk.send(&get("/api/inbox")).expect(200)["total"], 0);
}

fn what_came_of_the_work_is_kept_and_shown(desk: &mut Desk) {
    let issue = create(desk, &json!({"title": "Build"}));
    let next = claim(desk, "ada");
    let commits = json!([{"sha": "a1b2", "message": "Fix it"}]);
    let requests = json!([{"number": 7, "title": "Fix", "url": "https://example.org/7", "state": "open"}]);
    let early = json!({"commits": commits, "agentSummary": "halfway"});
    let path = format!("/api/issues/{}", issue["number"]);
    desk.send(&patch(&path, &early).agent("bob")).refused(403, "not_holder");
    desk.send(&patch(&path, &early).agent("ada")).expect(200);
    assert_eq!(show(desk, &issue["number"])["commits"], commits);
    for (body, says) in [
        (json!({"commits": [{"sha": ""}]}), "commits: expected"),
        (json!({"commits": [{"sha": "a", "url": "javascript:alert(1)"}]}), "commits: expected a url"),
        (json!({"pullRequests": [{"number": -1}]}), "pullRequests: expected"),
    ] {
        let refused = desk.send(&report(&next, "complete", &body)).refused(422, "validation");
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
    let done = json!({"agentSummary": "done", "pullRequests": requests, "result": {"ok": true}});
    desk.send(&report(&next, "complete", &done)).expect(200);
    let shown = show(desk, &issue["number"]);
    assert_eq!((&shown["commits"], &shown["pullRequests"]), (&commits, &requests));
    assert_eq!((&shown["agentSummary"], &shown["result"]), (&json!("done"), &json!({"ok": true})));
    for (body, says) in [
        (json!({"commits": [{"message": "no sha"}]}), "sha"),
        (json!({"pullRequests": [{"number": "seven"}]}), "pullRequests[0].number"),
        (json!({"commits": [{"sha": "a", "by": "me"}]}), "commits[0].by"),
    ] {
        let refused = desk.send(&report(&next, "complete", &body)).refused(400, "bad_request");
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
}

fn comments_are_threads(desk: &mut Desk) {
    let issue = create(desk, &json!({"title": "Talk"}));
    let path = format!("/api/issues/{}/comments", issue["number"]);
    let say = |body: Value| -> Request { post(&path, &body).agent("ada") };
    let first = desk.send(&say(json!({"body": "first"}))).expect(201)["data"].clone();
    assert_eq!((&first["authorName"], &first["authorType"]), (&json!("agent:ada"), &json!("agent")));
    let seed = json!({"body": "reply", "authorName": "Ann", "authorType": "human", "parentId": first["id"]});
    desk.send(&say(seed)).expect(201);
    let list = desk.send(&get(&path)).expect(200);
    assert_eq!((&list["total"], &list["data"][0]["replies"][0]["body"]), (&json!(1), &json!("reply")));
    for (body, says) in [
        (json!({"body": ""}), "body: "),
        (json!({"body": "x", "authorType": "cat"}), "authorType: expected"),
        (json!({"body": "x", "parentId": "999"}), "parentId: there is no comment 999"),
        (json!({"body": "x", "parentId": "abc"}), "parentId: expected the id of a comment"),
    ] {
        let refused = desk.send(&say(body)).refused(422, "validation");
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
    desk.send(&get("/api/issues/99/comments")).refused(404, "not_found");
}

fn a_prompt_is_for_its_holder(desk: &mut Desk) {
    create(desk, &json!({"title": "Secret plan"}));
    let next = claim(desk, "ada");
    let path = format!("/api/dispatches/{}/prompt", next["dispatch"]["id"].as_str().unwrap());
    let token = next["dispatch"]["token"].as_str().unwrap();
    desk.send(&get(&path).agent("bob")).refused(403, "not_holder");
    let prompt = desk.send(&get(&path).token(token)).expect(200);
    assert_eq!(prompt["data"]["prompt"], next["prompt"]);
    let text = desk.send(&get(&path).token(token).header("accept", "text/plain"));
    assert_eq!((text.status, json!(text.text())), (200, next["prompt"].clone()));
}
