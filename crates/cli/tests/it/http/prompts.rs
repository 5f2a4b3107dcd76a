//! What a prompt tells: its own token and no other, what was tried, asked and said before; and what happens
//! where none can be made.

use std::fs;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::page::Page;
use super::{claim, create, on_both, preview, promote, report, show, template, version};
use crate::harness::{Backend, Desk, Plan, get, patch, post};

const LIMIT: Duration = Duration::from_secs(20);

on_both!(
    failed_attempt_is_told_to_the_next,
    failed_sibling_chooses_the_template_for_it,
    work_done_before_is_told_when_it_is_reopened,
    question_and_answer_are_told,
    comments_are_told,
    broken_prompt_is_put_aside_until_a_template_mends_it,
    broken_prompt_is_tried_again_when_its_template_is_gone,
    a_crowd_of_broken_prompts_is_passed_in_one_call,
    parts_of_the_same_issue_are_told,
);

fn prompt(next: &Value) -> &str {
    next["prompt"].as_str().unwrap()
}

fn page(next: &Value) -> Page {
    Page::read(prompt(next))
}

/// Makes sure that a failed attempt may be followed by the next at once.
fn at_once(desk: &Desk, number: &Value) {
    let path = format!("/api/issues/{number}");
    desk.send_as_person(patch(&path, &json!({"notBefore": null}))).expect(200);
}

fn failed_attempt_is_told_to_the_next(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let first = claim(desk, "ada");
    assert!(!prompt(&first).contains("## Earlier attempts"), "{}", prompt(&first));
    desk.send(&report(&first, "fail", &json!({"error": "The key was missing.\n````\n# not a heading"})))
        .expect(200);
    at_once(desk, &issue["number"]);
    let second = claim(desk, "bob");
    let page = page(&second);
    assert!(page.headings().contains(&"## Earlier attempts"), "{:?}", page.headings());
    assert!(page.lines.contains(&"- At this issue, attempt 1: failed".to_owned()), "{:?}", page.lines);
    assert!(page.lines.iter().any(|line| line.ends_with("; attempt: 2")), "{:?}", page.lines);
    let texts: Vec<&str> = page.texts("text: ");
    assert!(texts.contains(&"The key was missing.\n````\n# not a heading"), "{texts:?}");
}

fn failed_sibling_chooses_the_template_for_it(desk: &mut Desk) {
    template(
        desk,
        "careful",
        &json!({"conditions": {"hasFailedSessions": true}}),
        "Careful: {{> earlier_attempts}}",
    );
    let parent = create(desk, &json!({"type": "plan", "status": "backlog"}));
    for priority in [1, 4] {
        create(desk, &json!({"parentId": parent["number"], "priority": priority}));
    }
    assert_eq!(preview(desk, &json!(3))["template"]["slug"], "task-execution");
    let next = claim(desk, "ada");
    desk.send(&report(&next, "fail", &json!({"error": "no disk", "retryable": false}))).expect(200);
    let next = claim(desk, "ada");
    assert_eq!((&next["issue"]["number"], &next["meta"]["templateSlug"]), (&json!(3), &json!("careful")));
    let page = page(&next);
    assert!(page.lines.contains(&"- At #2, attempt 1: failed".to_owned()), "{:?}", page.lines);
    assert_eq!(page.texts("text: "), ["no disk"]);
    let stranger = create(desk, &json!({}));
    assert_eq!(preview(desk, &stranger["number"])["template"]["slug"], "task-execution");
}

fn work_done_before_is_told_when_it_is_reopened(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let next = claim(desk, "ada");
    desk.send(&report(&next, "complete", &json!({"agentSummary": "Laid it north."}))).expect(200);
    let path = format!("/api/issues/{}/reopen", issue["number"]);
    desk.send_as_person(post(&path, &Value::Null)).expect(200);
    let next = claim(desk, "ada");
    let page = page(&next);
    assert!(page.texts("text: ").contains(&"Laid it north."), "{}", prompt(&next));
    assert!(
        page.lines.iter().any(|line| line.starts_with("- At this issue, attempt 1: ")),
        "{:?}",
        page.lines
    );
    wait_until(LIMIT, "the rework to be counted", || {
        let used = desk.send(&get("/api/templates/task-execution")).expect(200);
        let used = &used["data"]["activeVersion"];
        (used["usageCount"] == 2 && used["reworkRate"] == 1.0).then_some(())
    });
}

fn question_and_answer_are_told(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let next = claim(desk, "ada");
    desk.send(&report(&next, "ask", &json!({"question": "North or south?"}))).expect(200);
    let path = format!("/api/issues/{}/answer", issue["number"]);
    desk.send_as_person(post(&path, &json!({"answer": "South."}))).expect(200);
    let next = claim(desk, "bob");
    let page = page(&next);
    assert!(page.headings().contains(&"## Asked before"), "{:?}", page.headings());
    let texts = page.texts("text: ");
    for text in ["North or south?", "South."] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

fn comments_are_told(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    let path = format!("/api/issues/{}/comments", issue["number"]);
    let say = json!({"body": "Mind the gap.", "authorName": "Ann", "authorType": "human"});
    desk.send(&post(&path, &say)).expect(201);
    let next = claim(desk, "ada");
    let page = page(&next);
    assert!(page.lines.contains(&"- Ann (human, comment):".to_owned()), "{:?}", page.lines);
    assert!(page.texts("text: ").contains(&"Mind the gap."), "{}", prompt(&next));
}

fn parts_of_the_same_issue_are_told(desk: &mut Desk) {
    let goal =
        desk.send_as_person(post("/api/goals", &json!({"title": "More trains", "metric": "per hour"})));
    let goal = goal.expect(201)["data"]["id"].clone();
    let project = json!({"name": "rail", "goalId": goal, "description": "All of it."});
    desk.send_as_person(post("/api/projects", &project)).expect(201);
    let parent =
        create(desk, &json!({"type": "plan", "title": "The line", "status": "backlog", "projectId": "rail"}));
    for title in ["The first mile", "The second mile"] {
        create(desk, &json!({"title": title, "parentId": parent["number"], "projectId": "rail"}));
    }
    create(desk, &json!({"title": "Paint", "status": "backlog", "blockedBy": [2]}));
    let next = claim(desk, "ada");
    let page = page(&next);
    for line in [
        "## Issue #2: The first mile",
        "## Project: rail (active, on_track)",
        "## Goal: More trains",
        "## Part of #1: The line (plan, backlog)",
        "- #3 The second mile (task, todo)",
        "- waits for it: #4 Paint",
    ] {
        assert!(page.lines.contains(&line.to_owned()), "{line}: {}", prompt(&next));
    }
    assert!(page.texts("text: ").contains(&"All of it."), "{}", prompt(&next));
}

/// Returns a template that is too long for an issue with many labels, and not for one with few.
fn long() -> String {
    format!("{{{{#each labels}}}}{}{{{{/each}}}}", "word ".repeat(8_000))
}

/// Creates an issue whose prompt cannot be made, ahead of one whose prompt can.
fn broken_before_good(desk: &Desk) {
    template(desk, "long", &json!({}), &long());
    let names: Vec<String> = (0..10).map(|count| format!("label-{count}")).collect();
    for name in &names {
        desk.send_as_person(post("/api/labels", &json!({"name": name, "color": "red"}))).expect(201);
    }
    create(desk, &json!({"title": "broken", "priority": 1, "labelIds": names}));
    create(desk, &json!({"title": "good"}));
}

fn inbox(desk: &Desk) -> Vec<Value> {
    let list = desk.send(&get("/api/inbox?kind=broken_prompt")).expect(200);
    list["data"].as_array().unwrap().clone()
}

fn broken_prompt_is_put_aside_until_a_template_mends_it(desk: &mut Desk) {
    broken_before_good(desk);
    let shown = preview(desk, &json!(1));
    assert_eq!((&shown["template"]["slug"], &shown["prompt"]), (&json!("long"), &Value::Null));
    assert!(shown["message"].as_str().unwrap().contains("longer than 262144 bytes"), "{shown}");
    let next = claim(desk, "ada");
    assert_eq!((&next["issue"]["number"], &next["prompt"]), (&json!(2), &json!("")));
    let items = inbox(desk);
    assert_eq!((items.len(), &items[0]["number"]), (1, &json!(1)));
    let text = items[0]["text"].as_str().unwrap();
    assert!(text.contains("template long version 1") && text.contains("262144"), "{text}");
    let aside = show(desk, &json!(1));
    assert_eq!(
        (&aside["state"], &aside["dispatch"], &aside["attempt"]),
        (&json!("queued"), &Value::Null, &json!(0))
    );
    assert_eq!(aside["counters"], json!({"crash": 0, "unavailable": 0, "retry": 0, "lost": 0}));
    super::check_nothing(desk, &get("/api/dispatch/next").agent("ada"), "not_before");
    version(desk, "long", "Short.");
    assert_eq!(inbox(desk).len(), 1, "a draft mends nothing");
    promote(desk, "long", 2);
    assert_eq!(inbox(desk), Vec::<Value>::new());
    let next = claim(desk, "ada");
    assert_eq!((&next["issue"]["number"], &next["prompt"]), (&json!(1), &json!("Short.")));
    assert_eq!(next["meta"]["versionNumber"], 2);
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
}

fn a_crowd_of_broken_prompts_is_passed_in_one_call(desk: &mut Desk) {
    // What comes from outside must not stand in a code block; a number may.
    template(
        desk,
        "count",
        &json!({"conditions": {"type": "signal"}, "specificity": 50}),
        "```sh\nseq {{issue.signalPayload.count}}\n```\n",
    );
    for _ in 0..150 {
        let payload = json!({"count": "1; rm -rf /"});
        create(desk, &json!({"type": "signal", "priority": 1, "signalPayload": payload}));
    }
    create(desk, &json!({"title": "good"}));
    assert_eq!(claim(desk, "ada")["issue"]["title"], "good");
    let why = desk.send(&get("/api/issues/1/why")).expect(200)["data"].clone();
    assert_eq!((&why["verdict"], &why["gates"][0]["gate"]), (&json!("blocked"), &json!("not_before")));
    assert!(why["gates"][0]["detail"].as_str().unwrap().contains("prompt"), "{why}");
    super::check_nothing(desk, &get("/api/dispatch/next").agent("ada"), "not_before");
}

fn broken_prompt_is_tried_again_when_its_template_is_gone(desk: &mut Desk) {
    broken_before_good(desk);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
    assert_eq!(inbox(desk).len(), 1);
    desk.send_as_person(patch("/api/templates/long", &json!({"conditions": {"type": "code"}}))).expect(200);
    assert_eq!(inbox(desk), Vec::<Value>::new());
    assert_eq!(claim(desk, "ada")["meta"]["templateSlug"], "task-execution");
}

/// Starts a desk beyond loopback with issues, and returns it with an agent's token.
pub(crate) fn beyond_loopback(count: usize) -> (Desk, String) {
    let desk = Desk::start(Plan::default().listen_ip("0.0.0.0"));
    for number in 1..=count {
        let body = json!({"title": format!("task {number}"), "type": "task", "status": "todo"});
        desk.send_as_person(post("/api/issues", &body)).expect(201);
    }
    let asked = json!({"scope": "agent", "agent": "ada"});
    let token = desk.send_as_person(post("/api/tokens", &asked)).expect(201)["data"]["secret"].clone();
    let token = token.as_str().unwrap().to_owned();
    (desk, token)
}

#[test]
fn t17_token_in_a_prompt_is_that_of_its_dispatch_and_good_for_nothing_else() {
    let (desk, agent) = beyond_loopback(2);
    let [one, other] = [(), ()].map(|()| desk.send(&get("/api/dispatch/next").token(&agent)).expect(200));
    let token = |next: &Value| next["dispatch"]["token"].as_str().unwrap().to_owned();
    for (next, foreign) in [(&one, token(&other)), (&other, token(&one))] {
        let text = prompt(next);
        assert!(text.contains(&format!("Authorization: Bearer {}'", token(next))), "{text}");
        for secret in [&foreign, &agent, &desk.admin_token()] {
            assert!(!text.contains(secret.as_str()), "{text}");
        }
    }
    let path = |next: &Value, verb: &str| {
        format!("/api/dispatches/{}/{verb}", next["dispatch"]["id"].as_str().unwrap())
    };
    desk.send(&post(&path(&one, "heartbeat"), &Value::Null).token(&token(&one))).expect(200);
    let before = desk.issues();
    for request in [
        post(&path(&other, "heartbeat"), &Value::Null),
        post(&path(&other, "complete"), &Value::Null),
        get(&path(&other, "prompt")),
        patch("/api/issues/2", &json!({"title": "mine"})),
        post("/api/issues/2/comments", &json!({"body": "x"})),
        post("/api/issues", &json!({"title": "t", "type": "task"})),
        post("/api/issues", &json!({"title": "t", "type": "task", "parentId": 2})),
        get("/api/templates/task-execution"),
        post("/api/templates/task-execution/versions", &json!({"content": "x"})),
        post("/api/labels", &json!({"name": "a", "color": "red"})),
        get("/api/signals"),
        get("/api/tokens"),
        get("/api/dashboard/prompts"),
    ] {
        let refused = desk.send(&request.clone().token(&token(&one)));
        assert_eq!(refused.status, 403, "{request:?}: {}", refused.text());
        refused.refused(403, "out_of_scope");
    }
    assert_eq!(desk.issues(), before);
}

#[test]
fn t17_prompt_that_is_stored_holds_no_token() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        create(&desk, &json!({"title": "Lay the track"}));
        let next = claim(&desk, "ada");
        let token = next["dispatch"]["token"].as_str().unwrap();
        assert!(prompt(&next).contains(token));
        let path = format!("/api/dispatches/{}/prompt", next["dispatch"]["id"].as_str().unwrap());
        let seen = desk.send_as_person(get(&path)).expect(200)["data"]["prompt"].clone();
        let seen = seen.as_str().unwrap();
        assert!(seen.contains("Lay the track") && !seen.contains("xbd_"), "{seen}");
        let place = format!("[token of dispatch {}]", next["dispatch"]["id"].as_str().unwrap());
        assert_eq!(seen.replace(&place, token), prompt(&next));
        let text = desk.send_as_person(get(&path).header("accept", "text/plain"));
        assert_eq!(text.text(), seen);
        if backend == Backend::Sqlite {
            let mut files = vec![desk.database_file()];
            files.push(desk.data_dir().join("extraboard.db-wal"));
            for file in files.iter().filter(|file| file.exists()) {
                let bytes = fs::read(file).unwrap();
                let held = bytes.windows(token.len()).any(|window| window == token.as_bytes());
                assert!(!held, "{} holds the token", file.display());
            }
        }
    }
}
