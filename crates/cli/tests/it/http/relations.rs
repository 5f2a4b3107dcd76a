//! Relations between issues: what holds what back, seen from both ends, and cycles.

use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_nothing, check_refusals, claim, create, names, on_both, report, show,
};
use crate::harness::{Desk, Reply, Request, delete, get, post};

on_both!(
    blocked_issue_waits_until_its_blocker_is_done,
    relation_is_one_and_seen_from_both_ends,
    relation_that_is_taken_back_holds_no_longer,
    canceled_and_deleted_blockers_hold_nothing_back,
    cycle_is_refused_and_named,
    cycle_through_a_gating_parent_is_refused,
    new_issue_may_be_blocked_from_the_start,
    related_issues_do_not_wait_for_each_other,
    bad_relations_are_refused,
);

fn relate(number: i64, kind: &str, other: &Value) -> Request {
    post(&format!("/api/issues/{number}/relations"), &json!({"type": kind, "relatedIssueId": other}))
}

fn relations(desk: &Desk, number: i64) -> Value {
    desk.send(&get(&format!("/api/issues/{number}/relations"))).expect(200)
}

fn create_many(desk: &Desk, count: usize) {
    for _ in 0..count {
        create(desk, &json!({}));
    }
}

fn blocked_issue_waits_until_its_blocker_is_done(desk: &mut Desk) {
    create_many(desk, 2);
    let relation = desk.send(&relate(1, "blocked_by", &json!(2))).expect(201)["data"].clone();
    assert_eq!(names(&relation), ["createdAt", "id", "issueId", "related", "relatedIssueId", "type"]);
    assert_eq!(names(&relation["related"]), ["id", "number", "state", "status", "title", "type"]);
    let blocked = show(desk, &json!(1));
    assert_eq!((&blocked["held"], &blocked["openBlockers"]), (&json!(true), &json!(1)));
    let next = claim(desk, "ada");
    assert_eq!(next["issue"]["number"], 2);
    check_nothing(desk, &get("/api/dispatch/next"), "held");
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    let freed = show(desk, &json!(1));
    assert_eq!((&freed["held"], &freed["openBlockers"]), (&json!(false), &json!(0)));
    assert_eq!(freed["queuedAt"], blocked["queuedAt"], "it has waited all the while");
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

fn relation_is_one_and_seen_from_both_ends(desk: &mut Desk) {
    create_many(desk, 2);
    let first = desk.send(&relate(1, "blocked_by", &json!("2"))).expect(201)["data"].clone();
    let same: [Reply; 3] = [
        desk.send(&relate(1, "blocked_by", &first["relatedIssueId"])),
        desk.send(&relate(1, "blocked_by", &json!(2))),
        desk.send(&relate(2, "blocks", &json!(1))),
    ];
    for reply in same {
        assert_eq!(reply.expect(200)["data"]["id"], first["id"]);
    }
    for (number, kind, other) in [(1, "blocked_by", 2), (2, "blocks", 1)] {
        let list = relations(desk, number);
        assert_eq!(list["total"], 1);
        assert_eq!(list["data"][0]["type"], kind);
        assert_eq!(list["data"][0]["related"]["number"], other);
        let detail = show(desk, &json!(number));
        assert_eq!(detail["relations"], list["data"]);
        assert_eq!(list["data"][0]["issueId"], detail["id"]);
    }
    assert_eq!(show(desk, &json!(1))["openBlockers"], 1, "it counts once");
}

fn relation_that_is_taken_back_holds_no_longer(desk: &mut Desk) {
    create_many(desk, 2);
    let relation = desk.send(&relate(1, "blocked_by", &json!(2))).expect(201)["data"].clone();
    let path = format!("/api/relations/{}", relation["id"].as_str().unwrap());
    assert_eq!(desk.send(&delete(&path)).status, 204);
    desk.send(&delete(&path)).refused(404, "not_found");
    assert_eq!(show(desk, &json!(1))["held"], false);
    assert_eq!(relations(desk, 2), json!({"data": [], "total": 0}));
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

fn canceled_and_deleted_blockers_hold_nothing_back(desk: &mut Desk) {
    create_many(desk, 3);
    desk.send(&relate(1, "blocked_by", &json!(2))).expect(201);
    desk.send(&relate(1, "blocked_by", &json!(3))).expect(201);
    desk.send_as_person(post("/api/issues/2/cancel", &Value::Null)).expect(200);
    assert_eq!(show(desk, &json!(1))["openBlockers"], 1);
    desk.send_as_person(post("/api/issues/2/reopen", &Value::Null)).expect(200);
    assert_eq!(show(desk, &json!(1))["openBlockers"], 2, "what is reopened holds again");
    for number in [2, 3] {
        assert_eq!(desk.send_as_person(delete(&format!("/api/issues/{number}"))).status, 204);
    }
    let freed = show(desk, &json!(1));
    assert_eq!((&freed["openBlockers"], &freed["held"]), (&json!(0), &json!(false)));
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

/// Checks that a request would close a cycle through these issues, in whichever turn.
#[track_caller]
fn check_cycle(desk: &mut Desk, request: Request, members: &[i64]) {
    let replies = check_refusals(desk, &[(request, 422, "cycle", " → #")]);
    let body = replies[0].json();
    let cycle: Vec<i64> = serde_json::from_value(body["details"]["cycle"].clone()).unwrap();
    let text = cycle.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(" → ");
    assert!(body["error"].as_str().unwrap().contains(&text), "{body}");
    assert_eq!(cycle.first(), cycle.last());
    let mut found = cycle[1..].to_vec();
    found.sort_unstable();
    assert_eq!(found, members);
}

fn cycle_is_refused_and_named(desk: &mut Desk) {
    create_many(desk, 4);
    desk.send(&relate(1, "blocked_by", &json!(2))).expect(201);
    desk.send(&relate(3, "blocks", &json!(2))).expect(201);
    desk.send(&relate(4, "blocked_by", &json!(1))).expect(201);
    check_cycle(desk, relate(2, "blocked_by", &json!(1)), &[1, 2]);
    check_cycle(desk, relate(3, "blocked_by", &json!(1)), &[1, 2, 3]);
    check_cycle(desk, relate(1, "blocks", &json!(3)), &[1, 2, 3]);
    assert_eq!(relations(desk, 3)["total"], 1);
}

fn cycle_through_a_gating_parent_is_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({"parentId": 1, "gatedByParent": true}));
    check_cycle(desk, relate(1, "blocked_by", &json!(2)), &[1, 2]);
    create(desk, &json!({"parentId": 1}));
    desk.send(&relate(1, "blocked_by", &json!(3))).expect(201);
    let gate = crate::harness::patch("/api/issues/3", &json!({"gatedByParent": true}));
    check_cycle(desk, gate, &[1, 3]);
}

fn new_issue_may_be_blocked_from_the_start(desk: &mut Desk) {
    create_many(desk, 2);
    let issue = create(desk, &json!({"blockedBy": [1, "2"], "priority": 1}));
    assert_eq!((&issue["held"], &issue["openBlockers"]), (&json!(true), &json!(2)));
    assert_eq!(relations(desk, 3)["total"], 2);
    for expected in [1, 2, 3] {
        let next = claim(desk, "ada");
        assert_eq!(next["issue"]["number"], expected);
        desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    }
}

fn related_issues_do_not_wait_for_each_other(desk: &mut Desk) {
    create_many(desk, 2);
    for kind in ["related", "duplicate"] {
        desk.send(&relate(1, kind, &json!(2))).expect(201);
    }
    assert_eq!(relations(desk, 1)["total"], 2);
    assert_eq!(show(desk, &json!(1))["held"], false);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

fn bad_relations_are_refused(desk: &mut Desk) {
    create_many(desk, 2);
    let to = |body: &Value| post("/api/issues/1/relations", body);
    let unknown = "01990000-0000-7000-8000-000000000000";
    check_fields(
        desk,
        &[
            bad_request(relate(1, "precedes", &json!(2)), "type: "),
            bad_request(to(&json!({"type": "blocks"})), "relatedIssueId: is required"),
            bad_request(
                to(&json!({"type": "blocks", "relatedId": 2})),
                "relatedId: unknown field, did you mean relatedIssueId?",
            ),
            bad_request(to(&json!({"type": "blocks", "relatedIssueId": 1.5})), "relatedIssueId: "),
            (relate(1, "blocks", &json!(9)), 422, "validation", "relatedIssueId: "),
            (relate(1, "blocks", &json!(unknown)), 422, "validation", "relatedIssueId: "),
            (relate(1, "blocks", &json!("nine")), 422, "validation", "relatedIssueId: "),
            bad_request(delete("/api/relations/7"), "id: "),
        ],
    );
    check_refusals(
        desk,
        &[
            (relate(9, "blocks", &json!(1)), 404, "not_found", "there is no issue"),
            (get("/api/issues/9/relations"), 404, "not_found", "there is no issue"),
            (delete(&format!("/api/relations/{unknown}")), 404, "not_found", "there is no relation"),
        ],
    );
    for kind in ["blocks", "blocked_by", "related", "duplicate"] {
        let reply = desk.send(&relate(1, kind, &json!(1)));
        assert_eq!(reply.status, 422, "{kind}: {}", reply.text());
    }
    assert_eq!(relations(desk, 1)["total"], 0);
}
