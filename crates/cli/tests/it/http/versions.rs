//! Versions of templates: what is no template, which version is in use, and that it is one.

use std::thread;

use extraboard_testkit::database::fresh_postgres_url;
use serde_json::{Value, json};

use super::{
    bad_request, check_refusals, claim, create, invalid, names, on_both, preview, promote, template, version,
};
use crate::harness::{Desk, Plan, get, post};

on_both!(
    first_version_is_active_and_others_are_drafts,
    t16_text_that_is_no_template_is_refused_with_line_and_column,
    t11_draft_is_never_used,
    t12_of_many_promotes_one_version_is_active,
    version_of_another_template_is_not_promoted,
);

pub(crate) fn versions(desk: &Desk, slug: &str) -> Vec<Value> {
    let list = desk.send(&get(&format!("/api/templates/{slug}/versions"))).expect(200);
    let found = list["data"].as_array().unwrap().clone();
    assert_eq!(list["total"], found.len());
    found
}

/// Returns number and status of each version, newest first.
fn statuses(desk: &Desk, slug: &str) -> Vec<(i64, String)> {
    let of = |version: &Value| {
        (version["version"].as_i64().unwrap(), version["status"].as_str().unwrap().to_owned())
    };
    versions(desk, slug).iter().map(of).collect()
}

fn first_version_is_active_and_others_are_drafts(desk: &mut Desk) {
    template(desk, "t", &json!({}), "One.");
    let body = json!({"content": "Two.", "changelog": "better", "authorType": "human", "authorName": "Ann"});
    let second =
        desk.send(&post("/api/templates/t/versions", &body).agent("ada")).expect(201)["data"].clone();
    let fields = [
        "authorName",
        "authorType",
        "avgDurationMs",
        "changelog",
        "completionRate",
        "content",
        "createdAt",
        "id",
        "improvementIssueId",
        "reviewCount",
        "reviewScore",
        "reworkRate",
        "status",
        "templateId",
        "usageCount",
        "version",
    ];
    assert_eq!(names(&second), fields);
    for (field, expected) in [
        ("version", json!(2)),
        ("content", json!("Two.")),
        ("changelog", json!("better")),
        ("authorType", json!("human")),
        ("authorName", json!("Ann")),
        ("status", json!("draft")),
        ("usageCount", json!(0)),
        ("reviewCount", json!(0)),
        ("completionRate", Value::Null),
        ("reworkRate", Value::Null),
        ("avgDurationMs", Value::Null),
        ("reviewScore", Value::Null),
        ("improvementIssueId", Value::Null),
    ] {
        assert_eq!(second[field], expected, "{field}");
    }
    let own = desk.send(&post("/api/templates/t/versions", &json!({"content": "3"})).agent("ada"));
    let own = own.expect(201)["data"].clone();
    assert_eq!((&own["authorType"], &own["authorName"]), (&json!("agent"), &json!("agent:ada")));
    let said = |list: &[(i64, &str)]| -> Vec<(i64, String)> {
        list.iter().map(|(number, status)| (*number, (*status).to_owned())).collect()
    };
    assert_eq!(statuses(desk, "t"), said(&[(3, "draft"), (2, "draft"), (1, "active")]));
    let by_id = format!("/api/templates/t/versions/{}/promote", second["id"].as_str().unwrap());
    assert_eq!(desk.send_as_person(post(&by_id, &Value::Null)).expect(200)["data"]["status"], "active");
    assert_eq!(statuses(desk, "t"), said(&[(3, "draft"), (2, "active"), (1, "retired")]));
    desk.send_as_person(post(&by_id, &Value::Null)).refused(422, "validation");
    // What was retired can come back.
    promote(desk, "t", 1);
    assert_eq!(statuses(desk, "t"), said(&[(3, "draft"), (2, "retired"), (1, "active")]));
    let page = desk.send(&get("/api/templates/t/versions?limit=1&offset=1")).expect(200);
    assert_eq!((&page["total"], &page["data"][0]["version"]), (&json!(3), &json!(2)));
}

fn t16_text_that_is_no_template_is_refused_with_line_and_column(desk: &mut Desk) {
    template(desk, "t", &json!({}), "One.");
    let add = |content: &str| post("/api/templates/t/versions", &json!({"content": content}));
    let mut refusals = Vec::new();
    for content in [
        "One.\n  {{{issue.title}}}",
        "One.\n  {{&issue.title}}",
        "One.\n  {{#if x}}never closed",
        "One.\n  {{{{raw}}}}x{{{{/raw}}}}",
        "One.\n  {{#*inline \"x\"}}y{{/inline}}",
        "One.\n  {{nope x}}",
        "One.\n  {{> nope}}",
        "One.\n  {{#if false}}{{log issue}}{{/if}}",
        "",
        "NUL \0",
    ] {
        refusals.push(invalid(add(content), "content: "));
    }
    let large = "x".repeat(64 * 1024 + 1);
    refusals.push(invalid(add(&large), "content: "));
    for (reply, (request, ..)) in check_refusals(desk, &refusals).iter().zip(&refusals).take(3) {
        let told = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(told.contains("line 2") && told.contains("column"), "{request:?}: {told}");
    }
    check_refusals(desk, &[bad_request(post("/api/templates/t/versions", &json!({})), "content")]);
    assert_eq!(versions(desk, "t").len(), 1);
}

fn t11_draft_is_never_used(desk: &mut Desk) {
    let slugless = json!({"slug": "empty", "name": "n", "specificity": 100});
    desk.send(&post("/api/templates", &slugless)).expect(201);
    template(desk, "t", &json!({}), "Used.");
    let draft = version(desk, "t", "Draft.");
    let issue = create(desk, &json!({}));
    assert_eq!(preview(desk, &issue["number"])["prompt"], "Used.");
    let path =
        format!("/api/templates/preview/{}?versionId={}", issue["number"], draft["id"].as_str().unwrap());
    let shown = desk.send(&get(&path)).expect(200);
    assert_eq!((&shown["prompt"], &shown["version"]["version"]), (&json!("Draft."), &json!(2)));
    assert_eq!(claim(desk, "ada")["prompt"], "Used.");
    promote(desk, "t", 2);
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    assert_eq!((&next["prompt"], &next["meta"]["versionNumber"]), (&json!("Draft."), &json!(2)));
}

/// Promotes eight drafts at once, at the desks in turn, and checks that one is active and the others are not.
fn promote_at_once(desks: &[&Desk]) {
    template(desks[0], "t", &json!({}), "1");
    for number in 2..10 {
        version(desks[0], "t", &number.to_string());
    }
    thread::scope(|scope| {
        for number in 2..10_i64 {
            let desk = desks[usize::try_from(number).unwrap() % desks.len()];
            scope.spawn(move || promote(desk, "t", number));
        }
    });
    for desk in desks {
        let statuses = statuses(desk, "t");
        let active: Vec<i64> =
            statuses.iter().filter(|(_, status)| status == "active").map(|(number, _)| *number).collect();
        assert_eq!((active.len(), statuses.len()), (1, 9), "{statuses:?}");
        assert!(statuses.iter().all(|(_, status)| status != "draft"), "{statuses:?}");
        let detail = desk.send(&get("/api/templates/t")).expect(200)["data"].clone();
        assert_eq!(detail["activeVersion"]["version"], active[0]);
        let issue = create(desk, &json!({}));
        assert_eq!(preview(desk, &issue["number"])["prompt"], active[0].to_string());
    }
}

fn t12_of_many_promotes_one_version_is_active(desk: &mut Desk) {
    promote_at_once(&[desk]);
}

#[test]
fn t12_of_many_promotes_at_two_desks_one_version_is_active() {
    let url = fresh_postgres_url();
    let [one, other] = [(), ()].map(|()| Desk::start(Plan::default().db(&url)));
    promote_at_once(&[&one, &other]);
}

#[test]
fn a_version_promoted_at_one_desk_is_used_at_the_other() {
    let url = fresh_postgres_url();
    let [one, other] = [(), ()].map(|()| Desk::start(Plan::default().db(&url)));
    template(&one, "t", &json!({}), "old");
    for _ in 0..2 {
        create(&one, &json!({}));
    }
    assert_eq!(claim(&other, "ada")["prompt"], "old");
    version(&one, "t", "new");
    promote(&one, "t", 2);
    assert_eq!(claim(&other, "ada")["prompt"], "new");
}

fn version_of_another_template_is_not_promoted(desk: &mut Desk) {
    template(desk, "one", &json!({}), "1");
    template(desk, "other", &json!({}), "2");
    let draft = version(desk, "other", "3");
    let path = format!("/api/templates/one/versions/{}/promote", draft["id"].as_str().unwrap());
    desk.send_as_person(post(&path, &Value::Null)).refused(404, "not_found");
    desk.send_as_person(post("/api/templates/one/versions/2/promote", &Value::Null))
        .refused(404, "not_found");
    desk.send_as_person(post("/api/templates/one/versions/x/promote", &Value::Null))
        .refused(400, "bad_request");
    assert_eq!(statuses(desk, "one"), [(1, "active".to_owned())]);
    assert_eq!(statuses(desk, "other"), [(2, "draft".to_owned()), (1, "active".to_owned())]);
}
