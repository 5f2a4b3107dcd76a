//! What a `PATCH` of a status does, by whom it comes: holder, person, agent, nobody in particular.

use serde_json::{Value, json};

use super::{claim, create, on_both, report, show};
use crate::harness::{Desk, Reply, Request, get, patch, post};

on_both!(
    holder_reports_by_patching,
    holder_is_known_by_token_by_name_and_by_having_none,
    others_cannot_close_what_somebody_holds,
    agent_opens_a_dispatch_for_exactly_that_issue,
    in_progress_of_what_cannot_start_is_refused,
    person_closes_and_reopens,
    agent_may_admit_and_park_but_not_close,
    refusal_names_what_is_legal,
    old_token_is_no_holder,
);

fn ask(number: &Value, status: &str) -> Request {
    patch(&format!("/api/issues/{number}"), &json!({"status": status}))
}

#[track_caller]
fn illegal(reply: &Reply) -> Vec<String> {
    let body = reply.refused(409, "illegal_transition");
    let legal = body["details"]["legal"].as_array().expect("a refusal names what is legal").clone();
    for verb in &legal {
        assert!(body["error"].as_str().unwrap().contains(verb.as_str().unwrap()), "{body}");
    }
    legal.iter().map(|verb| verb.as_str().unwrap().to_owned()).collect()
}

fn holder_reports_by_patching(desk: &mut Desk) {
    for (status, state) in [
        ("done", "done"),
        ("canceled", "canceled"),
        ("blocked", "blocked"),
        ("in_progress", "running"),
        ("todo", "queued"),
    ] {
        let number = create(desk, &json!({"priority": 1}))["number"].clone();
        let next = claim(desk, "ada");
        assert_eq!(next["issue"]["number"], number);
        let body = json!({"status": status, "agentSummary": "a word"});
        let reply = desk.send(&patch(&format!("/api/issues/{number}"), &body).agent("ada")).expect(200);
        assert_eq!(reply["data"]["state"], state);
        assert_eq!(reply["data"]["agentSummary"], "a word");
        assert_eq!(reply["data"]["dispatch"].is_null(), state != "running", "{state}");
        assert_eq!(show(desk, &number)["state"], state);
        if state == "running" {
            desk.send(&report(&next, "complete", &Value::Null)).expect(200);
        }
    }
}

fn holder_is_known_by_token_by_name_and_by_having_none(desk: &mut Desk) {
    for who in ["token", "agent", "anonymous"] {
        let number = create(desk, &json!({}))["number"].clone();
        let next = match who {
            "anonymous" => desk.send(&get("/api/dispatch/next")).expect(200),
            _ => claim(desk, "ada"),
        };
        let done = ask(&number, "done");
        let done = match who {
            "token" => done.token(next["dispatch"]["token"].as_str().unwrap()),
            "agent" => done.agent("ada"),
            _ => done,
        };
        assert_eq!(desk.send(&done).expect(200)["data"]["state"], "done", "{who}");
    }
}

fn others_cannot_close_what_somebody_holds(desk: &mut Desk) {
    let number = create(desk, &json!({}))["number"].clone();
    claim(desk, "ada");
    let before = show(desk, &number);
    for status in ["done", "canceled", "todo", "blocked", "in_progress", "failed", "backlog"] {
        illegal(&desk.send(&ask(&number, status).agent("bob")));
        illegal(&desk.send(&ask(&number, status)));
        assert_eq!(show(desk, &number), before, "{status}");
    }
}

fn agent_opens_a_dispatch_for_exactly_that_issue(desk: &mut Desk) {
    create(desk, &json!({"priority": 1}));
    let number = create(desk, &json!({"priority": 4}))["number"].clone();
    let reply = desk.send(&ask(&number, "in_progress").agent("ada")).expect(200);
    assert_eq!(reply["data"]["state"], "running");
    assert_eq!(reply["data"]["dispatch"]["holder"], "agent:ada");
    assert_eq!(reply["dispatch"]["id"], reply["data"]["dispatch"]["id"]);
    assert_eq!(reply["dispatch"]["leaseSeconds"], 3600);
    illegal(&desk.send(&ask(&number, "in_progress").agent("bob")));
    let again = desk.send(&ask(&number, "in_progress").agent("ada")).expect(200);
    assert_eq!(again["data"]["dispatch"]["id"], reply["dispatch"]["id"], "it has it already");
    desk.send(&report(&reply, "complete", &json!({"result": "ok"}))).expect(200);
    assert_eq!(show(desk, &number)["result"], "ok");
    assert_eq!(claim(desk, "bob")["issue"]["number"], 1);
}

fn in_progress_of_what_cannot_start_is_refused(desk: &mut Desk) {
    let later = create(desk, &json!({"notBefore": "2099-01-01T00:00:00Z"}));
    desk.send(&ask(&later["number"], "in_progress").agent("ada")).refused(409, "illegal_transition");
    let pushed = create(desk, &json!({"doors": ["push"]}));
    desk.send(&ask(&pushed["number"], "in_progress").agent("ada")).refused(409, "illegal_transition");
    let triage = create(desk, &json!({"status": "triage"}));
    assert_eq!(illegal(&desk.send(&ask(&triage["number"], "in_progress").agent("ada"))), ["admit"]);
    for issue in [later, pushed, triage] {
        assert_eq!(show(desk, &issue["number"])["state"], issue["state"]);
    }
}

fn person_closes_and_reopens(desk: &mut Desk) {
    let number = create(desk, &json!({"status": "triage"}))["number"].clone();
    for (status, state) in [
        ("done", "done"),
        ("todo", "queued"),
        ("canceled", "canceled"),
        ("todo", "queued"),
        ("backlog", "backlog"),
    ] {
        let reply = desk.send_as_person(ask(&number, status)).expect(200);
        assert_eq!(reply["data"]["state"], state);
    }
    desk.send_as_person(ask(&number, "todo")).expect(200);
    let next = claim(desk, "ada");
    let closed = desk.send_as_person(ask(&number, "done")).expect(200);
    assert_eq!(closed["data"]["state"], "done");
    assert_eq!(closed["data"]["dispatch"]["phase"], "ending", "whoever worked on it is told");
    assert_eq!(desk.send(&report(&next, "heartbeat", &Value::Null)).expect(200)["order"], "stop");
}

fn agent_may_admit_and_park_but_not_close(desk: &mut Desk) {
    let number = create(desk, &json!({"status": "triage"}))["number"].clone();
    for (status, state) in [("todo", "queued"), ("backlog", "backlog"), ("todo", "queued")] {
        let reply = desk.send(&ask(&number, status).agent("ada")).expect(200);
        assert_eq!(reply["data"]["state"], state);
    }
    for status in ["done", "canceled", "failed", "blocked", "in_review"] {
        illegal(&desk.send(&ask(&number, status).agent("ada")));
    }
    let cancel = post(&format!("/api/issues/{number}/cancel"), &Value::Null).agent("ada");
    let refusal = desk.send(&cancel).refused(409, "illegal_transition");
    assert!(refusal["error"].as_str().unwrap().contains("is for a person"), "{refusal}");
    assert_eq!(show(desk, &number)["state"], "queued");
}

fn refusal_names_what_is_legal(desk: &mut Desk) {
    let number = create(desk, &json!({}))["number"].clone();
    let legal = illegal(&desk.send(&ask(&number, "done").agent("ada")));
    assert_eq!(legal, ["park", "claim"]);
    let legal = illegal(&desk.send_as_person(ask(&number, "blocked")));
    assert_eq!(legal, ["park", "claim", "close", "cancel"]);
    claim(desk, "ada");
    let legal = illegal(&desk.send(&ask(&number, "backlog").agent("ada")));
    assert_eq!(legal, ["release", "ask", "complete", "cancel"]);
}

fn old_token_is_no_holder(desk: &mut Desk) {
    let number = create(desk, &json!({}))["number"].clone();
    let old = claim(desk, "ada");
    desk.send(&report(&old, "release", &Value::Null)).expect(200);
    claim(desk, "bob");
    let before = show(desk, &number);
    let token = old["dispatch"]["token"].as_str().unwrap();
    for status in ["done", "todo", "canceled", "blocked"] {
        let reply = desk.send(&ask(&number, status).token(token));
        assert_eq!(reply.status, 409, "{}", reply.text());
        assert_eq!(show(desk, &number), before, "{status}");
    }
}
