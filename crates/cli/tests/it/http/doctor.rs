//! The doctor: what is stored about issues is what should be, and is put right if not.

use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::postgres::Binaries;
use serde_json::{Value, json};

use super::{check_fields, check_refusals, claim, create, invalid, on_both, report, show};
use crate::harness::{Desk, Plan, get, post};

on_both!(
    healthy_desk_has_no_differences,
    doctor_is_for_persons,
    doctor_goes_page_by_page,
    bad_ranges_are_refused,
);

/// Looks at everything; returns what was found.
fn check(desk: &Desk) -> Value {
    desk.send_as_person(get("/api/doctor")).expect(200)["data"].clone()
}

fn healthy_desk_has_no_differences(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({"blockedBy": [1], "parentId": 1, "gatedByParent": true}));
    create(desk, &json!({"notBefore": "2099-01-01T00:00:00Z"}));
    create(desk, &json!({"status": "backlog"}));
    create(desk, &json!({"needs": ["gpu"], "owner": "ann", "boost": 7}));
    let next = claim(desk, "ada");
    assert_eq!(check(desk), json!({"checked": 5, "next": null, "differences": []}));
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    let repaired = desk.send_as_person(post("/api/doctor/repair", &json!({}))).expect(200);
    assert_eq!(repaired["data"], json!({"checked": 5, "next": null, "differences": []}));
}

fn doctor_is_for_persons(desk: &mut Desk) {
    for request in [get("/api/doctor"), post("/api/doctor/repair", &json!({}))] {
        check_refusals(
            desk,
            &[
                (request.clone(), 401, "unauthorized", "this is for persons"),
                (request.clone().agent("ada"), 401, "unauthorized", "this is for persons"),
            ],
        );
    }
}

fn doctor_goes_page_by_page(desk: &mut Desk) {
    for _ in 0..3 {
        create(desk, &json!({}));
    }
    let page = |after: i64| {
        let path = format!("/api/doctor?after={after}&limit=2");
        desk.send_as_person(get(&path)).expect(200)["data"].clone()
    };
    assert_eq!(page(0), json!({"checked": 2, "next": 2, "differences": []}));
    assert_eq!(page(2), json!({"checked": 1, "next": null, "differences": []}));
}

fn bad_ranges_are_refused(desk: &mut Desk) {
    let token = desk.admin_token();
    check_fields(
        desk,
        &[
            invalid(get("/api/doctor?limit=0").token(&token), "limit: expected 1 to 1000"),
            invalid(get("/api/doctor?after=-1").token(&token), "after: expected 0"),
            invalid(post("/api/doctor/repair", &json!({"limit": 1001})).token(&token), "limit: expected 1"),
            (get("/api/doctor?from=1").token(&token), 400, "bad_request", "from: unknown field"),
        ],
    );
}

#[test]
fn what_was_spoilt_is_found_and_repaired() {
    let url = fresh_postgres_url();
    let desk = Desk::start(Plan::default().db(&url));
    create(&desk, &json!({}));
    create(&desk, &json!({"blockedBy": [1]}));
    create(&desk, &json!({}));
    let spoil = "UPDATE task SET open_blockers = 7 WHERE number = 2; DELETE FROM line WHERE task = 3;";
    Binaries::find().unwrap().psql(&url, spoil).unwrap();
    let found = check(&desk);
    assert_eq!(found["checked"], 3);
    let differences = found["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 2, "{found}");
    assert_eq!(differences[0], json!({"number": 2, "what": "openBlockers", "found": 7, "expected": 1}));
    assert_eq!((&differences[1]["number"], &differences[1]["found"]), (&json!(3), &json!("nowhere")));
    assert_eq!(check(&desk), found, "to look changes nothing");
    let repaired = desk.send_as_person(post("/api/doctor/repair", &json!({}))).expect(200);
    for difference in repaired["data"]["differences"].as_array().unwrap() {
        assert_eq!(difference["repaired"], true, "{difference}");
    }
    assert_eq!(check(&desk)["differences"], json!([]));
    assert_eq!(show(&desk, &json!(2))["openBlockers"], 1);
    let queue = desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!(super::numbers(&queue), [1, 3]);
}
