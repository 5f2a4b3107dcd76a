//! Templates: what they are, which are shipped, and what is none.

use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_refusals, create, invalid, names, on_both, preview, template, version,
};
use crate::harness::{Desk, Plan, Request, delete, get, patch, post};

on_both!(
    shipped_templates_are_there,
    template_has_the_documented_shape_and_is_found_by_slug_and_uuid,
    template_edit_changes_what_it_names_and_null_clears,
    slug_of_a_template_is_taken_once_and_free_when_it_is_deleted,
    deleted_template_is_gone,
    bad_templates_are_refused,
);

const SHIPPED: [&str; 8] = [
    "signal-triage",
    "hypothesis-planning",
    "plan-decomposition",
    "spec-writing",
    "phase-planning",
    "code-writing",
    "task-execution",
    "monitor-check",
];

fn shipped_templates_are_there(desk: &mut Desk) {
    let list = desk.send(&get("/api/templates")).expect(200);
    let found: Vec<&str> =
        list["data"].as_array().unwrap().iter().map(|template| template["slug"].as_str().unwrap()).collect();
    assert!(found.is_sorted(), "{found:?}");
    for slug in SHIPPED.into_iter().chain(["prompt-improvement"]) {
        for slug in [slug.to_owned(), format!("{slug}-run")] {
            assert!(found.contains(&slug.as_str()), "{slug} is missing");
            let detail = desk.send(&get(&format!("/api/templates/{slug}"))).expect(200);
            let version = &detail["data"]["activeVersion"];
            assert_eq!((&version["version"], &version["status"]), (&json!(1), &json!("active")), "{slug}");
        }
    }
    assert_eq!(list["total"], found.len());
    desk.restart();
    assert_eq!(desk.send(&get("/api/templates")).expect(200)["total"], list["total"], "they come once");
}

fn template_has_the_documented_shape_and_is_found_by_slug_and_uuid(desk: &mut Desk) {
    let made = desk.send(&post("/api/templates", &json!({"slug": "a1-b2", "name": "n"}))).expect(201);
    let fields = [
        "activeVersionId",
        "conditions",
        "createdAt",
        "description",
        "id",
        "name",
        "projectId",
        "slug",
        "specificity",
        "updatedAt",
    ];
    assert_eq!(names(&made["data"]), fields);
    for (field, expected) in [
        ("conditions", json!({})),
        ("specificity", json!(10)),
        ("description", Value::Null),
        ("projectId", Value::Null),
        ("activeVersionId", Value::Null),
    ] {
        assert_eq!(made["data"][field], expected, "{field}");
    }
    let id = made["data"]["id"].as_str().unwrap();
    for name in ["a1-b2", id] {
        let found = desk.send(&get(&format!("/api/templates/{name}"))).expect(200)["data"].clone();
        assert_eq!((&found["id"], &found["activeVersion"]), (&made["data"]["id"], &Value::Null));
    }
    let made = version(desk, "a1-b2", "Do it.");
    let found = desk.send(&get("/api/templates/a1-b2")).expect(200)["data"].clone();
    assert_eq!((&found["activeVersionId"], &found["activeVersion"]), (&made["id"], &made));
}

fn template_edit_changes_what_it_names_and_null_clears(desk: &mut Desk) {
    let project = desk.send_as_person(post("/api/projects", &json!({"name": "pay"}))).expect(201);
    let project = &project["data"]["id"];
    let given = json!({
        "slug": "t", "name": "n", "description": "d", "specificity": 0, "projectId": "pay",
        "conditions": {
            "type": "signal", "signalSource": "ci", "labels": ["bug"], "projectId": "pay",
            "hasFailedSessions": false, "hypothesisConfidence": 0.5, "door": "run"
        }
    });
    let made = desk.send(&post("/api/templates", &given)).expect(201)["data"].clone();
    let mut expected = given["conditions"].clone();
    expected["projectId"] = project.clone();
    assert_eq!((&made["conditions"], &made["projectId"]), (&expected, project));
    let edit = |body: Value| desk.send(&patch("/api/templates/t", &body)).expect(200)["data"].clone();
    let named = edit(json!({"name": "other"}));
    assert_eq!((&named["name"], &named["conditions"]), (&json!("other"), &expected));
    let cleared = edit(json!({"description": null, "projectId": null, "conditions": {}, "specificity": 100}));
    assert_eq!((&cleared["description"], &cleared["projectId"]), (&Value::Null, &Value::Null));
    assert_eq!((&cleared["conditions"], &cleared["specificity"]), (&json!({}), &json!(100)));
}

fn slug_of_a_template_is_taken_once_and_free_when_it_is_deleted(desk: &mut Desk) {
    let make = || desk.send(&post("/api/templates", &json!({"slug": "t", "name": "n"})));
    make().expect(201);
    make().refused(409, "conflict");
    desk.send(&delete("/api/templates/t")).expect(204);
    make().expect(201);
}

fn deleted_template_is_gone(desk: &mut Desk) {
    let made = template(desk, "t", &json!({}), "Do it.");
    let issue = create(desk, &json!({}));
    assert_eq!(preview(desk, &issue["number"])["template"]["slug"], "t");
    desk.send(&delete("/api/templates/t")).expect(204);
    for request in [
        get("/api/templates/t"),
        get(&format!("/api/templates/{}", made["id"].as_str().unwrap())),
        patch("/api/templates/t", &json!({"name": "n"})),
        delete("/api/templates/t"),
        get("/api/templates/t/versions"),
        post("/api/templates/t/versions", &json!({"content": "x"})),
        get("/api/templates/t/reviews"),
        post("/api/templates/t/versions/1/promote", &Value::Null),
        post("/api/templates/task-execution/versions/9/promote", &Value::Null),
    ] {
        desk.send(&request).refused(404, "not_found");
    }
    assert_eq!(preview(desk, &issue["number"])["template"]["slug"], "task-execution");
}

fn bad_templates_are_refused(desk: &mut Desk) {
    let make = |more: Value| {
        let mut body = json!({"slug": "ok", "name": "n"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post("/api/templates", &body)
    };
    let when = |conditions: Value| make(json!({"conditions": conditions}));
    let mut refusals = Vec::new();
    for slug in ["", "A", "a_b", "-a", "a-", "a--b", "a b", "ü", "preview", &"x".repeat(201)] {
        refusals.push(invalid(make(json!({"slug": slug})), "slug: "));
    }
    refusals.extend([
        invalid(make(json!({"name": ""})), "name: "),
        invalid(make(json!({"specificity": 101})), "specificity: "),
        invalid(make(json!({"specificity": -1})), "specificity: "),
        invalid(make(json!({"projectId": "nope"})), "projectId: "),
        invalid(when(json!({"type": "epic"})), "conditions.type: "),
        invalid(when(json!({"door": "window"})), "conditions.door: "),
        invalid(when(json!({"projectId": "nope"})), "conditions.projectId: "),
        invalid(when(json!({"hypothesisConfidence": 1.1})), "conditions.hypothesisConfidence: "),
        invalid(when(json!({"signalSource": ""})), "conditions.signalSource: "),
    ]);
    check_fields(desk, &refusals);
    check_refusals(
        desk,
        &[
            bad_request(when(json!({"kind": "task"})), "kind"),
            bad_request(when(json!({"Type": "task"})), "Type"),
            bad_request(when(json!({"labels": "bug"})), "labels"),
            bad_request(when(json!({"hasFailedSessions": "yes"})), "hasFailedSessions"),
            bad_request(make(json!({"content": "x"})), "content"),
            bad_request(patch("/api/templates/task-execution", &json!({"slug": "other"})), "slug"),
            bad_request(
                patch("/api/templates/task-execution", &json!({"conditions": {"kind": "task"}})),
                "kind",
            ),
        ],
    );
    desk.send(&get("/api/templates/ok")).refused(404, "not_found");
}

#[test]
fn what_was_deleted_of_the_shipped_stays_deleted() {
    let mut desk = Desk::start(Plan::default());
    desk.send(&delete("/api/templates/task-execution")).expect(204);
    desk.restart();
    desk.send(&Request::new("GET", "/api/templates/task-execution")).refused(404, "not_found");
}
