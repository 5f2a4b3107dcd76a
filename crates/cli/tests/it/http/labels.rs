//! Labels: what they are, and what they do to issues.

use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_refusals, create, invalid, label_names, names, numbers, on_both, show,
};
use crate::harness::{Desk, Request, delete, get, patch, post};

on_both!(
    label_has_the_documented_shape_and_is_listed_by_name,
    label_is_edited_by_name_and_by_uuid,
    name_of_a_label_is_taken_once,
    label_that_is_not_there_is_not_found,
    bad_labels_are_refused,
    issue_is_created_with_labels_and_patched_to_a_whole_new_set,
    issues_are_listed_by_label,
    deleted_label_is_on_no_issue_and_its_name_is_free,
    labels_of_a_deleted_issue_stay_and_the_issue_is_not_listed,
    external_key_is_answered_with_what_is_there,
);

#[track_caller]
fn label(desk: &Desk, name: &str) -> Value {
    desk.send(&post("/api/labels", &json!({"name": name, "color": "#ef4444"}))).expect(201)["data"].clone()
}

fn listed(desk: &Desk, query: &str) -> Value {
    desk.send(&get(&format!("/api/issues?{query}"))).expect(200)
}

fn label_has_the_documented_shape_and_is_listed_by_name(desk: &mut Desk) {
    assert_eq!(desk.send(&get("/api/labels")).expect(200), json!({"data": [], "total": 0}));
    let made = label(desk, "web");
    assert_eq!(names(&made), ["color", "createdAt", "id", "name"]);
    assert_eq!((&made["name"], &made["color"]), (&json!("web"), &json!("#ef4444")));
    label(desk, "bug");
    label(desk, "Übersetzung 字");
    let list = desk.send(&get("/api/labels")).expect(200);
    let found: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|label| &label["name"]).collect();
    assert_eq!(found, ["bug", "web", "Übersetzung 字"]);
    assert_eq!(list["data"][1], made);
    let page = desk.send(&get("/api/labels?limit=1&offset=1")).expect(200);
    assert_eq!((&page["total"], &page["data"][0]["name"]), (&json!(3), &json!("web")));
}

fn label_is_edited_by_name_and_by_uuid(desk: &mut Desk) {
    let made = label(desk, "needs review / soon");
    let by_name = "/api/labels/needs%20review%20%2F%20soon";
    let edited = desk.send(&patch(by_name, &json!({"color": "red"}))).expect(200)["data"].clone();
    assert_eq!((&edited["id"], &edited["color"]), (&made["id"], &json!("red")));
    let by_id = format!("/api/labels/{}", made["id"].as_str().unwrap());
    let renamed = desk.send(&patch(&by_id, &json!({"name": "soon"}))).expect(200)["data"].clone();
    assert_eq!((&renamed["name"], &renamed["color"]), (&json!("soon"), &json!("red")));
    desk.send(&patch(by_name, &json!({"color": "blue"}))).refused(404, "not_found");
    // To be called what it is called is no conflict.
    desk.send(&patch("/api/labels/soon", &json!({"name": "soon"}))).expect(200);
}

fn name_of_a_label_is_taken_once(desk: &mut Desk) {
    label(desk, "bug");
    label(desk, "web");
    let again = post("/api/labels", &json!({"name": "bug", "color": "red"}));
    desk.send(&again).refused(409, "conflict");
    desk.send(&patch("/api/labels/web", &json!({"name": "bug"}))).refused(409, "conflict");
    let list = desk.send(&get("/api/labels")).expect(200);
    assert_eq!((&list["total"], &list["data"][1]["name"]), (&json!(2), &json!("web")));
}

fn label_that_is_not_there_is_not_found(desk: &mut Desk) {
    let nobody = "/api/labels/01990000-0000-7000-8000-000000000000";
    let missing = |request: Request| (request, 404, "not_found", "label");
    check_refusals(
        desk,
        &[
            missing(patch("/api/labels/nope", &json!({"color": "red"}))),
            missing(delete("/api/labels/nope")),
            missing(patch(nobody, &json!({"color": "red"}))),
            missing(delete(nobody)),
        ],
    );
}

fn bad_labels_are_refused(desk: &mut Desk) {
    let make = |body: Value| post("/api/labels", &body);
    let long = "x".repeat(101);
    label(desk, "bug");
    create(desk, &json!({}));
    check_fields(
        desk,
        &[
            invalid(make(json!({"name": "", "color": "red"})), "name: "),
            invalid(make(json!({"name": long, "color": "red"})), "name: "),
            invalid(make(json!({"name": "two\nlines", "color": "red"})), "name: "),
            invalid(
                make(json!({"name": "01990000-0000-7000-8000-000000000000", "color": "red"})),
                "name: expected a name, got a uuid",
            ),
            invalid(make(json!({"name": "a", "color": ""})), "color: "),
            invalid(make(json!({"name": "a", "color": "x".repeat(51)})), "color: "),
            invalid(patch("/api/labels/bug", &json!({"name": ""})), "name: "),
            invalid(get("/api/labels?limit=201"), "limit: "),
            invalid(
                post("/api/issues", &json!({"title": "t", "type": "task", "labelIds": ["nope"]})),
                "labelIds: there is no label nope",
            ),
            invalid(
                patch("/api/issues/1", &json!({"labelIds": ["bug", "nope"]})),
                "labelIds: there is no label",
            ),
            invalid(
                post("/api/issues", &json!({"title": "t", "type": "task", "labelIds": vec!["bug"; 51]})),
                "labelIds: ",
            ),
        ],
    );
    check_refusals(
        desk,
        &[
            bad_request(make(json!({"name": "a"})), "color"),
            bad_request(make(json!({"color": "red"})), "name"),
            bad_request(make(json!({"name": "a", "color": "red", "shape": "round"})), "shape"),
            bad_request(make(json!({"name": 1, "color": "red"})), "name"),
            bad_request(get("/api/labels?page=1"), "page"),
        ],
    );
    assert_eq!(desk.send(&get("/api/labels")).expect(200)["total"], 1);
}

fn issue_is_created_with_labels_and_patched_to_a_whole_new_set(desk: &mut Desk) {
    let (web, bug) = (label(desk, "web"), label(desk, "bug"));
    label(desk, "api");
    let issue = create(desk, &json!({"labelIds": ["web", bug["id"], "bug"]}));
    let shown = |label: &Value| json!({"id": label["id"], "name": label["name"], "color": label["color"]});
    assert_eq!(issue["labels"], json!([shown(&bug), shown(&web)]), "by name, each once");
    let path = format!("/api/issues/{}", issue["number"]);
    desk.send(&patch(&path, &json!({"title": "new"}))).expect(200);
    assert_eq!(label_names(&show(desk, &issue["number"])), ["bug", "web"], "what is not named stays");
    let patched = desk.send(&patch(&path, &json!({"labelIds": ["web", "api"]}))).expect(200)["data"].clone();
    assert_eq!(label_names(&patched), ["api", "web"]);
    assert_eq!(label_names(&desk.issues()[0]), ["api", "web"]);
    desk.send(&patch("/api/labels/api", &json!({"name": "zebra"}))).expect(200);
    assert_eq!(label_names(&show(desk, &issue["number"])), ["web", "zebra"]);
    let queued = desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!(label_names(&queued["data"][0]["issue"]), ["web", "zebra"]);
    desk.send(&patch(&path, &json!({"labelIds": []}))).expect(200);
    assert_eq!(show(desk, &issue["number"])["labels"], json!([]));
}

fn issues_are_listed_by_label(desk: &mut Desk) {
    let web = label(desk, "web");
    label(desk, "bug");
    create(desk, &json!({"labelIds": ["web"]}));
    create(desk, &json!({"labelIds": ["bug"], "status": "triage"}));
    create(desk, &json!({"labelIds": ["bug", "web"], "externalKey": "k:1"}));
    create(desk, &json!({}));
    let id = web["id"].as_str().unwrap();
    for (query, expected) in [
        ("labelId=web", vec![1, 3]),
        (&format!("labelId={id}"), vec![1, 3]),
        ("labelId=bug&status=triage", vec![2]),
        ("labelId=web&limit=1&offset=1", vec![3]),
        ("externalKey=k:1", vec![3]),
        ("externalKey=k:2", vec![]),
    ] {
        assert_eq!(numbers(&listed(desk, query)), expected, "{query}");
    }
    assert_eq!(listed(desk, "labelId=web&limit=1")["total"], 2);
}

fn deleted_label_is_on_no_issue_and_its_name_is_free(desk: &mut Desk) {
    let bug = label(desk, "bug");
    label(desk, "web");
    let issue = create(desk, &json!({"labelIds": ["bug", "web"]}));
    assert_eq!(desk.send(&delete("/api/labels/bug")).expect(204), Value::Null);
    assert_eq!(label_names(&show(desk, &issue["number"])), ["web"]);
    assert_eq!(label_names(&desk.issues()[0]), ["web"]);
    assert_eq!(desk.send(&get("/api/labels")).expect(200)["total"], 1);
    desk.send(&delete("/api/labels/bug")).refused(404, "not_found");
    let again = label(desk, "bug");
    assert_ne!(again["id"], bug["id"]);
    assert_eq!(label_names(&show(desk, &issue["number"])), ["web"], "a new label of that name is another");
}

fn labels_of_a_deleted_issue_stay_and_the_issue_is_not_listed(desk: &mut Desk) {
    label(desk, "bug");
    create(desk, &json!({"labelIds": ["bug"], "externalKey": "k:1"}));
    desk.send_as_person(delete("/api/issues/1")).expect(204);
    assert_eq!(numbers(&listed(desk, "labelId=bug")), Vec::<i64>::new());
    assert_eq!(numbers(&listed(desk, "externalKey=k:1")), Vec::<i64>::new());
    assert_eq!(desk.send(&get("/api/labels")).expect(200)["total"], 1);
}

fn external_key_is_answered_with_what_is_there(desk: &mut Desk) {
    let body = |title: &str| json!({"title": title, "type": "task", "externalKey": "github:acme/web#1"});
    let made = desk.send(&post("/api/issues", &body("first"))).expect(201)["data"].clone();
    assert_eq!(made["externalKey"], "github:acme/web#1");
    let again = desk.send(&post("/api/issues", &body("second"))).expect(200)["data"].clone();
    assert_eq!((&again["id"], &again["title"]), (&made["id"], &json!("first")));
    desk.send_as_person(delete("/api/issues/1")).expect(204);
    let other = desk.send(&post("/api/issues", &body("third"))).expect(201)["data"].clone();
    assert_ne!(other["id"], made["id"]);
    let refused = post("/api/issues", &json!({"title": "t", "type": "task", "externalKey": "a\nb"}));
    check_fields(desk, &[invalid(refused, "externalKey: ")]);
}
