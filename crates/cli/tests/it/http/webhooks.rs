//! Webhooks: signed by whoever sends them, heard once, and nothing is made of those that are not.
//!
//! The signatures were computed elsewhere: HMAC-SHA256 of the body that stands beside each.

use std::thread;

use serde_json::{Value, json};

use super::{check_refusals, show};
use crate::harness::{Backend, Desk, Plan, Request, get, post};

const GITHUB_SECRET: &str = "octo-secret";
const SENTRY_SECRET: &str = "sentry-secret";
const POSTHOG_SECRET: &str = "hog-secret";

/// A body and its signature.
type Signed = (&'static str, &'static str);

const OPENED: Signed = (
    r#"{"action":"opened","repository":{"full_name":"acme/pay"},"sender":{"login":"mona"},"title":"é"}"#,
    "ed10061b94ce1b545fba840b7d4b6a299ee0df07abd9b2666166349bae1d2f04",
);
const ADVISORY: Signed = (
    r#"{"action":"published","repository":{"full_name":"acme/pay"},"sender":{"login":"mona"}}"#,
    "bcdc3698266dd71107184a50898800db878f5461a2bbb4921a2a500be3ed5109",
);
const PING: Signed = (
    r#"{"zen":"Design for failure.","hook_id":1}"#,
    "afb8186c9fe1e099432268b59eff26b1c8496013078d2188f824f0c97a3be09b",
);
const NOT_JSON: Signed = ("not json", "3f0324b2ff521ab9ec28121e47c691767f0bedbff97b88f4a5af3ad092145ec6");
const BOOM: Signed = (
    r#"{"action":"created","data":{"issue":{"id":"42","title":"Boom","level":"error","count":"120"}}}"#,
    "3e7080c42dbb9f7bdca287096ba4586ff78fa369c3519124bb1c9cb8c8b8eb3a",
);
const METRIC: &str = r#"{"metric":"signups","change":"-30","timeframe":"24h","alert_id":"a1"}"#;

fn knowing(plan: Plan) -> Plan {
    plan.variable("EXTRABOARD_WEBHOOKS_GITHUB_SECRET", GITHUB_SECRET)
        .variable("EXTRABOARD_WEBHOOKS_SENTRY_SECRET", SENTRY_SECRET)
        .variable("EXTRABOARD_WEBHOOKS_POSTHOG_SECRET", POSTHOG_SECRET)
}

fn backends() -> [Desk; 2] {
    [Backend::Sqlite, Backend::Postgres].map(|backend| Desk::start(knowing(backend.plan())))
}

fn github((body, signature): Signed, event: &str, delivery: &str) -> Request {
    Request::new("POST", "/api/signals/github")
        .raw(body)
        .header("x-github-event", event)
        .header("x-github-delivery", delivery)
        .header("x-hub-signature-256", format!("sha256={signature}"))
}

fn sentry((body, signature): Signed) -> Request {
    Request::new("POST", "/api/signals/sentry")
        .raw(body)
        .header("sentry-hook-resource", "issue")
        .header("request-id", "r-1")
        .header("sentry-hook-signature", signature)
}

fn posthog(secret: &str) -> Request {
    Request::new("POST", "/api/signals/posthog").raw(METRIC).header("x-posthog-secret", secret)
}

#[track_caller]
fn check_count(desk: &Desk, expected: usize) {
    let signals = desk.send_as_person(get("/api/signals")).expect(200)["total"].clone();
    assert_eq!((signals, desk.issues().len()), (json!(expected), expected));
}

#[test]
fn signed_deliveries_become_signals_and_issues() {
    for desk in backends() {
        for (request, title, priority, source_id) in [
            (github(OPENED, "issues", "d-1"), "GitHub: issues on acme/pay by mona", 3, "issues.opened"),
            (
                github(ADVISORY, "security_advisory", "d-2"),
                "GitHub: security_advisory on acme/pay by mona",
                1,
                "security_advisory.published",
            ),
            (sentry(BOOM), "Sentry: Boom (120 events)", 1, "42"),
            (posthog(POSTHOG_SECRET), "PostHog: signups -30% (24h)", 2, "a1"),
        ] {
            let pair = desk.send(&request).expect(201)["data"].clone();
            let issue = show(&desk, &pair["issue"]["number"]);
            assert_eq!((&issue["title"], &issue["priority"]), (&json!(title), &json!(priority)));
            assert_eq!((&issue["type"], &issue["status"]), (&json!("signal"), &json!("triage")));
            assert_eq!(pair["signal"]["sourceId"], source_id);
            assert_eq!(pair["signal"]["issueId"], issue["id"]);
            assert_eq!(issue["signalSource"], pair["signal"]["source"]);
        }
        check_count(&desk, 4);
        let payload = &desk.issues()[0]["signalPayload"];
        assert_eq!(*payload, serde_json::from_str::<Value>(OPENED.0).unwrap());
    }
}

#[test]
fn n16_a_delivery_that_comes_again_is_answered_with_the_same_pair() {
    for desk in backends() {
        for request in [github(OPENED, "issues", "d-1"), sentry(BOOM), posthog(POSTHOG_SECRET)] {
            let first = desk.send(&request).expect(201);
            let again = desk.send(&request).expect(200);
            assert_eq!(again["data"]["signal"], first["data"]["signal"]);
            assert_eq!(again["data"]["issue"]["id"], first["data"]["issue"]["id"]);
        }
        check_count(&desk, 3);
        // The same words on another occasion are another delivery.
        desk.send(&github(OPENED, "issues", "d-2")).expect(201);
        check_count(&desk, 4);
    }
}

#[test]
fn of_eight_deliveries_of_one_id_at_once_one_creates() {
    for desk in backends() {
        let statuses: Vec<u16> = thread::scope(|scope| {
            let send = || desk.send(&github(OPENED, "issues", "d-1")).status;
            let senders: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 7, "{statuses:?}");
        check_count(&desk, 1);
    }
}

#[test]
fn what_is_not_signed_by_the_secret_is_refused_and_leaves_nothing() {
    let mut desk = Desk::start(knowing(Plan::default()));
    let unsigned =
        |path: &str, body: &str| Request::new("POST", path).raw(body).header("x-github-event", "issues");
    let other = |header: &str, value: &str| github(OPENED, "issues", "d-1").header(header, value);
    let tampered = (ADVISORY.0, OPENED.1);
    let cut = &OPENED.1[..62];
    let refusals: Vec<_> = [
        github(tampered, "issues", "d-1"),
        unsigned("/api/signals/github", OPENED.0),
        unsigned("/api/signals/sentry", BOOM.0),
        unsigned("/api/signals/posthog", METRIC),
        other("x-hub-signature-256", ""),
        other("x-hub-signature-256", "sha256="),
        other("x-hub-signature-256", OPENED.1),
        other("x-hub-signature-256", &format!("sha1={}", OPENED.1)),
        other("x-hub-signature-256", &format!("sha256={cut}")),
        other("x-hub-signature-256", &format!("sha256={}00", OPENED.1)),
        sentry((BOOM.0, OPENED.1)),
        sentry(OPENED),
        posthog("hog-secre"),
        posthog("hog-secret-"),
        posthog(""),
        // A token is no signature, whoever's it is.
        unsigned("/api/signals/github", OPENED.0).token(&desk.admin_token()),
    ]
    .into_iter()
    .map(|request| (request, 401, "unauthorized", "sign"))
    .collect();
    check_refusals(&mut desk, &refusals);
    check_count(&desk, 0);
    desk.send(&github(OPENED, "issues", "d-1")).expect(201);
}

#[test]
fn a_ping_is_answered_and_makes_nothing() {
    let desk = Desk::start(knowing(Plan::default()));
    assert_eq!(desk.send(&github(PING, "ping", "d-1")).expect(204), Value::Null);
    desk.send(&github((PING.0, OPENED.1), "ping", "d-1")).refused(401, "unauthorized");
    check_count(&desk, 0);
}

#[test]
fn signed_nonsense_is_a_bad_request() {
    let mut desk = Desk::start(knowing(Plan::default()));
    check_refusals(&mut desk, &[(github(NOT_JSON, "issues", "d-1"), 400, "bad_request", "JSON")]);
    check_count(&desk, 0);
}

#[test]
fn a_secret_that_was_not_set_is_told() {
    let mut desk = Desk::start(Plan::default().variable("EXTRABOARD_WEBHOOKS_GITHUB_SECRET", GITHUB_SECRET));
    check_refusals(
        &mut desk,
        &[
            (sentry(BOOM), 500, "not_configured", "webhooks.sentry_secret"),
            (posthog(POSTHOG_SECRET), 500, "not_configured", "webhooks.posthog_secret"),
            (posthog(""), 500, "not_configured", "webhooks.posthog_secret"),
        ],
    );
    check_count(&desk, 0);
    desk.send(&github(OPENED, "issues", "d-1")).expect(201);
}

#[test]
fn webhooks_need_no_token_beyond_loopback_and_nothing_else_goes_without() {
    let desk = Desk::start(knowing(Plan::default().listen_ip("0.0.0.0")));
    desk.send(&github(OPENED, "issues", "d-1")).expect(201);
    desk.send(&sentry(BOOM)).expect(201);
    desk.send(&posthog(POSTHOG_SECRET)).expect(201);
    desk.send(&github(PING, "ping", "d-2")).expect(204);
    desk.send(&github((ADVISORY.0, OPENED.1), "issues", "d-3")).refused(401, "unauthorized");
    let plain = json!({"source": "ci", "type": "t", "severity": "low", "payload": {}});
    for request in [
        post("/api/signals", &plain),
        get("/api/signals"),
        get("/api/signals/github"),
        post("/api/signals/gitlab", &plain),
        post("/api/signals/github/", &plain),
    ] {
        desk.send(&request).refused(401, "unauthorized");
    }
    check_count(&desk, 3);
}

#[test]
fn a_webhook_names_its_project() {
    let mut desk = Desk::start(knowing(Plan::default()));
    let project = json!({"name": "pay", "settings": {"signals": {"status": "todo"}}});
    let project = desk.send_as_person(post("/api/projects", &project)).expect(201)["data"].clone();
    let to = |query: &str| {
        Request::new("POST", &format!("/api/signals/posthog?{query}"))
            .raw(METRIC)
            .header("x-posthog-secret", POSTHOG_SECRET)
    };
    check_refusals(
        &mut desk,
        &[
            (to("projectId=nope"), 422, "validation", "projectId: "),
            (to("project=pay"), 400, "bad_request", "project"),
        ],
    );
    check_count(&desk, 0);
    let issue = desk.send(&to("projectId=pay")).expect(201)["data"]["issue"].clone();
    assert_eq!((&issue["projectId"], &issue["status"]), (&project["id"], &json!("todo")));
}
