//! Templates and their versions: which one makes the prompt of an issue, and what is no template.

use std::thread;

use extraboard_testkit::database::fresh_postgres_url;
use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_refusals, claim, create, invalid, names, on_both, preview, promote,
    report, show, template, version,
};
use crate::harness::{Desk, Plan, Request, delete, get, patch, post};

on_both!(
    shipped_templates_are_there,
    template_has_the_documented_shape_and_is_found_by_slug_and_uuid,
    template_edit_changes_what_it_names_and_null_clears,
    slug_of_a_template_is_taken_once_and_free_when_it_is_deleted,
    deleted_template_is_gone,
    bad_templates_are_refused,
    first_version_is_active_and_others_are_drafts,
    t16_text_that_is_no_template_is_refused_with_line_and_column,
    t11_draft_is_never_used,
    t12_of_many_promotes_one_version_is_active,
    t1_to_t9_conditions_choose_the_template,
    t10_own_project_beats_specificity,
    preview_shows_the_prompt_and_what_made_it,
    claim_tells_what_made_its_prompt,
    without_templates_there_is_no_prompt,
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

fn versions(desk: &Desk, slug: &str) -> Vec<Value> {
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

fn shipped_templates_are_there(desk: &mut Desk) {
    let list = desk.send(&get("/api/templates")).expect(200);
    let found: Vec<&str> =
        list["data"].as_array().unwrap().iter().map(|template| template["slug"].as_str().unwrap()).collect();
    assert!(found.is_sorted(), "{found:?}");
    for slug in SHIPPED.into_iter().chain(["prompt-improvement"]) {
        for slug in [slug.to_owned(), format!("{slug}-run")] {
            assert!(found.contains(&slug.as_str()), "{slug} is missing");
            assert_eq!(statuses(desk, &slug), [(1, "active".to_owned())]);
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

fn first_version_is_active_and_others_are_drafts(desk: &mut Desk) {
    template(desk, "t", &json!({}), "One.");
    let body = json!({"content": "Two.", "changelog": "better", "authorType": "human", "authorName": "Ann"});
    let second = desk.send(&post("/api/templates/t/versions", &body).agent("ada")).expect(201)["data"].clone();
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
    let path = format!("/api/templates/preview/{}?versionId={}", issue["number"], draft["id"].as_str().unwrap());
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

/// Returns issues that differ in what conditions ask for, by name.
fn sample(desk: &Desk) -> Vec<(&'static str, Value)> {
    for name in ["bug", "web"] {
        desk.send(&post("/api/labels", &json!({"name": name, "color": "red"}))).expect(201);
    }
    desk.send_as_person(post("/api/projects", &json!({"name": "pay"}))).expect(201);
    let parent = create(desk, &json!({"type": "plan", "status": "backlog"}));
    let below = |more: Value| {
        let mut body = json!({"parentId": parent["number"], "priority": 1});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        create(desk, &body)
    };
    let failed = below(json!({}));
    let next = claim(desk, "ada");
    assert_eq!(next["issue"]["number"], failed["number"]);
    desk.send(&report(&next, "fail", &json!({"error": "no", "retryable": false}))).expect(200);
    vec![
        ("plain", create(desk, &json!({}))),
        ("ci", create(desk, &json!({"type": "signal", "signalSource": "ci"}))),
        ("bug", create(desk, &json!({"labelIds": ["bug"]}))),
        ("both", create(desk, &json!({"labelIds": ["bug", "web"]}))),
        ("pay", create(desk, &json!({"projectId": "pay"}))),
        ("sure", create(desk, &json!({"type": "hypothesis", "hypothesis": {"confidence": 0.7}}))),
        ("unsure", create(desk, &json!({"type": "hypothesis", "hypothesis": {"statement": "s"}}))),
        ("failed", failed),
        ("sibling", below(json!({}))),
    ]
}

fn t1_to_t9_conditions_choose_the_template(desk: &mut Desk) {
    template(desk, "probe", &json!({}), "probe");
    let issues = sample(desk);
    let all: Vec<&str> = issues.iter().map(|(name, _)| *name).collect();
    let but = |left: &[&str]| -> Vec<&str> { all.iter().copied().filter(|name| !left.contains(name)).collect() };
    let kinds = ["ci", "sure", "unsure"];
    for (conditions, expected) in [
        (json!({}), all.clone()),
        (json!({"type": "task"}), but(&kinds)),
        (json!({"type": "signal", "signalSource": "ci"}), vec!["ci"]),
        (json!({"type": "task", "signalSource": "ci"}), vec![]),
        (json!({"signalSource": "sentry"}), vec![]),
        (json!({"labels": ["bug"]}), vec!["bug", "both"]),
        (json!({"labels": ["bug", "web"]}), vec!["both"]),
        (json!({"labels": []}), all.clone()),
        (json!({"projectId": "pay"}), vec!["pay"]),
        (json!({"hasFailedSessions": true}), vec!["failed", "sibling"]),
        (json!({"hasFailedSessions": false}), but(&["failed", "sibling"])),
        (json!({"hypothesisConfidence": 0.7}), vec!["sure"]),
        (json!({"hypothesisConfidence": 0.71}), vec![]),
        (json!({"hypothesisConfidence": 0}), vec!["sure"]),
        (json!({"door": "pull"}), all.clone()),
        (json!({"door": "run"}), vec![]),
    ] {
        desk.send(&patch("/api/templates/probe", &json!({"conditions": conditions}))).expect(200);
        let chosen: Vec<&str> = issues
            .iter()
            .filter(|(_, issue)| preview(desk, &issue["number"])["template"]["slug"] == "probe")
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(chosen, expected, "{conditions}");
    }
}

fn t10_own_project_beats_specificity(desk: &mut Desk) {
    desk.send_as_person(post("/api/projects", &json!({"name": "pay"}))).expect(201);
    desk.send_as_person(post("/api/projects", &json!({"name": "ship"}))).expect(201);
    template(desk, "general", &json!({"specificity": 100}), "general");
    template(desk, "b-own", &json!({"specificity": 0, "projectId": "pay"}), "own");
    let own = create(desk, &json!({"projectId": "pay"}));
    let other = create(desk, &json!({"projectId": "ship"}));
    let none = create(desk, &json!({}));
    let slug = |issue: &Value| preview(desk, &issue["number"])["template"]["slug"].clone();
    assert_eq!((slug(&own), slug(&other), slug(&none)), (json!("b-own"), json!("general"), json!("general")));
    // Of two that are as particular the first by slug.
    template(desk, "a-own", &json!({"specificity": 0, "projectId": "pay"}), "first");
    assert_eq!(slug(&own), "a-own");
}

fn preview_shows_the_prompt_and_what_made_it(desk: &mut Desk) {
    let issue = create(desk, &json!({"title": "Lay the track", "type": "code"}));
    let shown = preview(desk, &issue["number"]);
    assert_eq!(names(&shown["issue"]), ["id", "number", "title", "type"]);
    assert_eq!(names(&shown["template"]), ["conditions", "id", "name", "slug", "specificity"]);
    assert_eq!(names(&shown["version"]), ["id", "version"]);
    assert_eq!(shown["template"]["conditions"], json!({"type": "code"}));
    let prompt = shown["prompt"].as_str().unwrap();
    assert!(prompt.contains("[token of the dispatch]") && prompt.contains("Lay the track"), "{prompt}");
    assert!(!prompt.contains("xbd_"), "{prompt}");
    assert_eq!(shown.get("message").unwrap_or(&Value::Null), &Value::Null);
    let path = |query: &str| format!("/api/templates/preview/{query}");
    let by_id = desk.send(&get(&path(issue["id"].as_str().unwrap()))).expect(200);
    assert_eq!(by_id, shown);
    let run = desk.send(&get(&path("1?door=run"))).expect(200);
    assert_eq!(run["template"]["slug"], "code-writing-run");
    desk.send(&get(&path("99"))).refused(404, "not_found");
    desk.send(&get(&path("1?versionId=01990000-0000-7000-8000-000000000000"))).refused(404, "not_found");
    let refusals = [
        invalid(get(&path("1?door=window")), "door: "),
        invalid(get(&path("1?versionId=7")), "versionId: "),
    ];
    check_fields(desk, &refusals);
    assert_eq!(show(desk, &issue["number"])["state"], "queued", "a preview hands nothing out");
    desk.send_as_person(delete("/api/issues/1")).expect(204);
    desk.send(&get(&path("1"))).refused(404, "not_found");
}

fn claim_tells_what_made_its_prompt(desk: &mut Desk) {
    let made = template(desk, "t", &json!({"conditions": {"type": "code"}}), "#{{issue.number}} {{meta.versionNumber}}");
    create(desk, &json!({"type": "code", "priority": 1}));
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let expected = json!({
        "templateSlug": "t", "templateId": made["id"], "versionId": made["activeVersionId"],
        "versionNumber": 1, "reviewUrl": "POST /api/prompt-reviews"
    });
    assert_eq!((&next["meta"], &next["prompt"]), (&expected, &json!("#1 1")));
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    let used = versions(desk, "t")[0].clone();
    assert_eq!((&used["usageCount"], &used["completionRate"]), (&json!(1), &json!(1.0)));
    assert!(used["avgDurationMs"].as_i64().is_some_and(|span| span >= 0), "{used}");
    assert_eq!(claim(desk, "ada")["meta"]["templateSlug"], "task-execution");
}

fn without_templates_there_is_no_prompt(desk: &mut Desk) {
    let list = desk.send(&get("/api/templates?limit=200")).expect(200);
    for template in list["data"].as_array().unwrap() {
        let path = format!("/api/templates/{}", template["slug"].as_str().unwrap());
        desk.send(&delete(&path)).expect(204);
    }
    create(desk, &json!({"title": "alone"}));
    let shown = preview(desk, &json!(1));
    assert_eq!((&shown["template"], &shown["prompt"]), (&Value::Null, &Value::Null));
    assert_eq!(shown["message"], "no template matches this issue");
    let next = claim(desk, "ada");
    assert_eq!((&next["prompt"], &next["meta"]), (&Value::Null, &Value::Null));
    assert_eq!(next["issue"]["title"], "alone");
    let path = format!("/api/dispatches/{}/prompt", next["dispatch"]["id"].as_str().unwrap());
    let stored = desk.send(&get(&path).token(next["dispatch"]["token"].as_str().unwrap())).expect(200);
    assert_eq!(stored["data"]["prompt"], Value::Null);
    let review = json!({
        "versionId": "01990000-0000-7000-8000-000000000000", "issueId": 1,
        "clarity": 1, "completeness": 1, "relevance": 1
    });
    desk.send(&post("/api/prompt-reviews", &review)).refused(404, "not_found");
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
}

#[test]
fn what_was_deleted_of_the_shipped_stays_deleted() {
    let mut desk = Desk::start(Plan::default());
    desk.send(&delete("/api/templates/task-execution")).expect(204);
    desk.restart();
    desk.send(&Request::new("GET", "/api/templates/task-execution")).refused(404, "not_found");
}
