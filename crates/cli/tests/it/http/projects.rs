//! Projects and goals: what they are, and what they do to the line.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_nothing, check_refusals, claim, create, invalid, names, numbers,
    on_both, report, show,
};
use crate::harness::{Desk, delete, get, patch, post};

on_both!(
    new_project_has_the_documented_shape_and_defaults,
    project_is_found_by_name_and_by_uuid,
    project_edit_changes_what_it_names_and_null_clears,
    name_of_a_project_is_taken_once,
    paused_project_is_not_handed_out,
    limit_of_a_project_holds,
    project_with_unfinished_issues_is_not_deleted,
    issues_belong_to_projects_and_are_counted,
    goal_has_the_documented_shape,
    active_goal_raises_what_waits_and_an_achieved_one_lowers_it,
    goal_that_a_project_names_counts_too,
    bad_projects_are_refused,
    bad_goals_are_refused,
);

const LIMIT: Duration = Duration::from_secs(20);

#[track_caller]
fn project(desk: &Desk, body: &Value) -> Value {
    desk.send(&post("/api/projects", body)).expect(201)["data"].clone()
}

#[track_caller]
fn goal(desk: &Desk, body: &Value) -> Value {
    desk.send(&post("/api/goals", body)).expect(201)["data"].clone()
}

fn new_project_has_the_documented_shape_and_defaults(desk: &mut Desk) {
    let made = project(desk, &json!({"name": "apollo"}));
    let fields = [
        "createdAt",
        "description",
        "goal",
        "goalId",
        "hasActiveGoal",
        "health",
        "id",
        "name",
        "runLimit",
        "settings",
        "status",
        "updatedAt",
        "workspace",
    ];
    assert_eq!(names(&made), fields);
    assert_eq!((&made["status"], &made["health"]), (&json!("active"), &json!("on_track")));
    assert_eq!((&made["hasActiveGoal"], &made["runLimit"]), (&json!(false), &Value::Null));
    let given = json!({
        "name": "gemini", "description": "d", "status": "planned", "health": "at_risk",
        "workspace": "/srv/gemini", "runLimit": 0
    });
    let full = project(desk, &given);
    for (field, value) in given.as_object().unwrap() {
        assert_eq!(full[field], *value, "{field}");
    }
    let list = desk.send(&get("/api/projects")).expect(200);
    assert_eq!((list["total"].clone(), list["data"].as_array().unwrap().len()), (json!(2), 2));
    let page = desk.send(&get("/api/projects?limit=1&offset=1")).expect(200);
    assert_eq!((page["total"].clone(), page["data"].as_array().unwrap().len()), (json!(2), 1));
}

fn project_is_found_by_name_and_by_uuid(desk: &mut Desk) {
    let made = project(desk, &json!({"name": "apollo 11/b"}));
    for id in [made["id"].as_str().unwrap(), "apollo%2011%2Fb"] {
        let found = desk.send(&get(&format!("/api/projects/{id}"))).expect(200);
        assert_eq!(found["data"]["id"], made["id"]);
        assert_eq!(found["data"]["issueCounts"], json!({}));
    }
    desk.send(&get("/api/projects/gemini")).refused(404, "not_found");
}

fn project_edit_changes_what_it_names_and_null_clears(desk: &mut Desk) {
    let goal = goal(desk, &json!({"title": "land"}));
    let before = project(
        desk,
        &json!({"name": "a", "description": "d", "workspace": "/w", "runLimit": 3, "goalId": goal["id"]}),
    );
    assert_eq!(before["goal"], json!({"id": goal["id"], "title": "land", "status": "active"}));
    let same = desk.send(&patch("/api/projects/a", &json!({}))).expect(200)["data"].clone();
    assert_eq!((&same["description"], &same["runLimit"]), (&before["description"], &before["runLimit"]));
    let edit = json!({"name": "b", "description": null, "workspace": null, "runLimit": null, "goalId": null, "health": "off_track"});
    let after = desk.send(&patch("/api/projects/a", &edit)).expect(200)["data"].clone();
    for (field, value) in edit.as_object().unwrap() {
        assert_eq!(after[field], *value, "{field}");
    }
    desk.send(&get("/api/projects/a")).refused(404, "not_found");
    desk.send(&get("/api/projects/b")).expect(200);
}

fn name_of_a_project_is_taken_once(desk: &mut Desk) {
    project(desk, &json!({"name": "apollo"}));
    project(desk, &json!({"name": "gemini"}));
    let again = post("/api/projects", &json!({"name": "apollo"}));
    desk.send(&again).refused(409, "conflict");
    desk.send(&patch("/api/projects/gemini", &json!({"name": "apollo"}))).refused(409, "conflict");
    assert_eq!(desk.send(&delete("/api/projects/apollo")).status, 204);
    desk.send(&again).expect(201);
}

fn paused_project_is_not_handed_out(desk: &mut Desk) {
    project(desk, &json!({"name": "apollo"}));
    create(desk, &json!({"projectId": "apollo", "priority": 1}));
    let paused = desk.send(&post("/api/projects/apollo/pause", &Value::Null)).expect(200);
    assert_eq!(paused["data"]["status"], "paused");
    check_nothing(desk, &get("/api/dispatch/next"), "paused");
    create(desk, &json!({"priority": 4}));
    assert_eq!(numbers(&desk.send(&get("/api/dispatch/queue")).expect(200)), [2]);
    let all = desk.send(&get("/api/dispatch/queue?all=true")).expect(200);
    assert_eq!(numbers(&all), [1, 2]);
    let gate = &all["data"][0]["gates"][0];
    assert_eq!((&gate["gate"], &gate["until"]), (&json!("paused"), &Value::Null));
    assert!(gate["detail"].as_str().unwrap().contains("apollo is paused"), "{gate}");
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
    let resumed = desk.send(&post("/api/projects/apollo/resume", &Value::Null)).expect(200);
    assert_eq!(resumed["data"]["status"], "active");
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

fn limit_of_a_project_holds(desk: &mut Desk) {
    project(desk, &json!({"name": "apollo", "runLimit": 1}));
    for _ in 0..2 {
        create(desk, &json!({"projectId": "apollo"}));
    }
    let next = claim(desk, "ada");
    check_nothing(desk, &get("/api/dispatch/next"), "limit");
    desk.send(&patch("/api/projects/apollo", &json!({"runLimit": 2}))).expect(200);
    claim(desk, "bob");
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
}

fn project_with_unfinished_issues_is_not_deleted(desk: &mut Desk) {
    project(desk, &json!({"name": "apollo"}));
    create(desk, &json!({"projectId": "apollo"}));
    desk.send(&delete("/api/projects/apollo")).refused(409, "in_use");
    desk.send(&report(&claim(desk, "ada"), "complete", &Value::Null)).expect(200);
    assert_eq!(desk.send(&delete("/api/projects/apollo")).status, 204);
    desk.send(&get("/api/projects/apollo")).refused(404, "not_found");
    desk.send(&delete("/api/projects/apollo")).refused(404, "not_found");
    assert_eq!(show(desk, &json!(1))["state"], "done", "what it did stays");
}

fn issues_belong_to_projects_and_are_counted(desk: &mut Desk) {
    let apollo = project(desk, &json!({"name": "apollo"}));
    project(desk, &json!({"name": "gemini"}));
    let issue = create(desk, &json!({"projectId": apollo["id"]}));
    assert_eq!(issue["projectId"], apollo["id"]);
    create(desk, &json!({"projectId": "apollo", "status": "backlog"}));
    create(desk, &json!({"projectId": "gemini"}));
    create(desk, &json!({}));
    let id = apollo["id"].as_str().unwrap();
    for project in ["apollo", id] {
        let list = desk.send(&get(&format!("/api/issues?projectId={project}"))).expect(200);
        assert_eq!((numbers(&list), &list["total"]), (vec![1, 2], &json!(2)));
    }
    let counts = |name: &str| {
        desk.send(&get(&format!("/api/projects/{name}"))).expect(200)["data"]["issueCounts"].clone()
    };
    assert_eq!(counts("apollo"), json!({"todo": 1, "backlog": 1}));
    desk.send(&patch("/api/issues/1", &json!({"projectId": "gemini"}))).expect(200);
    desk.send(&patch("/api/issues/2", &json!({"projectId": null}))).expect(200);
    assert_eq!((counts("apollo"), counts("gemini")), (json!({}), json!({"todo": 2})));
}

fn goal_has_the_documented_shape(desk: &mut Desk) {
    let apollo = project(desk, &json!({"name": "apollo"}));
    let given = json!({
        "title": "land", "description": "d", "metric": "crew", "targetValue": 2.5, "currentValue": 0.1,
        "unit": "people", "status": "achieved", "projectId": apollo["id"]
    });
    let made = goal(desk, &given);
    assert_eq!(made.as_object().unwrap().len(), given.as_object().unwrap().len() + 3, "{made}");
    for (field, value) in given.as_object().unwrap() {
        assert_eq!(made[field], *value, "{field}");
    }
    let path = format!("/api/goals/{}", made["id"].as_str().unwrap());
    assert_eq!(desk.send(&get(&path)).expect(200)["data"], made);
    let clear = json!({
        "description": null, "metric": null, "targetValue": null, "currentValue": null, "unit": null,
        "projectId": null, "title": "return"
    });
    let cleared = desk.send(&patch(&path, &clear)).expect(200)["data"].clone();
    for (field, value) in clear.as_object().unwrap() {
        assert_eq!(cleared[field], *value, "{field}");
    }
    assert_eq!(desk.send(&get("/api/goals")).expect(200)["total"], 1);
    assert_eq!(desk.send(&delete(&path)).status, 204);
    desk.send(&get(&path)).refused(404, "not_found");
    assert_eq!(goal(desk, &json!({"title": "t"}))["status"], "active");
}

/// Waits until the first in line is this one, with this bonus for a goal.
#[track_caller]
fn wait_for_first(desk: &Desk, number: i64, goal_bonus: i64) {
    wait_until(LIMIT, "the line to be ranked anew", || {
        let queue = desk.send(&get("/api/dispatch/queue")).expect(200);
        let first = &queue["data"][0];
        (first["issue"]["number"] == number && first["breakdown"]["goalBonus"] == goal_bonus).then_some(())
    });
}

fn active_goal_raises_what_waits_and_an_achieved_one_lowers_it(desk: &mut Desk) {
    let apollo = project(desk, &json!({"name": "apollo"}));
    create(desk, &json!({"priorityValue": 50}));
    create(desk, &json!({"priorityValue": 40, "projectId": "apollo"}));
    wait_for_first(desk, 1, 0);
    let goal = goal(desk, &json!({"title": "land", "projectId": apollo["id"]}));
    wait_for_first(desk, 2, 20);
    assert_eq!(desk.send(&get("/api/projects/apollo")).expect(200)["data"]["hasActiveGoal"], true);
    let path = format!("/api/goals/{}", goal["id"].as_str().unwrap());
    desk.send(&patch(&path, &json!({"status": "achieved"}))).expect(200);
    wait_for_first(desk, 1, 0);
    desk.send(&patch(&path, &json!({"status": "active"}))).expect(200);
    wait_for_first(desk, 2, 20);
    let late = create(desk, &json!({"priorityValue": 41, "projectId": "apollo"}));
    wait_for_first(desk, late["number"].as_i64().unwrap(), 20);
    assert_eq!(desk.send(&delete(&path)).status, 204);
    wait_for_first(desk, 1, 0);
}

fn goal_that_a_project_names_counts_too(desk: &mut Desk) {
    let goal = goal(desk, &json!({"title": "land"}));
    let made = project(desk, &json!({"name": "apollo", "goalId": goal["id"]}));
    assert_eq!(made["hasActiveGoal"], true);
    create(desk, &json!({"projectId": "apollo"}));
    wait_for_first(desk, 1, 20);
    desk.send(&patch("/api/projects/apollo", &json!({"goalId": null}))).expect(200);
    wait_for_first(desk, 1, 0);
}

fn bad_projects_are_refused(desk: &mut Desk) {
    project(desk, &json!({"name": "apollo"}));
    create(desk, &json!({}));
    let unknown = "01990000-0000-7000-8000-000000000000";
    let new = |more: Value| {
        let mut body = json!({"name": "new"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post("/api/projects", &body)
    };
    let issue =
        |project: Value| post("/api/issues", &json!({"title": "t", "type": "task", "projectId": project}));
    check_fields(
        desk,
        &[
            bad_request(post("/api/projects", &json!({})), "name: is required"),
            bad_request(new(json!({"title": "x"})), "title: unknown field"),
            bad_request(new(json!({"runLimit": "few"})), "runLimit: "),
            bad_request(patch("/api/projects/apollo", &json!({"name": null})), "name: "),
            invalid(new(json!({"name": ""})), "name: expected 1 to 200 characters"),
            invalid(new(json!({"name": "x".repeat(201)})), "name: expected 1 to 200 characters"),
            invalid(new(json!({"name": unknown})), "name: "),
            invalid(new(json!({"status": "open"})), "status: "),
            invalid(new(json!({"health": "fine"})), "health: "),
            invalid(new(json!({"workspace": "srv/x"})), "workspace: expected an absolute path"),
            invalid(new(json!({"runLimit": -1})), "runLimit: expected 0 to 100000"),
            invalid(new(json!({"runLimit": 100_001})), "runLimit: expected 0 to 100000"),
            invalid(new(json!({"goalId": unknown})), "goalId: "),
            invalid(new(json!({"goalId": "g"})), "goalId: "),
            invalid(issue(json!("gemini")), "projectId: "),
            invalid(issue(json!(unknown)), "projectId: "),
            invalid(patch("/api/issues/1", &json!({"projectId": "gemini"})), "projectId: "),
            invalid(get("/api/projects?limit=0"), "limit: expected 1 to 200"),
        ],
    );
    for verb in ["pause", "resume"] {
        let request = post(&format!("/api/projects/gemini/{verb}"), &Value::Null);
        check_refusals(desk, &[(request, 404, "not_found", "there is no project gemini")]);
    }
    assert_eq!(desk.send(&get("/api/projects")).expect(200)["total"], 1);
}

fn bad_goals_are_refused(desk: &mut Desk) {
    let made = goal(desk, &json!({"title": "land"}));
    let path = format!("/api/goals/{}", made["id"].as_str().unwrap());
    let unknown = "01990000-0000-7000-8000-000000000000";
    let new = |more: Value| {
        let mut body = json!({"title": "new"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post("/api/goals", &body)
    };
    check_fields(
        desk,
        &[
            bad_request(post("/api/goals", &json!({})), "title: is required"),
            bad_request(new(json!({"target": 1})), "target: unknown field, did you mean targetValue?"),
            bad_request(new(json!({"targetValue": "much"})), "targetValue: "),
            bad_request(patch(&path, &json!({"status": null})), "status: "),
            bad_request(get("/api/goals/land"), "id: "),
            invalid(new(json!({"title": ""})), "title: "),
            invalid(new(json!({"status": "done"})), "status: "),
            invalid(new(json!({"projectId": unknown})), "projectId: "),
            invalid(patch(&path, &json!({"projectId": unknown})), "projectId: "),
        ],
    );
    let nowhere = format!("/api/goals/{unknown}");
    check_refusals(
        desk,
        &[
            (get(&nowhere), 404, "not_found", "there is no goal"),
            (patch(&nowhere, &json!({"title": "x"})), 404, "not_found", "there is no goal"),
            (delete(&nowhere), 404, "not_found", "there is no goal"),
        ],
    );
    assert_eq!(desk.send(&get("/api/goals")).expect(200)["total"], 1);
}
