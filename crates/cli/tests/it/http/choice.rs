//! Which template makes the prompt of an issue, and what a preview and a claim tell of it.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::versions::versions;
use super::{check_fields, claim, create, invalid, names, on_both, preview, report, show, template};
use crate::harness::{Desk, delete, get, patch, post};

const LIMIT: Duration = Duration::from_secs(20);

on_both!(
    t1_to_t9_conditions_choose_the_template,
    t10_own_project_beats_specificity,
    preview_shows_the_prompt_and_what_made_it,
    claim_tells_what_made_its_prompt,
    claim_that_is_repeated_gets_the_same_prompt,
    without_templates_there_is_no_prompt,
);

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
    let but =
        |left: &[&str]| -> Vec<&str> { all.iter().copied().filter(|name| !left.contains(name)).collect() };
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
    let refusals =
        [invalid(get(&path("1?door=window")), "door: "), invalid(get(&path("1?versionId=7")), "versionId: ")];
    check_fields(desk, &refusals);
    assert_eq!(show(desk, &issue["number"])["state"], "queued", "a preview hands nothing out");
    desk.send_as_person(delete("/api/issues/1")).expect(204);
    desk.send(&get(&path("1"))).refused(404, "not_found");
}

fn claim_tells_what_made_its_prompt(desk: &mut Desk) {
    let made = template(
        desk,
        "t",
        &json!({"conditions": {"type": "code"}}),
        "#{{issue.number}} {{meta.versionNumber}}",
    );
    create(desk, &json!({"type": "code", "priority": 1}));
    create(desk, &json!({}));
    let next = claim(desk, "ada");
    let expected = json!({
        "templateSlug": "t", "templateId": made["id"], "versionId": made["activeVersionId"],
        "versionNumber": 1, "reviewUrl": "POST /api/prompt-reviews"
    });
    assert_eq!((&next["meta"], &next["prompt"]), (&expected, &json!("#1 1")));
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
    let used = wait_until(LIMIT, "the dispatch to be counted", || {
        let used = versions(desk, "t")[0].clone();
        (used["completionRate"] == 1.0).then_some(used)
    });
    assert_eq!(used["usageCount"], 1);
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

fn claim_that_is_repeated_gets_the_same_prompt(desk: &mut Desk) {
    create(desk, &json!({}));
    let ask = || desk.send(&get("/api/dispatch/next").agent("ada").key("k")).expect(200);
    let first = ask();
    template(desk, "later", &json!({}), "Another.");
    let again = ask();
    assert_eq!((&again["prompt"], &again["meta"]), (&first["prompt"], &first["meta"]));
    assert_eq!(again["dispatch"]["token"], first["dispatch"]["token"]);
}
