//! The rules of the desk: who may change them, and that they act; and the gates of provider accounts.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_nothing, check_refusals, claim, create, invalid, names, numbers,
    on_both, report,
};
use crate::harness::{Desk, Request, delete, get, put};

on_both!(
    rules_of_a_new_desk_are_the_shipped_ones,
    only_persons_change_the_rules,
    what_is_put_replaces_its_part_and_nothing_else,
    change_of_older_rules_is_refused,
    change_of_profile_puts_the_line_in_its_order,
    limits_hold_and_count_what_is_ending,
    poll_interval_is_told_to_whoever_got_nothing,
    bad_rules_are_refused,
    refused_account_has_a_gate_until_success_or_a_person_opens_it,
    gates_are_opened_by_persons_alone,
);

const LIMIT: Duration = Duration::from_secs(20);

fn rules(desk: &Desk) -> Value {
    desk.send(&get("/api/rules")).expect(200)["data"].clone()
}

#[track_caller]
fn change(desk: &Desk, body: &Value) -> Value {
    desk.send_as_person(put("/api/rules", body)).expect(200)["data"].clone()
}

fn rules_of_a_new_desk_are_the_shipped_ones(desk: &mut Desk) {
    let rules = rules(desk);
    assert_eq!(names(&rules), ["limits", "pollIntervalSecs", "profile", "reranking", "version"]);
    assert_eq!(rules["profile"]["name"], "pipeline");
    assert_eq!(rules["profile"]["numbers"]["signal"], 50);
    assert_eq!(rules["profile"]["numbers"]["age_boost_max"], Value::Null);
    let none = json!({
        "total": null, "kinds": {}, "project": null, "agent": null, "agents": {}, "account": null
    });
    assert_eq!(rules["limits"], none);
    assert_eq!((&rules["pollIntervalSecs"], &rules["reranking"]), (&json!(1), &json!(false)));
}

/// Checks that a request is for persons: nobody, an agent and a holder are refused.
#[track_caller]
fn check_admin_only(desk: &mut Desk, request: &Request) {
    create(desk, &json!({}));
    let holder = claim(desk, "ada");
    let token = holder["dispatch"]["token"].as_str().unwrap();
    check_refusals(
        desk,
        &[
            (request.clone(), 401, "unauthorized", "this is for persons"),
            (request.clone().agent("ada"), 401, "unauthorized", "this is for persons"),
            (request.clone().token(token), 403, "out_of_scope", "this token speaks for dispatch"),
            (request.clone().token("xba_nope"), 401, "unauthorized", "token"),
        ],
    );
}

fn only_persons_change_the_rules(desk: &mut Desk) {
    let before = rules(desk);
    check_admin_only(desk, &put("/api/rules", &json!({"limits": {"total": 0}})));
    assert_eq!(rules(desk), before);
}

fn what_is_put_replaces_its_part_and_nothing_else(desk: &mut Desk) {
    let limits = json!({
        "total": 50, "kinds": {"code": 5}, "project": 3, "agent": 2, "agents": {"ada": 0, "big": null},
        "account": 10
    });
    let first = change(desk, &json!({"limits": limits}));
    assert_eq!(first["limits"], limits);
    assert_eq!(first["profile"]["name"], "pipeline");
    let second = change(desk, &json!({"profile": {"name": "depth_first", "numbers": {"code": 90}}}));
    assert_eq!(second["version"].as_i64().unwrap(), first["version"].as_i64().unwrap() + 1);
    assert_eq!(second["limits"], limits);
    let numbers = &second["profile"]["numbers"];
    assert_eq!(
        (&numbers["code"], &numbers["phase"], &numbers["age_boost_max"]),
        (&json!(90), &json!(80), &json!(50))
    );
    let third = change(desk, &json!({"limits": {"total": 1}, "pollIntervalSecs": 7}));
    let expected = json!({
        "total": 1, "kinds": {}, "project": null, "agent": null, "agents": {}, "account": null
    });
    assert_eq!((&third["limits"], &third["pollIntervalSecs"]), (&expected, &json!(7)));
    let shipped = change(desk, &json!({"profile": {"name": "depth_first"}}));
    assert_eq!(shipped["profile"]["numbers"]["code"], 100);
}

fn change_of_older_rules_is_refused(desk: &mut Desk) {
    let version = rules(desk)["version"].as_i64().unwrap();
    change(desk, &json!({"pollIntervalSecs": 2, "ifVersion": version}));
    let late = put("/api/rules", &json!({"pollIntervalSecs": 3, "ifVersion": version}));
    desk.send_as_person(late).refused(409, "conflict");
    assert_eq!(rules(desk)["pollIntervalSecs"], 2);
}

fn change_of_profile_puts_the_line_in_its_order(desk: &mut Desk) {
    create(desk, &json!({"type": "signal"}));
    create(desk, &json!({"type": "code"}));
    let line = |desk: &Desk| desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!(numbers(&line(desk)), [1, 2]);
    change(desk, &json!({"profile": {"name": "depth_first"}}));
    wait_until(LIMIT, "the line to be ranked anew", || (rules(desk)["reranking"] == false).then_some(()));
    let queue = line(desk);
    assert_eq!(numbers(&queue), [2, 1]);
    assert_eq!(queue["data"][0]["score"], 100);
    assert_eq!(queue["data"][0]["breakdown"]["priorityWeight"], 0);
    create(desk, &json!({"type": "phase", "parentId": 2}));
    assert_eq!(numbers(&line(desk)), [2, 3, 1]);
    assert_eq!(line(desk)["data"][1]["breakdown"]["depthBonus"], 10);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
}

fn limits_hold_and_count_what_is_ending(desk: &mut Desk) {
    for kind in ["code", "code", "plan", "task", "task"] {
        create(desk, &json!({"type": kind}));
    }
    let next = |query: &str| get(&format!("/api/dispatch/next{query}"));
    change(desk, &json!({"limits": {"kinds": {"code": 1}, "agents": {"ada": 2}, "agent": 1, "total": 3}}));
    desk.send(&next("?kinds=code").agent("ada")).expect(200);
    check_nothing(desk, &next("?kinds=code").agent("bob"), "limit");
    let held = desk.send(&next("").agent("ada")).expect(200);
    check_nothing(desk, &next("").agent("ada"), "limit");
    desk.send(&next("").agent("bob")).expect(200);
    check_nothing(desk, &next("").agent("bob"), "limit");
    check_nothing(desk, &next("").agent("cleo"), "limit");
    let why = desk.send(&get("/api/issues/5/why?agent=cleo")).expect(200)["data"].clone();
    assert_eq!(why["verdict"], "waiting");
    assert!(why["gates"][0]["detail"].as_str().unwrap().contains("3 of at most 3 are handed out"), "{why}");
    let number = &held["issue"]["number"];
    desk.send_as_person(crate::harness::post(&format!("/api/issues/{number}/cancel"), &Value::Null))
        .expect(200);
    check_nothing(desk, &next("").agent("cleo"), "limit");
    desk.send(&report(&held, "release", &Value::Null)).expect(200);
    desk.send(&next("").agent("cleo")).expect(200);
}

fn poll_interval_is_told_to_whoever_got_nothing(desk: &mut Desk) {
    change(desk, &json!({"pollIntervalSecs": 30}));
    wait_until(LIMIT, "the new interval to be told", || {
        let reply = desk.send(&get("/api/dispatch/next"));
        assert_eq!(reply.status, 204);
        (reply.header("retry-after") == Some("30")).then_some(())
    });
}

fn bad_rules_are_refused(desk: &mut Desk) {
    let before = rules(desk);
    let token = desk.admin_token();
    let with = |body: Value| put("/api/rules", &body).token(&token);
    let numbers = |numbers: Value| with(json!({"profile": {"name": "pipeline", "numbers": numbers}}));
    check_fields(
        desk,
        &[
            bad_request(with(json!({"version": 3})), "version: unknown field"),
            bad_request(with(json!({"limits": null})), "limits: "),
            bad_request(with(json!({"limits": {"agnet": 1}})), "limits.agnet: unknown field"),
            bad_request(with(json!({"profile": {"numbers": {}}})), "profile.name: is required"),
            bad_request(with(json!({"limits": {"total": "few"}})), "limits.total: "),
            invalid(with(json!({"limits": {"total": -1}})), "limits.total: expected 0 to 1000000"),
            invalid(with(json!({"limits": {"account": 1_000_001}})), "limits.account: expected 0 to 1000000"),
            invalid(with(json!({"limits": {"kinds": {"epic": 1}}})), "limits.kinds: "),
            invalid(with(json!({"limits": {"kinds": {"code": -1}}})), "limits.kinds.code: expected 0"),
            invalid(with(json!({"limits": {"agents": {"two words": 1}}})), "limits.agents: "),
            invalid(with(json!({"profile": {"name": "fifo"}})), "profile.name: "),
            invalid(numbers(json!({"cod": 1})), "profile.numbers: a profile has no number \"cod\""),
            invalid(numbers(json!({"code": 1001})), "profile.numbers: code: expected -1000 to 1000"),
            invalid(with(json!({"pollIntervalSecs": 0})), "pollIntervalSecs: expected 1 to 86400"),
        ],
    );
    assert_eq!(rules(desk), before);
}

fn refused_account_has_a_gate_until_success_or_a_person_opens_it(desk: &mut Desk) {
    let gates = |desk: &Desk| desk.send(&get("/api/gates")).expect(200)["data"].clone();
    assert_eq!(gates(desk), json!([]));
    create(desk, &json!({}));
    create(desk, &json!({}));
    let on = |account: &str| get(&format!("/api/dispatch/next?provider=acme{account}")).agent("ada");
    let (one, other) = (desk.send(&on("")).expect(200), desk.send(&on("")).expect(200));
    let refused = json!({"class": "rate_limited", "retryAfter": 3600});
    desk.send(&report(&one, "fail", &refused)).expect(200);
    let closed = gates(desk);
    assert_eq!(names(&closed[0]), ["account", "hits", "provider", "until"]);
    assert_eq!(
        (&closed[0]["provider"], &closed[0]["account"], &closed[0]["hits"]),
        (&json!("acme"), &json!(""), &json!(1))
    );
    create(desk, &json!({}));
    check_nothing(desk, &on(""), "rate_limited");
    desk.send(&report(&other, "complete", &Value::Null)).expect(200);
    assert_eq!(gates(desk), json!([]), "it works again");
    let again = desk.send(&on("&account=team")).expect(200);
    desk.send(&report(&again, "fail", &refused)).expect(200);
    assert_eq!(gates(desk).as_array().unwrap().len(), 1);
    let gate = "/api/gates/acme/team";
    assert_eq!(desk.send_as_person(delete(gate)).status, 204);
    desk.send_as_person(delete(gate)).refused(404, "not_found");
    assert_eq!(gates(desk), json!([]));
}

fn gates_are_opened_by_persons_alone(desk: &mut Desk) {
    check_admin_only(desk, &delete("/api/gates/acme/-"));
    desk.send_as_person(delete("/api/gates/acme/-")).refused(404, "not_found");
}
