//! The whole at a glance.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{
    check_fields, check_refusals, claim, create, invalid, names, numbers, on_both, report, review, template,
    version,
};
use crate::harness::{Desk, Request, delete, get, patch, post};

const LIMIT: Duration = Duration::from_secs(20);

on_both!(
    empty_desk_has_the_documented_shape,
    issues_goals_and_dispatches_are_counted,
    deleted_things_are_not_counted,
    activity_is_grouped_and_the_latest_is_first,
    reviews_below_three_need_attention,
    completion_below_a_half_needs_attention,
    prompts_show_the_last_five_versions,
);

fn stats(desk: &Desk) -> Value {
    desk.send(&get("/api/dashboard/stats")).expect(200)["data"].clone()
}

fn activity(desk: &Desk, query: &str) -> Value {
    desk.send(&get(&format!("/api/dashboard/activity{query}"))).expect(200)
}

/// Returns how the prompts of one template do.
fn health(desk: &Desk, slug: &str) -> Value {
    let list = desk.send(&get("/api/dashboard/prompts")).expect(200);
    let found = list["data"].as_array().unwrap().iter().find(|entry| entry["template"]["slug"] == slug);
    found.unwrap().clone()
}

/// Waits until a version's dispatches are counted, which happens by the log, a moment later.
fn counted(desk: &Desk, used: i64, rate: f64) -> Value {
    wait_until(LIMIT, "the dispatches to be counted", || {
        let shown = health(desk, "task-execution");
        let version = &shown["activeVersion"];
        let near = version["completionRate"].as_f64().is_some_and(|shown| (shown - rate).abs() < 1e-3);
        (near && version["usageCount"] == used).then_some(shown)
    })
}

fn empty_desk_has_the_documented_shape(desk: &mut Desk) {
    let expected = json!({
        "issues": {"total": 0, "byStatus": {}, "byType": {}},
        "goals": {"total": 0, "active": 0, "achieved": 0},
        "dispatch": {"queueDepth": 0, "activeCount": 0, "completedLast24h": 0}
    });
    assert_eq!(names(&stats(desk)), names(&expected));
    let shown = stats(desk);
    for (part, counts) in expected.as_object().unwrap() {
        assert_eq!(names(&shown[part]), names(counts), "{part}");
    }
    let counts =
        |value: &Value| value.as_object().unwrap().values().map(|count| count.as_i64().unwrap()).sum::<i64>();
    assert_eq!(counts(&shown["issues"]["byStatus"]) + counts(&shown["issues"]["byType"]), 0);
    assert_eq!((&shown["goals"], &shown["dispatch"]), (&expected["goals"], &expected["dispatch"]));
    assert_eq!(shown["issues"]["total"], 0);
    assert_eq!(activity(desk, ""), json!({"data": [], "total": 0}));
    let prompts = desk.send(&get("/api/dashboard/prompts")).expect(200);
    assert_eq!(prompts["total"], prompts["data"].as_array().unwrap().len());
    for entry in prompts["data"].as_array().unwrap() {
        let fields = ["activeVersion", "needsAttention", "recentVersions", "reviewSummary", "template"];
        assert_eq!(names(entry), fields);
        assert_eq!((&entry["needsAttention"], &entry["reviewSummary"]), (&json!(false), &Value::Null));
    }
    check_fields(
        desk,
        &["?limit=0", "?limit=101"]
            .map(|query| invalid(get(&format!("/api/dashboard/activity{query}")), "limit: ")),
    );
    check_refusals(desk, &[(get("/api/dashboard"), 404, "not_found", "")]);
    check_refusals(desk, &[(Request::new("POST", "/api/dashboard/stats"), 405, "method_not_allowed", "")]);
}

fn issues_goals_and_dispatches_are_counted(desk: &mut Desk) {
    for (kind, status) in
        [("task", "todo"), ("task", "todo"), ("task", "todo"), ("signal", "triage"), ("plan", "backlog")]
    {
        create(desk, &json!({"type": kind, "status": status}));
    }
    for status in ["active", "active", "achieved", "abandoned"] {
        desk.send_as_person(post("/api/goals", &json!({"title": "g", "status": status}))).expect(201);
    }
    let next = claim(desk, "ada");
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    claim(desk, "ada");
    let shown = stats(desk);
    let positive = |counts: &Value| -> Value {
        let counts = counts.as_object().unwrap().iter().filter(|(_, count)| **count != json!(0));
        counts.map(|(word, count)| (word.clone(), count.clone())).collect()
    };
    assert_eq!(shown["issues"]["total"], 5);
    assert_eq!(
        positive(&shown["issues"]["byStatus"]),
        json!({"todo": 1, "triage": 1, "backlog": 1, "done": 1, "in_progress": 1})
    );
    assert_eq!(positive(&shown["issues"]["byType"]), json!({"task": 3, "signal": 1, "plan": 1}));
    assert_eq!(shown["goals"], json!({"total": 4, "active": 2, "achieved": 1}));
    assert_eq!(shown["dispatch"], json!({"queueDepth": 2, "activeCount": 1, "completedLast24h": 1}));
    desk.send_as_person(post(&format!("/api/issues/{}/reopen", next["issue"]["number"]), &Value::Null))
        .expect(200);
    assert_eq!(stats(desk)["dispatch"]["completedLast24h"], 0, "what is open again is not done");
}

fn deleted_things_are_not_counted(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({"parentId": 1}));
    let goal =
        desk.send_as_person(post("/api/goals", &json!({"title": "g"}))).expect(201)["data"]["id"].clone();
    desk.send_as_person(delete("/api/issues/2")).expect(204);
    desk.send_as_person(delete(&format!("/api/goals/{}", goal.as_str().unwrap()))).expect(204);
    template(desk, "t", &json!({}), "x");
    desk.send(&delete("/api/templates/t")).expect(204);
    let shown = stats(desk);
    assert_eq!((&shown["issues"]["total"], &shown["goals"]["total"]), (&json!(1), &json!(0)));
    assert_eq!(shown["dispatch"]["queueDepth"], 1);
    assert_eq!(activity(desk, "")["data"][0]["children"], json!([]));
    let prompts = desk.send(&get("/api/dashboard/prompts")).expect(200);
    assert!(prompts["data"].as_array().unwrap().iter().all(|entry| entry["template"]["slug"] != "t"));
    desk.send_as_person(delete("/api/issues/1")).expect(204);
    assert_eq!(activity(desk, ""), json!({"data": [], "total": 0}));
}

/// Waits until the log tells of what happened in this order, which it does a moment later; returns what it tells.
fn activity_of(desk: &Desk, roots: &[i64]) -> Value {
    wait_until(LIMIT, "the log to tell what happened last", || {
        Some(activity(desk, "")).filter(|list| numbers(list) == roots)
    })
}

fn activity_is_grouped_and_the_latest_is_first(desk: &mut Desk) {
    for title in ["one", "two", "three"] {
        create(desk, &json!({"title": title}));
    }
    activity_of(desk, &[3, 2, 1]);
    create(desk, &json!({"title": "below one", "parentId": 1}));
    create(desk, &json!({"title": "below that", "parentId": 4, "blockedBy": [2]}));
    // What happens below happens to it.
    let list = activity_of(desk, &[1, 3, 2]);
    let first = &list["data"][0];
    assert_eq!(names(first), ["children", "issue", "latestActivity", "relations"]);
    assert_eq!(names(&first["issue"]), ["id", "number", "state", "status", "title", "type"]);
    let children: Vec<&Value> =
        first["children"].as_array().unwrap().iter().map(|child| &child["number"]).collect();
    assert_eq!(children, [4]);
    assert!(first["latestActivity"].is_string());
    desk.send(&patch("/api/issues/3", &json!({"title": "third"}))).expect(200);
    activity_of(desk, &[3, 1, 2]);
    let relation = json!({"type": "blocks", "relatedIssueId": 2});
    desk.send(&post("/api/issues/4/relations", &relation)).expect(201);
    let list = activity(desk, "");
    let entry = list["data"].as_array().unwrap().iter().find(|entry| entry["issue"]["number"] == 1).unwrap();
    assert_eq!(entry["relations"][0]["type"], "blocks");
    assert_eq!(entry["relations"][0]["related"]["number"], 2);
    assert_eq!(activity(desk, "?limit=1")["data"].as_array().unwrap().len(), 1);
}

fn reviews_below_three_need_attention(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let made = template(desk, "t", &json!({}), "x");
    let say =
        |mark: i64| desk.send_as_person(review(&made["activeVersionId"], &issue["id"], mark)).expect(201);
    say(3);
    let even = health(desk, "t");
    let summary = json!({
        "totalReviews": 1, "avgClarity": 3.0, "avgCompleteness": 3.0, "avgRelevance": 3.0, "compositeScore": 3.0
    });
    assert_eq!((&even["reviewSummary"], &even["needsAttention"]), (&summary, &json!(false)));
    say(2);
    let low = health(desk, "t");
    assert_eq!(
        (&low["reviewSummary"]["compositeScore"], &low["needsAttention"]),
        (&json!(2.5), &json!(true))
    );
    assert_eq!(low["reviewSummary"]["totalReviews"], 2);
    say(5);
    assert_eq!(health(desk, "t")["needsAttention"], false);
    assert_eq!(health(desk, "task-execution")["needsAttention"], false);
}

fn completion_below_a_half_needs_attention(desk: &mut Desk) {
    let end = |verb: &str, body: Value| {
        create(desk, &json!({}));
        let next = claim(desk, "ada");
        desk.send(&report(&next, verb, &body)).expect(200);
    };
    end("complete", Value::Null);
    end("fail", json!({"retryable": false}));
    assert_eq!(counted(desk, 2, 0.5)["needsAttention"], false);
    end("fail", json!({"retryable": false}));
    assert_eq!(counted(desk, 3, 0.333)["needsAttention"], true);
    // What was given back says nothing about the prompt.
    end("release", Value::Null);
    assert_eq!(counted(desk, 4, 0.333)["needsAttention"], true);
}

fn prompts_show_the_last_five_versions(desk: &mut Desk) {
    template(desk, "t", &json!({}), "1");
    for number in 2..=7 {
        version(desk, "t", &number.to_string());
    }
    let shown = health(desk, "t");
    let recent: Vec<&Value> =
        shown["recentVersions"].as_array().unwrap().iter().map(|version| &version["version"]).collect();
    assert_eq!(recent, [7, 6, 5, 4, 3]);
    assert_eq!(shown["activeVersion"]["version"], 1);
}
