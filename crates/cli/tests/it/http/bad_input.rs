//! Bad input: a clear refusal, nothing changed, the process stays up.

use serde_json::{Value, json};

use super::{bad_request, check_fields, check_refusals, claim, create, invalid, on_both, report};
use crate::harness::{Desk, Request, delete, get, patch, post};

on_both!(
    malformed_bodies_name_the_field,
    values_out_of_range_name_what_was_expected,
    text_that_cannot_be_kept_is_refused,
    bodies_of_the_wrong_size_or_type_are_refused,
    unknown_and_malformed_ids_are_told_apart,
    queries_are_checked,
    headers_are_checked,
    reports_are_checked,
    illegal_verbs_name_the_legal_ones,
    bad_edits_change_nothing,
);

/// Creates with a good title and kind, and something else.
fn new_with(more: &Value) -> Request {
    let mut body = json!({"title": "t", "type": "task"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post("/api/issues", &body)
}

fn raw(body: impl AsRef<[u8]>) -> Request {
    Request::new("POST", "/api/issues").raw(body)
}

fn malformed_bodies_name_the_field(desk: &mut Desk) {
    create(desk, &json!({}));
    check_fields(
        desk,
        &[
            bad_request(
                new_with(&json!({"prioritty": 1})),
                "prioritty: unknown field, did you mean priority?",
            ),
            bad_request(
                new_with(&json!({"notbefore": "x"})),
                "notbefore: unknown field, did you mean notBefore?",
            ),
            bad_request(new_with(&json!({"state": "queued"})), "state: unknown field, did you mean status?"),
            bad_request(new_with(&json!({"title": 5})), "title: "),
            bad_request(new_with(&json!({"title": null})), "title: "),
            bad_request(new_with(&json!({"type": ["task"]})), "type: "),
            bad_request(new_with(&json!({"priority": "high"})), "priority: "),
            bad_request(new_with(&json!({"priority": 1.5})), "priority: "),
            bad_request(new_with(&json!({"maxRetries": true})), "maxRetries: "),
            bad_request(new_with(&json!({"doors": "pull"})), "doors: "),
            bad_request(new_with(&json!({"notBefore": 1_700_000_000})), "notBefore: "),
            bad_request(post("/api/issues", &json!({"title": "t"})), "type: is required"),
            bad_request(Request::new("POST", "/api/issues"), "title: is required"),
            bad_request(raw(r#"{"title":"t","type":"task","priority":99999999999999999999}"#), "priority: "),
            bad_request(raw(r#"{"title":"t","title":"u","type":"task"}"#), "title: is given twice"),
        ],
    );
    let bodies = [
        "{",
        "null",
        "[]",
        "\"text\"",
        "{}{}",
        "{\"title\":\"t\",\"type\":\"task\"}x",
        "not json",
        "{'a':1}",
    ];
    let refusals: Vec<_> = bodies.iter().map(|body| bad_request(raw(body), "")).collect();
    check_refusals(desk, &refusals);
}

fn values_out_of_range_name_what_was_expected(desk: &mut Desk) {
    create(desk, &json!({}));
    check_fields(
        desk,
        &[
            invalid(new_with(&json!({"priority": 5})), "priority: expected 0"),
            invalid(new_with(&json!({"priority": -1})), "priority: expected 0"),
            invalid(new_with(&json!({"priorityValue": 0})), "priorityValue: expected 1 to 100"),
            invalid(new_with(&json!({"priorityValue": 101})), "priorityValue: expected 1 to 100"),
            invalid(new_with(&json!({"priority": 1, "priorityValue": 1})), "priority: expected either"),
            invalid(new_with(&json!({"maxRetries": -1})), "maxRetries: expected 0 to 100"),
            invalid(new_with(&json!({"maxRetries": 101})), "maxRetries: expected 0 to 100"),
            invalid(new_with(&json!({"maxRetries": i64::MAX})), "maxRetries: expected 0 to 100"),
            invalid(new_with(&json!({"type": "epic"})), "type: "),
            invalid(new_with(&json!({"type": ""})), "type: "),
            invalid(new_with(&json!({"status": "done"})), "status: "),
            invalid(new_with(&json!({"status": "queued"})), "status: "),
            invalid(new_with(&json!({"doors": []})), "doors: "),
            invalid(new_with(&json!({"doors": ["window"]})), "doors: "),
            invalid(new_with(&json!({"notBefore": "soon"})), "notBefore: expected an RFC 3339 time"),
            invalid(new_with(&json!({"notBefore": "2026-13-01T00:00:00Z"})), "notBefore: "),
            invalid(new_with(&json!({"notBefore": "2026-01-01"})), "notBefore: "),
            invalid(new_with(&json!({"hypothesis": "text"})), "hypothesis: expected an object"),
        ],
    );
    let several = new_with(&json!({"priority": 9, "maxRetries": 101, "title": ""}));
    let body = desk.send(&several).refused(422, "validation");
    assert_eq!(body["details"].as_array().unwrap().len(), 3, "every fault is named at once: {body}");
}

fn text_that_cannot_be_kept_is_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    check_fields(
        desk,
        &[
            invalid(new_with(&json!({"title": ""})), "title: expected 1 to 500 characters"),
            invalid(new_with(&json!({"title": " \n\t"})), "title: expected 1 to 500 characters"),
            invalid(new_with(&json!({"title": "ü".repeat(501)})), "title: expected at most 500 characters"),
            invalid(new_with(&json!({"title": "a\u{0}b"})), "title: expected text without NUL"),
            invalid(new_with(&json!({"description": "a\u{0}b"})), "description: expected text without NUL"),
            invalid(new_with(&json!({"description": "x".repeat(100_001)})), "description: expected at most"),
            invalid(new_with(&json!({"signalSource": "x".repeat(201)})), "signalSource: expected at most"),
            invalid(new_with(&json!({"signalSource": "\u{0}"})), "signalSource: expected text without NUL"),
            invalid(
                new_with(&json!({"signalPayload": "x".repeat(300_000)})),
                "signalPayload: expected at most",
            ),
        ],
    );
    let deep = |depth: usize| format!(r#"{{"title":"t","type":"task","signalPayload":{}"#, "[".repeat(depth));
    check_refusals(
        desk,
        &[
            bad_request(raw(b"{\"title\":\"\xff\xfe\",\"type\":\"task\"}"), ""),
            bad_request(raw(r#"{"title":"\ud800","type":"task"}"#), ""),
            bad_request(raw(deep(200)), ""),
            bad_request(raw(deep(500_000)), ""),
            bad_request(raw("[".repeat(500_000)), ""),
        ],
    );
}

fn bodies_of_the_wrong_size_or_type_are_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    let good = r#"{"title":"t","type":"task"}"#;
    let padded = format!("{good}{}", " ".repeat(1024 * 1024));
    let typed = |content_type: &str| raw(good).header("content-type", content_type);
    check_refusals(
        desk,
        &[
            (raw(padded), 413, "too_large", "1 MiB"),
            (typed("text/plain"), 415, "unsupported_media_type", "application/json"),
            (typed("application/x-www-form-urlencoded"), 415, "unsupported_media_type", ""),
            (typed("application/jsonp"), 415, "unsupported_media_type", ""),
            (typed(""), 415, "unsupported_media_type", ""),
            (
                patch("/api/issues/1", &json!({"title": "x"})).header("content-type", "text/plain"),
                415,
                "unsupported_media_type",
                "",
            ),
        ],
    );
    desk.send(&typed("Application/JSON; charset=utf-8")).expect(201);
}

fn unknown_and_malformed_ids_are_told_apart(desk: &mut Desk) {
    create(desk, &json!({}));
    let unknown = "01990000-0000-7000-8000-000000000000";
    let mut refusals = Vec::new();
    for id in ["abc", "0", "-1", "1.0", "99999999999999999999", "1%00", "%20", "01990000-0000-7000-8000"] {
        let path = format!("/api/issues/{id}");
        refusals.push(bad_request(get(&path), "id: expected an issue's uuid or number"));
        refusals.push(bad_request(delete(&path), "id: "));
        refusals.push(bad_request(patch(&path, &json!({"title": "x"})), "id: "));
        refusals.push(bad_request(post(&format!("{path}/admit"), &Value::Null), "id: "));
    }
    for id in ["2", "9223372036854775807", unknown] {
        let path = format!("/api/issues/{id}");
        refusals.push((get(&path), 404, "not_found", "there is no issue"));
        refusals.push((delete(&path), 404, "not_found", "there is no issue"));
        refusals.push((patch(&path, &json!({"title": "x"})), 404, "not_found", "there is no issue"));
        refusals.push((post(&format!("{path}/admit"), &Value::Null), 404, "not_found", "there is no issue"));
    }
    for verb in ["heartbeat", "complete", "fail", "release"] {
        let path = |id: &str| format!("/api/dispatches/{id}/{verb}");
        refusals.push(bad_request(post(&path("1"), &Value::Null), "id: expected a dispatch's uuid"));
        refusals.push(bad_request(post(&path("abc"), &Value::Null), "id: expected a dispatch's uuid"));
        refusals.push((post(&path(unknown), &Value::Null), 404, "not_found", "there is no dispatch"));
    }
    check_refusals(desk, &refusals);
}

fn queries_are_checked(desk: &mut Desk) {
    create(desk, &json!({}));
    let mut refusals = vec![
        bad_request(get("/api/issues?statuss=todo"), "statuss: unknown field, did you mean status?"),
        bad_request(get("/api/issues?limit=1&limit=2"), "limit"),
        bad_request(get("/api/issues?priority=high"), "priority: expected an integer"),
        bad_request(get("/api/dispatch/next?limit=1"), "limit: unknown field"),
        bad_request(Request::new("POST", "/api/dispatch/next?x=1"), "x: unknown field"),
        bad_request(post("/api/dispatch/next", &json!({"agent": "ada"})), "agent: unknown field"),
        invalid(get("/api/issues?status=open"), "status: "),
        invalid(get("/api/issues?status=todo,"), "status: "),
        invalid(get("/api/issues?type=epic"), "type: "),
        invalid(get("/api/issues?priority=5"), "priority: expected 0"),
        invalid(get("/api/issues?cursor=x"), "cursor: "),
        invalid(get("/api/issues?cursor=-1"), "cursor: "),
    ];
    for path in ["/api/issues", "/api/dispatch/queue"] {
        let with = |query: &str| get(&format!("{path}?{query}"));
        refusals.push(bad_request(with("limt=1"), "limt: unknown field, did you mean limit?"));
        refusals.push(bad_request(with("limit=ten"), "limit: expected an integer"));
        refusals.push(bad_request(with("limit="), "limit: "));
        refusals.push(bad_request(with("limit=99999999999999999999"), "limit: "));
        refusals.push(invalid(with("limit=0"), "limit: expected 1 to 200"));
        refusals.push(invalid(with("limit=201"), "limit: expected 1 to 200"));
        refusals.push(invalid(with("offset=-1"), "offset: expected 0 to 10000"));
        refusals.push(invalid(with("offset=10001"), "offset: expected 0 to 10000"));
    }
    check_refusals(desk, &refusals);
}

fn headers_are_checked(desk: &mut Desk) {
    create(desk, &json!({}));
    let long = "k".repeat(201);
    let mut refusals = Vec::new();
    for key in ["".as_bytes(), long.as_bytes(), "schlüssel".as_bytes(), b"\xff"] {
        refusals.push(bad_request(new_with(&json!({})).header("idempotency-key", key), "Idempotency-Key: "));
        refusals
            .push(bad_request(get("/api/dispatch/next").header("idempotency-key", key), "Idempotency-Key: "));
    }
    for name in ["".as_bytes(), &long.as_bytes()[..101], b"two words", "ädä".as_bytes(), b"tab\there"] {
        refusals.push(bad_request(get("/api/dispatch/next").header("x-agent-id", name), "X-Agent-ID: "));
    }
    check_refusals(desk, &refusals);
}

fn reports_are_checked(desk: &mut Desk) {
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let mut refusals = Vec::new();
    for verb in ["heartbeat", "complete", "fail", "release"] {
        let say = |body: Value| report(&next, verb, &body);
        refusals.push(bad_request(say(json!({"cost": 1})), "cost: unknown field, did you mean costUsd?"));
        refusals.push(bad_request(say(json!({"costUsd": "1"})), "costUsd: "));
        refusals.push(bad_request(
            say(json!({"tokens": {"inputs": 1}})),
            "inputs: unknown field, did you mean input?",
        ));
        refusals.push(bad_request(say(json!({"tokens": 7})), "tokens: "));
        refusals.push(bad_request(report(&next, verb, &Value::Null).raw(r#"{"costUsd":1e400}"#), ""));
        refusals.push(invalid(say(json!({"costUsd": -0.01})), "costUsd: expected 0"));
        refusals.push(invalid(say(json!({"tokens": {"input": -1}})), "tokens.input: expected 0"));
        refusals.push(invalid(say(json!({"progress": "x".repeat(16 * 1024)})), "progress: expected at most"));
    }
    let long = "x".repeat(20_001);
    let complete = |body: Value| report(&next, "complete", &body);
    let fail = |body: Value| report(&next, "fail", &body);
    refusals.extend([
        invalid(complete(json!({"result": "x".repeat(64 * 1024)})), "result: expected at most"),
        invalid(complete(json!({"agentSummary": long})), "agentSummary: expected at most"),
        invalid(complete(json!({"agentSummary": "\u{0}"})), "agentSummary: expected text without NUL"),
        invalid(fail(json!({"error": long})), "error: expected at most"),
        invalid(fail(json!({"error": "\u{0}"})), "error: expected text without NUL"),
        invalid(fail(json!({"class": "bored"})), "class: "),
        invalid(fail(json!({"retryAfter": -1})), "retryAfter: expected 0"),
        invalid(fail(json!({"retryAfter": 86_401})), "retryAfter: expected 0"),
        bad_request(fail(json!({"retryable": "no"})), "retryable: "),
        bad_request(report(&next, "heartbeat", &json!({"result": 1})), "result: unknown field"),
    ]);
    check_refusals(desk, &refusals);
    desk.send(&complete(json!({"result": {"nul": "\u{0}"}}))).expect(200);
}

fn illegal_verbs_name_the_legal_ones(desk: &mut Desk) {
    for status in ["triage", "todo", "todo"] {
        create(desk, &json!({"status": status}));
    }
    desk.send(&report(&claim(desk, "ada"), "complete", &Value::Null)).expect(200);
    for (number, verb, legal) in [
        (1, "park", vec!["admit", "cancel"]),
        (1, "reopen", vec!["admit", "cancel"]),
        (2, "admit", vec!["reopen"]),
        (2, "cancel", vec!["reopen"]),
        (2, "retry", vec!["reopen"]),
        (3, "admit", vec!["park", "cancel"]),
        (3, "retry", vec!["park", "cancel"]),
        (3, "reopen", vec!["park", "cancel"]),
    ] {
        let request = post(&format!("/api/issues/{number}/{verb}"), &Value::Null).token(&desk.admin_token());
        let refusal = (request, 409, "illegal_transition", "legal verbs are");
        let body = check_refusals(desk, &[refusal])[0].json();
        assert_eq!(body["details"]["legal"], json!(legal), "{verb} of {number}");
        for word in legal {
            assert!(body["error"].as_str().unwrap().contains(word), "{body}");
        }
    }
    let with_body = post("/api/issues/1/admit", &json!({"why": "because"}));
    check_refusals(desk, &[bad_request(with_body, "why: unknown field")]);
}

fn bad_edits_change_nothing(desk: &mut Desk) {
    create(desk, &json!({}));
    let edit = |body: Value| patch("/api/issues/1", &body);
    check_refusals(
        desk,
        &[
            bad_request(edit(json!({"titel": "x"})), "titel: unknown field, did you mean title?"),
            bad_request(edit(json!({"title": "x", "priority": "high"})), "priority: "),
            invalid(edit(json!({"title": ""})), "title: "),
            invalid(edit(json!({"title": "x".repeat(501)})), "title: "),
            invalid(edit(json!({"title": "x", "priority": 5})), "priority: "),
            invalid(edit(json!({"priorityValue": 0})), "priorityValue: "),
            invalid(edit(json!({"description": "\u{0}"})), "description: "),
            invalid(edit(json!({"agentSummary": "x".repeat(20_001)})), "agentSummary: "),
            invalid(edit(json!({"doors": []})), "doors: "),
            invalid(edit(json!({"notBefore": "soon"})), "notBefore: "),
            invalid(edit(json!({"hypothesis": 5})), "hypothesis: "),
            invalid(edit(json!({"status": "queued"})), "status: "),
            (edit(json!({"title": "x", "status": "done"})), 409, "illegal_transition", "legal verbs are"),
        ],
    );
}
