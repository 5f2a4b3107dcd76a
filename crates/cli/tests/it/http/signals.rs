//! Signals: each comes in with its issue, or not at all.

use serde_json::{Value, json};

use super::{bad_request, check_fields, check_refusals, invalid, names, on_both, show};
use crate::harness::{Desk, Request, delete, get, post};

on_both!(
    signal_and_its_issue_come_in_together,
    title_is_the_message_then_the_title_then_the_type,
    each_severity_has_its_priority,
    signals_land_where_their_project_wants_them,
    signal_that_is_refused_leaves_nothing,
    same_key_takes_a_signal_in_once,
    signals_are_listed_newest_first,
);

/// Returns a request for a signal of this and whatever else is said.
fn signal(more: &Value) -> Request {
    let mut body =
        json!({"source": "ci", "type": "build.failed", "severity": "high", "payload": {"message": "red"}});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post("/api/signals", &body)
}

#[track_caller]
fn taken(desk: &Desk, more: &Value) -> Value {
    desk.send(&signal(more)).expect(201)["data"].clone()
}

fn count(desk: &Desk) -> i64 {
    desk.send(&get("/api/signals")).expect(200)["total"].as_i64().unwrap()
}

fn signal_and_its_issue_come_in_together(desk: &mut Desk) {
    let payload = json!({"message": "red", "job": {"id": 7, "steps": [1, null, "é"]}});
    let pair = taken(desk, &json!({"payload": payload, "sourceId": "run-7"}));
    assert_eq!(names(&pair), ["issue", "signal"]);
    let (signal, issue) = (&pair["signal"], &pair["issue"]);
    let fields = ["createdAt", "id", "issueId", "payload", "severity", "source", "sourceId", "type"];
    assert_eq!(names(signal), fields);
    for (field, expected) in [
        ("source", json!("ci")),
        ("sourceId", json!("run-7")),
        ("type", json!("build.failed")),
        ("severity", json!("high")),
        ("payload", payload.clone()),
        ("issueId", issue["id"].clone()),
    ] {
        assert_eq!(signal[field], expected, "{field}");
    }
    for (field, expected) in [
        ("type", json!("signal")),
        ("status", json!("triage")),
        ("title", json!("[ci] build.failed: red")),
        ("signalSource", json!("ci")),
        ("signalPayload", payload),
        ("projectId", Value::Null),
        ("doors", json!(["pull", "run"])),
    ] {
        assert_eq!(show(desk, &issue["number"])[field], expected, "{field}");
    }
    assert_eq!(taken(desk, &json!({}))["signal"]["sourceId"], Value::Null);
}

fn title_is_the_message_then_the_title_then_the_type(desk: &mut Desk) {
    for (payload, expected) in [
        (json!({"message": "red", "title": "no"}), "[ci] build.failed: red"),
        (json!({"message": " ", "title": "broken"}), "[ci] build.failed: broken"),
        (json!({"message": 5, "title": "broken"}), "[ci] build.failed: broken"),
        (json!({"title": null}), "[ci] build.failed: build.failed"),
        (json!([1]), "[ci] build.failed: build.failed"),
        (json!("message"), "[ci] build.failed: build.failed"),
        (Value::Null, "[ci] build.failed: build.failed"),
        (json!({"message": "two\r\n## lines"}), "[ci] build.failed: two ## lines"),
    ] {
        assert_eq!(taken(desk, &json!({"payload": payload}))["issue"]["title"], expected, "{payload}");
    }
    let long = taken(desk, &json!({"payload": {"message": "ü".repeat(600)}}));
    assert_eq!(long["issue"]["title"].as_str().unwrap().chars().count(), 500);
}

fn each_severity_has_its_priority(desk: &mut Desk) {
    for (severity, priority) in [("critical", 1), ("high", 2), ("medium", 3), ("low", 4)] {
        let pair = taken(desk, &json!({"severity": severity}));
        assert_eq!(pair["issue"]["priority"], priority, "{severity}");
        assert_eq!(pair["signal"]["severity"], severity);
    }
}

fn signals_land_where_their_project_wants_them(desk: &mut Desk) {
    for status in ["triage", "backlog", "todo"] {
        let project = json!({"name": status, "settings": {"signals": {"status": status}}});
        let project = desk.send_as_person(post("/api/projects", &project)).expect(201)["data"].clone();
        for name in [json!(status), project["id"].clone()] {
            let issue = taken(desk, &json!({"projectId": name}))["issue"].clone();
            assert_eq!((&issue["status"], &issue["projectId"]), (&json!(status), &project["id"]));
        }
    }
    desk.send_as_person(post("/api/projects", &json!({"name": "plain"}))).expect(201);
    assert_eq!(taken(desk, &json!({"projectId": "plain"}))["issue"]["status"], "triage");
    let queue = desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!(queue["total"], 2, "only what lands in todo stands in line");
}

fn signal_that_is_refused_leaves_nothing(desk: &mut Desk) {
    let long = "x".repeat(201);
    let nobody = "01990000-0000-7000-8000-000000000000";
    check_fields(
        desk,
        &[
            invalid(signal(&json!({"projectId": "nope"})), "projectId: "),
            invalid(signal(&json!({"projectId": nobody})), "projectId: "),
            invalid(signal(&json!({"severity": "bad"})), "severity: "),
            invalid(signal(&json!({"source": ""})), "source: "),
            invalid(signal(&json!({"source": long})), "source: "),
            invalid(signal(&json!({"type": "two\nlines"})), "type: "),
            invalid(signal(&json!({"sourceId": ""})), "sourceId: "),
            invalid(signal(&json!({"payload": "x".repeat(256 * 1024)})), "payload: "),
            invalid(get("/api/signals?limit=0"), "limit: "),
        ],
    );
    check_refusals(
        desk,
        &[
            bad_request(
                post("/api/signals", &json!({"source": "ci", "type": "t", "payload": {}})),
                "severity",
            ),
            bad_request(
                post("/api/signals", &json!({"source": "ci", "type": "t", "severity": "low"})),
                "payload",
            ),
            bad_request(signal(&json!({"issueId": 1})), "issueId"),
            bad_request(post("/api/signals", &json!([])), ""),
        ],
    );
    assert_eq!((count(desk), desk.issues().len()), (0, 0));
}

fn same_key_takes_a_signal_in_once(desk: &mut Desk) {
    let first = desk.send(&signal(&json!({})).key("k")).expect(201);
    for _ in 0..2 {
        let again = desk.send(&signal(&json!({})).key("k")).expect(201);
        assert_eq!(again["data"]["signal"], first["data"]["signal"]);
        assert_eq!(again["data"]["issue"]["id"], first["data"]["issue"]["id"]);
    }
    let other = signal(&json!({"severity": "low"})).key("k");
    desk.send(&other).refused(422, "idempotency_mismatch");
    assert_eq!((count(desk), desk.issues().len()), (1, 1));
    desk.send(&signal(&json!({})).key("other")).expect(201);
    assert_eq!((count(desk), desk.issues().len()), (2, 2));
}

fn signals_are_listed_newest_first(desk: &mut Desk) {
    assert_eq!(desk.send(&get("/api/signals")).expect(200), json!({"data": [], "total": 0}));
    for source in ["a", "b", "c"] {
        taken(desk, &json!({"source": source}));
    }
    let page = desk.send(&get("/api/signals?limit=2&offset=1")).expect(200);
    let sources: Vec<&Value> =
        page["data"].as_array().unwrap().iter().map(|signal| &signal["source"]).collect();
    assert_eq!((sources, &page["total"]), (vec![&json!("b"), &json!("a")], &json!(3)));
    assert_eq!(page["data"][0].get("issue"), None);
    // A signal was said, whatever becomes of its issue.
    desk.send_as_person(delete("/api/issues/3")).expect(204);
    assert_eq!(count(desk), 3);
}
