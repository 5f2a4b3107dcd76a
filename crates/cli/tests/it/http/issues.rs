//! Creating, reading, listing, editing, moving and deleting issues.

use serde_json::{Value, json};

use super::{claim, create, names, numbers, on_both, report, show};
use crate::harness::{Desk, Request, delete, get, patch, post};

on_both!(
    new_issue_has_the_documented_shape_and_defaults,
    new_issue_keeps_everything_it_was_given,
    issue_is_found_by_number_and_by_uuid,
    list_filters_and_pages_oldest_first,
    edit_changes_what_it_names_and_null_clears,
    writing_back_the_shown_level_keeps_the_points,
    deleted_issue_is_gone,
    same_key_creates_once,
    verbs_move_an_issue_along,
    text_of_every_script_and_size_survives,
    numbers_come_back_as_the_doubles_that_were_sent,
);

const FIELDS: [&str; 43] = [
    "agentSummary",
    "answer",
    "artifactPresent",
    "attempt",
    "boost",
    "commits",
    "completedAt",
    "counters",
    "createdAt",
    "depth",
    "description",
    "dispatch",
    "doors",
    "externalKey",
    "gatedByParent",
    "held",
    "hypothesis",
    "id",
    "inputArtifact",
    "labels",
    "lastError",
    "maxRetries",
    "needs",
    "notBefore",
    "number",
    "openBlockers",
    "owner",
    "parentId",
    "priority",
    "priorityValue",
    "projectId",
    "pullRequests",
    "question",
    "queuedAt",
    "result",
    "signalPayload",
    "signalSource",
    "startedAt",
    "state",
    "status",
    "title",
    "type",
    "updatedAt",
];

fn new_issue_has_the_documented_shape_and_defaults(desk: &mut Desk) {
    let reply = desk.send(&post("/api/issues", &json!({"title": "t", "type": "signal"})));
    let body = reply.expect(201);
    assert_eq!(names(&body), ["data"]);
    let issue = &body["data"];
    assert_eq!(names(issue), FIELDS);
    for (field, expected) in [
        ("number", json!(1)),
        ("type", json!("signal")),
        ("status", json!("triage")),
        ("state", json!("triage")),
        ("priority", json!(0)),
        ("priorityValue", json!(10)),
        ("doors", json!(["pull", "run"])),
        ("maxRetries", json!(3)),
        ("attempt", json!(0)),
        ("counters", json!({"crash": 0, "unavailable": 0, "retry": 0, "lost": 0})),
        ("queuedAt", Value::Null),
        ("dispatch", Value::Null),
        ("boost", json!(0)),
        ("needs", json!([])),
        ("owner", Value::Null),
        ("projectId", Value::Null),
        ("parentId", Value::Null),
        ("depth", json!(0)),
        ("gatedByParent", json!(false)),
        ("openBlockers", json!(0)),
        ("held", json!(false)),
        ("inputArtifact", Value::Null),
        ("artifactPresent", json!(false)),
    ] {
        assert_eq!(issue[field], expected, "{field}");
    }
    let detail = show(desk, &json!(1));
    assert_eq!(detail["parent"], Value::Null);
    for list in ["children", "labels", "relations"] {
        assert_eq!(detail[list], json!([]), "{list}");
    }
}

fn new_issue_keeps_everything_it_was_given(desk: &mut Desk) {
    let given = json!({
        "title": "t", "type": "hypothesis", "status": "backlog", "description": "d",
        "priorityValue": 73, "doors": ["pull"], "maxRetries": 0, "notBefore": "2027-01-02T03:04:05Z",
        "signalSource": "posthog", "signalPayload": {"deep": [1, {"x": null}], "nul": "\u{0}"},
        "hypothesis": {"statement": "s", "confidence": 0.5}
    });
    let issue = create(desk, &given);
    for (field, value) in given.as_object().unwrap() {
        assert_eq!(issue[field], *value, "{field}");
    }
    assert_eq!(issue["priority"], 3, "73 lies between medium and high and shows as the lower");
    for (level, points) in [(0, 10), (1, 100), (2, 75), (3, 50), (4, 25)] {
        assert_eq!(create(desk, &json!({"priority": level}))["priorityValue"], points);
    }
}

fn issue_is_found_by_number_and_by_uuid(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let id = issue["id"].as_str().unwrap();
    for name in [id.to_owned(), id.to_uppercase(), issue["number"].to_string()] {
        let found = desk.send(&get(&format!("/api/issues/{name}"))).expect(200);
        assert_eq!(found["data"]["id"], issue["id"], "{name}");
        desk.send(&patch(&format!("/api/issues/{name}"), &json!({"title": name}))).expect(200);
        assert_eq!(show(desk, &issue["number"])["title"], name);
    }
}

fn list_filters_and_pages_oldest_first(desk: &mut Desk) {
    for (kind, status, priority) in
        [("task", "todo", 1), ("signal", "todo", 2), ("task", "triage", 2), ("plan", "backlog", 3)]
    {
        create(desk, &json!({"type": kind, "status": status, "priority": priority}));
    }
    let list = |query: &str| desk.send(&get(&format!("/api/issues{query}"))).expect(200);
    assert_eq!(names(&list("")), ["data", "nextCursor", "total", "totalCapped"]);
    for (query, expected) in [
        ("", vec![1, 2, 3, 4]),
        ("?status=todo", vec![1, 2]),
        ("?status=todo,backlog", vec![1, 2, 4]),
        ("?type=task", vec![1, 3]),
        ("?type=task,plan&status=triage,backlog", vec![3, 4]),
        ("?priority=2", vec![2, 3]),
        ("?status=done", vec![]),
    ] {
        let found = list(query);
        assert_eq!(numbers(&found), expected, "{query}");
        assert_eq!(found["total"], expected.len(), "{query}");
        assert_eq!(found["totalCapped"], false);
    }
    let page = list("?limit=3");
    assert_eq!((numbers(&page), &page["total"]), (vec![1, 2, 3], &json!(4)));
    let rest = list(&format!("?limit=3&cursor={}", page["nextCursor"].as_str().unwrap()));
    assert_eq!((numbers(&rest), &rest["nextCursor"]), (vec![4], &Value::Null));
    assert_eq!(numbers(&list("?limit=2&offset=1")), [2, 3]);
    assert_eq!(numbers(&list("?offset=10000")), Vec::<i64>::new());
}

fn edit_changes_what_it_names_and_null_clears(desk: &mut Desk) {
    let before = create(
        desk,
        &json!({"description": "old", "signalSource": "s", "notBefore": "2099-01-01T00:00:00Z"}),
    );
    let path = format!("/api/issues/{}", before["number"]);
    let edit = json!({
        "title": "new", "description": null, "type": "code", "priorityValue": 99, "doors": ["push"],
        "maxRetries": 7, "notBefore": null, "signalSource": null, "signalPayload": {"a": 1},
        "hypothesis": {"b": 2}, "agentSummary": "so far"
    });
    desk.send(&patch(&path, &edit)).refused(403, "not_holder");
    let after = desk.send_as_person(patch(&path, &edit)).expect(200)["data"].clone();
    for (field, value) in edit.as_object().unwrap() {
        assert_eq!(after[field], *value, "{field}");
    }
    assert_eq!((&after["state"], &after["queuedAt"]), (&before["state"], &before["queuedAt"]));
    let same = desk.send(&patch(&path, &json!({}))).expect(200)["data"].clone();
    assert_eq!(same, after, "an edit of nothing changes nothing");
}

fn writing_back_the_shown_level_keeps_the_points(desk: &mut Desk) {
    let issue = create(desk, &json!({"priorityValue": 60}));
    let path = format!("/api/issues/{}", issue["number"]);
    let write = |level: i64| {
        desk.send(&patch(&path, &json!({"priority": level}))).expect(200)["data"]["priorityValue"].clone()
    };
    assert_eq!(write(3), 60);
    assert_eq!(write(2), 75);
    assert_eq!(write(3), 50);
}

fn deleted_issue_is_gone(desk: &mut Desk) {
    create(desk, &json!({}));
    let kept = create(desk, &json!({}));
    let reply = desk.send(&delete("/api/issues/1"));
    assert_eq!((reply.status, reply.body.len()), (204, 0));
    desk.send(&get("/api/issues/1")).refused(404, "not_found");
    desk.send(&delete("/api/issues/1")).refused(404, "not_found");
    desk.send(&patch("/api/issues/1", &json!({"title": "x"}))).refused(404, "not_found");
    desk.send(&post("/api/issues/1/admit", &Value::Null)).refused(404, "not_found");
    assert_eq!(desk.send(&get("/api/issues")).expect(200)["total"], 1);
    assert_eq!(claim(desk, "ada")["issue"]["number"], kept["number"]);
    assert_eq!(create(desk, &json!({}))["number"], 3, "numbers are not used again");
}

fn same_key_creates_once(desk: &mut Desk) {
    let body = json!({"title": "once", "type": "task"});
    let create = |body: &Value, agent| desk.send(&post("/api/issues", body).key("k").agent(agent));
    let first = create(&body, "ada").expect(201);
    assert_eq!(create(&body, "ada").expect(201)["data"]["number"], first["data"]["number"]);
    create(&json!({"title": "other", "type": "task"}), "ada").refused(422, "idempotency_mismatch");
    assert_ne!(create(&body, "bob").expect(201)["data"]["number"], first["data"]["number"]);
    assert_eq!(desk.issues().len(), 2);
}

fn verbs_move_an_issue_along(desk: &mut Desk) {
    let number = create(desk, &json!({"status": "triage"}))["number"].clone();
    for (verb, state) in [
        ("admit", "queued"),
        ("park", "backlog"),
        ("admit", "queued"),
        ("cancel", "canceled"),
        ("reopen", "queued"),
    ] {
        let moved = desk.send_as_person(post(&format!("/api/issues/{number}/{verb}"), &Value::Null));
        assert_eq!(moved.expect(200)["data"]["state"], state, "{verb}");
        assert_eq!(show(desk, &number)["state"], state);
    }
    let next = claim(desk, "ada");
    desk.send(&report(&next, "fail", &json!({"retryable": false}))).expect(200);
    let retried = desk.send_as_person(post(&format!("/api/issues/{number}/retry"), &json!({})));
    assert_eq!(retried.expect(200)["data"]["state"], "queued");
}

fn text_of_every_script_and_size_survives(desk: &mut Desk) {
    let long = "ü".repeat(500);
    for title in ["Grüße, 世界 🚂", "'; DROP TABLE task; --", "a\u{1b}[2J\u{202e}b", "\\ \" % _ $1 ?", &long]
    {
        let issue = create(desk, &json!({"title": title, "description": title}));
        let shown = show(desk, &issue["number"]);
        assert_eq!((&shown["title"], &shown["description"]), (&json!(title), &json!(title)));
    }
    let description = "x".repeat(100_000);
    assert_eq!(create(desk, &json!({"description": description}))["description"], description);
}

/// Numbers as they are sent, and as they are shown: in the fewest digits that name the same double. Those
/// with 17 digits are where a parser that does not take care is off by one.
const DOUBLES: [(&str, &str); 12] = [
    ("0.1", "0.1"),
    ("1e-7", "1e-7"),
    ("123456789.123456789", "123456789.12345679"),
    ("31.245270191439438", "31.245270191439438"),
    ("-121.48791951161945", "-121.48791951161945"),
    ("100.06999999999999", "100.07"),
    ("1.0", "1.0"),
    ("9007199254740993", "9007199254740993"),
    ("18446744073709551616", "1.8446744073709552e+19"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("2.2250738585072014e-308", "2.2250738585072014e-308"),
    ("5e-324", "5e-324"),
];

/// Compares text: to read the answers would be to trust the parser that is under test.
fn numbers_come_back_as_the_doubles_that_were_sent(desk: &mut Desk) {
    let [sent, shown] = [DOUBLES.map(|(sent, _)| sent), DOUBLES.map(|(_, shown)| shown)]
        .map(|numbers| format!(r#"{{"x":[{}]}}"#, numbers.join(",")));
    let draft = format!(
        r#"{{"title":"t","type":"task","status":"todo","signalPayload":{sent},"hypothesis":{sent}}}"#
    );
    let created = desk.send(&Request::new("POST", "/api/issues").raw(draft));
    let number = created.expect(201)["data"]["number"].clone();
    let issue = || desk.send(&get(&format!("/api/issues/{number}"))).text();
    let check = |text: &str, field: &str| {
        assert!(text.contains(&format!(r#""{field}":{shown}"#)), "{field} is not {shown} in {text}");
    };
    for text in [&created.text(), &issue()] {
        check(text, "signalPayload");
        check(text, "hypothesis");
    }
    let next = claim(desk, "ada");
    let say = |verb: &str, field: &str| {
        let body = format!(r#"{{"{field}":{sent}}}"#);
        desk.send(&report(&next, verb, &Value::Null).raw(body)).expect(200);
        check(&issue(), field);
    };
    say("heartbeat", "progress");
    say("complete", "result");
}
