//! Reporting on a dispatch: orders, ends, repeats, and who may.

use serde_json::{Value, json};

use super::{claim, create, on_both, report, show};
use crate::harness::{Desk, delete, get, patch, post};

on_both!(
    heartbeat_is_answered_with_an_order_and_the_lease,
    completion_is_kept_and_may_be_repeated,
    failure_waits_and_then_gives_up,
    each_class_of_failure_goes_its_way,
    released_issue_is_next_again_under_a_new_fence,
    superseded_dispatch_is_told_to_stop_and_changes_nothing,
    canceled_work_is_told_to_stop,
    canceled_and_reopened_issue_ignores_the_old_agent,
    only_the_holder_reports,
    deleted_issue_ends_its_dispatch,
);

fn heartbeat_is_answered_with_an_order_and_the_lease(desk: &mut Desk) {
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    for body in [
        Value::Null,
        json!({}),
        json!({"progress": {"step": 2}, "costUsd": 0.25, "tokens": {"input": 5, "output": 7}}),
    ] {
        let reply = desk.send(&report(&next, "heartbeat", &body)).expect(200);
        assert_eq!((&reply["order"], &reply["reason"]), (&json!("continue"), &Value::Null));
        assert!((3590..=3600).contains(&reply["leaseSeconds"].as_i64().unwrap()), "{reply}");
        assert_eq!(reply["issue"]["state"], "running");
    }
    let held = show(desk, &next["issue"]["number"])["dispatch"].clone();
    assert_eq!(held["progress"], json!({"step": 2}));
}

fn completion_is_kept_and_may_be_repeated(desk: &mut Desk) {
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let complete = report(&next, "complete", &json!({"result": {"lines": [1, 2]}, "agentSummary": "did it"}));
    let reply = desk.send(&complete).expect(200);
    assert_eq!((&reply["order"], &reply["issue"]["state"]), (&json!("stop"), &json!("done")));
    let issue = show(desk, &next["issue"]["number"]);
    assert_eq!(issue["result"], json!({"lines": [1, 2]}));
    assert_eq!(issue["agentSummary"], "did it");
    assert_eq!(issue["dispatch"], Value::Null);
    assert!(issue["completedAt"].is_string());
    desk.send(&complete).expect(200);
    assert_eq!(show(desk, &issue["number"]), issue, "a repeat changes nothing");
    let fail = desk.send(&report(&next, "fail", &Value::Null)).refused(409, "stale_dispatch");
    assert_eq!(fail["order"], "stop");
    assert_eq!(show(desk, &issue["number"]), issue, "another word comes too late");
}

fn failure_waits_and_then_gives_up(desk: &mut Desk) {
    let number = create(desk, &json!({"maxRetries": 1}))["number"].clone();
    let fail = json!({"error": "no luck", "class": "execution_failed"});
    let reply = desk.send(&report(&claim(desk, "ada"), "fail", &fail)).expect(200);
    let issue = &reply["issue"];
    assert_eq!((&issue["state"], &issue["lastError"]), (&json!("queued"), &json!("no luck")));
    assert_eq!(issue["counters"]["retry"], 1);
    assert!(issue["notBefore"].is_string(), "it waits before it is tried again");
    let waiting = desk.send(&get("/api/dispatch/next"));
    assert_eq!((waiting.status, waiting.header("extraboard-reason")), (204, Some("not_before")));
    let path = format!("/api/issues/{number}");
    desk.send(&patch(&path, &json!({"notBefore": null}))).expect(200);
    let reply = desk.send(&report(&claim(desk, "ada"), "fail", &fail)).expect(200);
    assert_eq!(reply["issue"]["state"], "failed");
    assert_eq!(reply["issue"]["status"], "failed");
}

fn each_class_of_failure_goes_its_way(desk: &mut Desk) {
    for (body, state, counter) in [
        (json!({}), "queued", Some("retry")),
        (json!({"retryable": false}), "failed", None),
        (json!({"class": "attempt_timeout"}), "queued", Some("retry")),
        (json!({"class": "crash"}), "queued", Some("crash")),
        (json!({"class": "agent_unavailable"}), "queued", Some("unavailable")),
        (json!({"class": "setup"}), "blocked", None),
        (json!({"class": "rate_limited", "retryAfter": 30, "provider": "acme"}), "queued", None),
    ] {
        let issue = create(desk, &json!({"priority": 1}));
        let next = claim(desk, "ada");
        assert_eq!(next["issue"]["number"], issue["number"], "{body}");
        let reply = desk.send(&report(&next, "fail", &body)).expect(200);
        assert_eq!(reply["issue"]["state"], state, "{body}");
        if let Some(counter) = counter {
            assert_eq!(reply["issue"]["counters"][counter], 1, "{body}");
        }
    }
}

fn released_issue_is_next_again_under_a_new_fence(desk: &mut Desk) {
    let issue = create(desk, &json!({"priority": 4}));
    let first = claim(desk, "ada");
    let reply = desk.send(&report(&first, "release", &Value::Null)).expect(200);
    assert_eq!(reply["issue"]["state"], "queued");
    assert_eq!(reply["issue"]["queuedAt"], issue["queuedAt"], "it keeps its place");
    assert_eq!(reply["issue"]["counters"], issue["counters"], "nothing is spent");
    let second = claim(desk, "bob");
    assert_eq!(second["issue"]["number"], issue["number"]);
    assert!(second["dispatch"]["fence"].as_i64() > first["dispatch"]["fence"].as_i64());
    assert_eq!(second["dispatch"]["attempt"], 2);
}

fn superseded_dispatch_is_told_to_stop_and_changes_nothing(desk: &mut Desk) {
    create(desk, &json!({}));
    let old = claim(desk, "ada");
    desk.send(&report(&old, "release", &Value::Null)).expect(200);
    let new = claim(desk, "bob");
    let before = show(desk, &new["issue"]["number"]);
    for verb in ["heartbeat", "complete", "fail"] {
        let body = desk.send(&report(&old, verb, &json!({"costUsd": 1}))).refused(409, "stale_dispatch");
        assert_eq!(body["order"], "stop", "{verb}");
        assert_eq!(show(desk, &new["issue"]["number"]), before, "{verb}");
    }
    desk.send(&report(&new, "complete", &Value::Null)).expect(200);
}

fn canceled_work_is_told_to_stop(desk: &mut Desk) {
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let canceled = desk.send_as_person(post("/api/issues/1/cancel", &Value::Null)).expect(200);
    assert_eq!(canceled["data"]["state"], "canceled");
    assert_eq!(canceled["data"]["dispatch"]["phase"], "ending");
    assert_eq!(canceled["data"]["dispatch"]["reason"], "user_canceled");
    let beat = desk.send(&report(&next, "heartbeat", &Value::Null)).expect(200);
    assert_eq!((&beat["order"], &beat["reason"]), (&json!("stop"), &json!("user_canceled")));
    assert!(beat["leaseSeconds"].as_i64().unwrap() <= 60);
    let end = desk.send(&report(&next, "complete", &json!({"result": 1}))).expect(200);
    assert_eq!(end["order"], "stop");
    assert_eq!(show(desk, &json!(1))["state"], "canceled");
    assert_eq!(show(desk, &json!(1))["dispatch"], Value::Null);
}

fn canceled_and_reopened_issue_ignores_the_old_agent(desk: &mut Desk) {
    create(desk, &json!({}));
    let old = claim(desk, "ada");
    for verb in ["cancel", "reopen"] {
        desk.send_as_person(post(&format!("/api/issues/1/{verb}"), &Value::Null)).expect(200);
    }
    assert_eq!(
        desk.send(&get("/api/dispatch/next")).status,
        204,
        "the old dispatch keeps it out of the line"
    );
    assert_eq!(desk.send(&report(&old, "complete", &json!({"result": "old"}))).status, 200);
    let issue = show(desk, &json!(1));
    assert_eq!((&issue["state"], &issue["result"]), (&json!("queued"), &Value::Null));
    assert_eq!(claim(desk, "bob")["dispatch"]["fence"], 2);
}

fn only_the_holder_reports(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let other = claim(desk, "bob");
    let before = show(desk, &next["issue"]["number"]);
    for verb in ["heartbeat", "complete", "fail", "release"] {
        let path = format!("/api/dispatches/{}/{verb}", next["dispatch"]["id"].as_str().unwrap());
        let request = post(&path, &Value::Null);
        desk.send(&request.clone().agent("bob")).refused(403, "not_holder");
        desk.send(&request).refused(403, "not_holder");
        let token = other["dispatch"]["token"].as_str().unwrap();
        desk.send(&request.token(token)).refused(403, "not_holder");
    }
    assert_eq!(show(desk, &next["issue"]["number"]), before);
    let path = format!("/api/dispatches/{}/complete", next["dispatch"]["id"].as_str().unwrap());
    desk.send(&post(&path, &Value::Null).agent("ada")).expect(200);
}

fn deleted_issue_ends_its_dispatch(desk: &mut Desk) {
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let deleted = desk.send_as_person(delete("/api/issues/1"));
    assert_eq!(deleted.status, 204);
    let beat = desk.send(&report(&next, "heartbeat", &Value::Null)).expect(200);
    assert_eq!((&beat["order"], &beat["reason"]), (&json!("stop"), &json!("task_deleted")));
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    desk.send(&get("/api/issues/1")).refused(404, "not_found");
}
