//! Reviews of prompts: what they are, and what they add up to.

use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use super::page::Page;
use super::{
    bad_request, check_fields, check_refusals, claim, create, invalid, label_names, names, on_both, preview,
    report, review, template,
};
use crate::harness::{Backend, Desk, Request, get, patch, post};

on_both!(
    review_has_the_documented_shape,
    t13_score_is_a_moving_average,
    t14_three_low_reviews_ask_for_a_better_version_once,
    t14_of_many_low_reviews_at_once_one_asks,
    t14_good_reviews_ask_for_nothing_until_there_are_fifteen,
    t15_slug_that_begins_like_another_gets_its_own_issue,
    t18_review_command_of_a_shipped_prompt_passes,
    dispatch_reviews_its_prompt_once,
    bad_reviews_are_refused,
    project_that_wants_no_reviews_is_not_asked,
);

/// Returns the version in use of a template.
pub(crate) fn active(desk: &Desk, slug: &str) -> Value {
    desk.send_as_person(get(&format!("/api/templates/{slug}"))).expect(200)["data"]["activeVersion"].clone()
}

fn improvements(desk: &Desk) -> Vec<Value> {
    let wanted = |issue: &Value| issue["title"].as_str().unwrap().starts_with("Improve prompt template: ");
    desk.issues().into_iter().filter(wanted).collect()
}

/// Has a version reviewed by a person.
#[track_caller]
fn mark(desk: &Desk, slug: &str, issue: &Value, mark: i64) -> Value {
    desk.send_as_person(review(&active(desk, slug)["id"], &issue["id"], mark)).expect(201)["data"].clone()
}

fn review_has_the_documented_shape(desk: &mut Desk) {
    let version = active(desk, "task-execution");
    let issue = create(desk, &json!({}));
    let body = json!({
        "versionId": version["id"], "issueId": issue["number"], "clarity": 4, "completeness": 5,
        "relevance": 3, "feedback": "Too long."
    });
    let made = desk.send(&post("/api/prompt-reviews", &body).agent("ada")).expect(201)["data"].clone();
    let fields = [
        "authorName",
        "authorType",
        "clarity",
        "completeness",
        "createdAt",
        "feedback",
        "id",
        "issueId",
        "relevance",
        "versionId",
    ];
    assert_eq!(names(&made), fields);
    assert_eq!((&made["issueId"], &made["versionId"]), (&issue["id"], &version["id"]));
    assert_eq!((&made["authorName"], &made["authorType"]), (&json!("agent:ada"), &json!("agent")));
    assert_eq!((&made["clarity"], &made["relevance"]), (&json!(4), &json!(3)));
    let by_person = mark(desk, "task-execution", &issue, 5);
    assert_eq!(by_person["authorType"], "human");
    let list = desk.send(&get("/api/templates/task-execution/reviews")).expect(200);
    assert_eq!((&list["total"], &list["data"]), (&json!(2), &json!([by_person, made])));
    let page = desk.send(&get("/api/templates/task-execution/reviews?limit=1&offset=1")).expect(200);
    assert_eq!((&page["total"], &page["data"][0]), (&json!(2), &made));
    assert_eq!(desk.send(&get("/api/templates/code-writing/reviews")).expect(200)["total"], 0);
}

fn t13_score_is_a_moving_average(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    for (marks, expected) in [([5, 5, 5], 5.0), ([2, 2, 2], 4.1), ([1, 2, 3], 3.47)] {
        let body = json!({
            "versionId": active(desk, "task-execution")["id"], "issueId": issue["id"],
            "clarity": marks[0], "completeness": marks[1], "relevance": marks[2]
        });
        desk.send_as_person(post("/api/prompt-reviews", &body)).expect(201);
        assert_eq!(active(desk, "task-execution")["reviewScore"], expected, "{marks:?}");
    }
    assert_eq!(active(desk, "task-execution")["reviewCount"], 3);
    assert_eq!(active(desk, "code-writing")["reviewScore"], Value::Null);
}

fn t14_three_low_reviews_ask_for_a_better_version_once(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    for count in 1..=2 {
        mark(desk, "task-execution", &issue, 1);
        assert_eq!(improvements(desk).len(), 0, "{count} reviews");
    }
    let body = json!({
        "versionId": active(desk, "task-execution")["id"], "issueId": issue["id"],
        "clarity": 1, "completeness": 2, "relevance": 3, "feedback": "Say where\nthe code is."
    });
    desk.send_as_person(post("/api/prompt-reviews", &body)).expect(201);
    let asked = improvements(desk);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["title"], "Improve prompt template: task-execution");
    assert_eq!(label_names(&asked[0]), ["meta", "prompt-improvement"]);
    assert_eq!((&asked[0]["status"], &asked[0]["type"]), (&json!("todo"), &json!("task")));
    let told = asked[0]["description"].as_str().unwrap();
    assert!(told.contains("`task-execution`") && told.contains("Say where"), "{told}");
    let version = active(desk, "task-execution");
    assert_eq!(version["improvementIssueId"], asked[0]["id"]);
    for _ in 0..15 {
        mark(desk, "task-execution", &issue, 1);
    }
    assert_eq!(improvements(desk).len(), 1, "asked for once");
    let path = format!("/api/issues/{}/cancel", asked[0]["number"]);
    desk.send_as_person(post(&path, &Value::Null)).expect(200);
    mark(desk, "task-execution", &issue, 1);
    assert_eq!(improvements(desk).len(), 1, "also if nobody wants it");
    assert_eq!(preview(desk, &asked[0]["number"])["template"]["slug"], "prompt-improvement");
}

fn t14_of_many_low_reviews_at_once_one_asks(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let version = active(desk, "task-execution");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| desk.send_as_person(review(&version["id"], &issue["id"], 1)).expect(201));
        }
    });
    let after = active(desk, "task-execution");
    assert_eq!((&after["reviewCount"], &after["reviewScore"]), (&json!(8), &json!(1.0)));
    assert_eq!(improvements(desk).len(), 1);
    assert_eq!(after["improvementIssueId"], improvements(desk)[0]["id"]);
}

fn t14_good_reviews_ask_for_nothing_until_there_are_fifteen(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    for _ in 0..14 {
        mark(desk, "task-execution", &issue, 5);
    }
    assert_eq!(improvements(desk).len(), 0);
    mark(desk, "task-execution", &issue, 5);
    assert_eq!(improvements(desk).len(), 1);
}

fn t15_slug_that_begins_like_another_gets_its_own_issue(desk: &mut Desk) {
    template(desk, "fix", &json!({}), "Fix.");
    template(desk, "fix-more", &json!({}), "Fix more.");
    let issue = create(desk, &json!({}));
    for slug in ["fix-more", "fix"] {
        for _ in 0..3 {
            mark(desk, slug, &issue, 2);
        }
    }
    let titles: Vec<Value> = improvements(desk).iter().map(|issue| issue["title"].clone()).collect();
    assert_eq!(titles, ["Improve prompt template: fix-more", "Improve prompt template: fix"]);
    let ids: Vec<Value> = improvements(desk).iter().map(|issue| issue["id"].clone()).collect();
    let own = |slug: &str| active(desk, slug)["improvementIssueId"].clone();
    assert_eq!([own("fix-more"), own("fix")], *ids);
}

fn t18_review_command_of_a_shipped_prompt_passes(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let next = claim(desk, "ada");
    let page = Page::read(next["prompt"].as_str().unwrap());
    let commands = page.commands();
    let command = commands.iter().find(|command| command.contains("/api/prompt-reviews")).unwrap();
    for _ in 0..2 {
        let output = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}\n{output:?}");
    }
    let list = desk.send(&get("/api/templates/task-execution/reviews")).expect(200);
    assert_eq!((&list["total"], &list["data"][0]["issueId"]), (&json!(1), &issue["id"]));
    assert_eq!(list["data"][0]["versionId"], next["meta"]["versionId"]);
    assert_eq!(list["data"][0]["authorType"], "agent");
}

fn dispatch_reviews_its_prompt_once(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let next = claim(desk, "ada");
    let token = next["dispatch"]["token"].as_str().unwrap();
    let say = |mark: i64| review(&next["meta"]["versionId"], &issue["id"], mark).token(token);
    let first = desk.send(&say(4)).expect(201);
    assert_eq!(desk.send(&say(4)).expect(200), first);
    desk.send(&say(3)).refused(409, "conflict");
    assert_eq!(active(desk, "task-execution")["reviewCount"], 1);
    assert_eq!(active(desk, "task-execution")["reviewScore"], 4.0);
    desk.send(&report(&next, "release", &Value::Null)).expect(200);
    let again = claim(desk, "ada");
    let token = again["dispatch"]["token"].as_str().unwrap();
    desk.send(&review(&again["meta"]["versionId"], &issue["id"], 3).token(token)).expect(201);
}

fn bad_reviews_are_refused(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let version = active(desk, "task-execution")["id"].clone();
    let nobody = json!("01990000-0000-7000-8000-000000000000");
    let with = |field: &str, value: Value| {
        let mut body = json!({
            "versionId": version, "issueId": issue["id"], "clarity": 4, "completeness": 4, "relevance": 4
        });
        body[field] = value;
        post("/api/prompt-reviews", &body)
    };
    let mut refusals = vec![
        (with("versionId", nobody.clone()), 404, "not_found", ""),
        (with("versionId", json!("nope")), 404, "not_found", ""),
        (with("issueId", nobody), 404, "not_found", ""),
        (with("issueId", json!(99)), 404, "not_found", ""),
        bad_request(with("mood", json!(5)), "mood"),
        bad_request(post("/api/prompt-reviews", &json!({"versionId": version, "issueId": 1})), "clarity"),
    ];
    for field in ["clarity", "completeness", "relevance"] {
        for value in [json!(0), json!(6), json!(-1), json!(4.5), json!("4"), Value::Null] {
            refusals.push(bad_request(with(field, value), field));
        }
    }
    check_refusals(desk, &refusals);
    let long = "x".repeat(20_001);
    let refusals = [
        invalid(with("feedback", json!(long)), "feedback: "),
        invalid(with("authorType", json!("cat")), "authorType: "),
        invalid(with("authorName", json!("")), "authorName: "),
    ];
    check_fields(desk, &refusals);
    assert_eq!(active(desk, "task-execution")["reviewCount"], 0);
    desk.send_as_person(Request::new("DELETE", "/api/issues/1")).expect(204);
    desk.send(&with("issueId", issue["id"].clone())).refused(404, "not_found");
}

/// Returns the prompt of the next claim.
fn next_prompt(desk: &Desk) -> String {
    claim(desk, "ada")["prompt"].as_str().unwrap().to_owned()
}

fn project_that_wants_no_reviews_is_not_asked(desk: &mut Desk) {
    for (name, settings) in [("quiet", json!({"reviews": false})), ("loud", json!({"reviews": true}))] {
        desk.send_as_person(post("/api/projects", &json!({"name": name, "settings": settings}))).expect(201);
    }
    for (project, is_asked) in [(json!("quiet"), false), (json!("loud"), true), (Value::Null, true)] {
        let mut body = json!({"title": "t", "type": "task", "status": "todo"});
        if project.is_string() {
            body["projectId"] = project.clone();
        }
        desk.send(&post("/api/issues", &body)).expect(201);
        assert_eq!(next_prompt(desk).contains("prompt-reviews"), is_asked, "{project}");
    }
    desk.send_as_person(patch("/api/projects/quiet", &json!({"settings": {}}))).expect(200);
    create(desk, &json!({"projectId": "quiet"}));
    assert!(next_prompt(desk).contains("prompt-reviews"));
}

#[test]
fn desk_that_wants_no_reviews_asks_for_none() {
    let plan = Backend::Sqlite.plan().variable("EXTRABOARD_PROMPTS_ASK_FOR_REVIEWS", "false");
    let desk = Desk::start(plan);
    let project = json!({"name": "loud", "settings": {"reviews": true}});
    desk.send_as_person(post("/api/projects", &project)).expect(201);
    for more in [json!({}), json!({"projectId": "loud"}), json!({"type": "plan"})] {
        create(&desk, &more);
        let prompt = next_prompt(&desk);
        assert!(!prompt.contains("prompt-reviews") && !prompt.contains("Rate this prompt"), "{prompt}");
        assert!(prompt.contains("# when done"), "{prompt}");
    }
}
