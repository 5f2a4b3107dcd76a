//! What the shipped templates tell agents to do, done literally: every command of a prompt is run as it stands.

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::page::Page;
use super::{create, names, on_both, report, review};
use crate::harness::{Desk, Plan, get, patch, post};

on_both!(
    each_kind_is_worked_on_as_its_prompt_says,
    prompt_improvement_is_worked_on_as_its_prompt_says,
    each_way_to_end_does_what_it_says,
    commands_that_are_run_again_create_nothing_twice,
    spawned_agents_are_told_to_call_nothing,
);

/// A kind of issue, and what a prompt for it leads to.
struct Lesson {
    kind: &'static str,
    slug: &'static str,
    more: fn() -> Value,
    /// The kinds of the issues it says to create, in their order.
    children: &'static [&'static str],
    artifacts: usize,
}

const LESSONS: [Lesson; 8] = [
    Lesson {
        kind: "signal",
        slug: "signal-triage",
        more: || json!({"signalSource": "ci", "signalPayload": {"message": "it's \"red\" $HOME `id`"}}),
        children: &["hypothesis", "task"],
        artifacts: 0,
    },
    Lesson {
        kind: "hypothesis",
        slug: "hypothesis-planning",
        more: || json!({"hypothesis": {"statement": "s", "confidence": 0.7, "evidence": ["e"], "validationCriteria": "v"}}),
        children: &["plan"],
        artifacts: 0,
    },
    Lesson {
        kind: "plan",
        slug: "plan-decomposition",
        more: || json!({}),
        children: &["task", "task"],
        artifacts: 0,
    },
    Lesson { kind: "spec", slug: "spec-writing", more: || json!({}), children: &["phase"], artifacts: 1 },
    Lesson { kind: "phase", slug: "phase-planning", more: || json!({}), children: &["code"], artifacts: 0 },
    Lesson { kind: "code", slug: "code-writing", more: || json!({}), children: &[], artifacts: 0 },
    Lesson { kind: "task", slug: "task-execution", more: || json!({}), children: &["task"], artifacts: 0 },
    Lesson {
        kind: "monitor",
        slug: "monitor-check",
        more: || json!({}),
        children: &["signal"],
        artifacts: 0,
    },
];

/// Texts that would do harm if a command took them in.
const TITLE: &str = "it's a \"title\" $(id) `id` \\";

const ENDINGS: [&str; 4] =
    ["# when done", "# if it cannot be done", "# to ask a person", "# to give it back"];

/// Whoever claims: by name on loopback, by a token elsewhere.
struct Agent<'a> {
    desk: &'a Desk,
    token: Option<String>,
}

impl Agent<'_> {
    #[track_caller]
    fn claim(&self, door: &str) -> Value {
        let next = get(&format!("/api/dispatch/next?door={door}"));
        let next = match &self.token {
            Some(token) => next.token(token),
            None => next.agent("ada"),
        };
        self.desk.send(&next).expect(200)
    }

    #[track_caller]
    fn show(&self, number: &Value) -> Value {
        self.desk.send_as_person(get(&format!("/api/issues/{number}"))).expect(200)["data"].clone()
    }

    #[track_caller]
    fn create(&self, lesson: &Lesson) -> Value {
        let mut body = json!({
            "title": TITLE, "description": TITLE, "type": lesson.kind, "status": "todo", "priority": 1
        });
        body.as_object_mut().unwrap().extend((lesson.more)().as_object().unwrap().clone());
        self.desk.send_as_person(post("/api/issues", &body)).expect(201)["data"].clone()
    }
}

/// Runs a command with nothing of ours in its surroundings.
fn run(command: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// Runs a command that must succeed; returns what it printed.
#[track_caller]
fn passes(command: &str) -> Value {
    let output = run(command);
    assert!(output.status.success(), "{command}\n{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command}\n{error}: {output:?}"))
}

/// Returns the commands that leave the dispatch open.
fn going_on(prompt: &str) -> Vec<String> {
    let page = Page::read(prompt);
    let ends = |command: &str| ENDINGS.iter().any(|ending| command.starts_with(ending));
    page.commands().into_iter().filter(|command| !ends(command)).map(str::to_owned).collect()
}

/// Returns the command that ends the dispatch in one of the ways.
#[track_caller]
fn ending(prompt: &str, way: &str) -> String {
    let page = Page::read(prompt);
    let found: Vec<&str> =
        page.commands().into_iter().filter(|command| command.lines().next() == Some(way)).collect();
    assert_eq!(found.len(), 1, "{way}: {prompt}");
    found[0].to_owned()
}

/// Claims an issue, does all that its prompt says, and checks what came of it.
#[track_caller]
fn work_literally(agent: &Agent<'_>, lesson: &Lesson) {
    let issue = agent.create(lesson);
    let next = agent.claim("pull");
    assert_eq!((&next["issue"]["id"], &next["meta"]["templateSlug"]), (&issue["id"], &json!(lesson.slug)));
    let prompt = next["prompt"].as_str().unwrap();
    let commands = going_on(prompt);
    assert_eq!(commands.len(), 3 + lesson.children.len() + lesson.artifacts, "{prompt}");
    for command in &commands {
        passes(command);
    }
    assert_eq!(agent.show(&issue["number"])["state"], "running");
    passes(&ending(prompt, "# when done"));
    let after = agent.show(&issue["number"]);
    assert_eq!(after["state"], "done", "{after}");
    assert!(after["agentSummary"].as_str().unwrap().starts_with("What was done"), "{after}");
    check_children(agent, lesson, &after);
    let of_issue = |part: &str| {
        let path = format!("/api/issues/{}/{part}", issue["number"]);
        agent.desk.send_as_person(get(&path)).expect(200)["total"].clone()
    };
    assert_eq!(of_issue("comments"), 1);
    assert_eq!(of_issue("artifacts"), lesson.artifacts);
    let path = format!("/api/templates/{}/reviews", lesson.slug);
    let reviews = agent.desk.send_as_person(get(&path)).expect(200);
    assert_eq!(reviews["data"][0]["issueId"], issue["id"], "{reviews}");
}

#[track_caller]
fn check_children(agent: &Agent<'_>, lesson: &Lesson, issue: &Value) {
    let children = issue["children"].as_array().unwrap();
    let kinds: Vec<&str> = children.iter().map(|child| child["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, lesson.children, "{}", lesson.slug);
    for child in children {
        let child = agent.show(&child["number"]);
        assert_eq!(child["parentId"], issue["id"]);
        assert_eq!(child["held"], false, "its parent is done: {child}");
        let status = if lesson.kind == "monitor" { "triage" } else { "todo" };
        assert_eq!(child["status"], status, "{child}");
        if child["type"] == "hypothesis" {
            let fields = ["confidence", "evidence", "statement", "validationCriteria"];
            assert_eq!(names(&child["hypothesis"]), fields);
        }
        // What was made must not stand before what comes next.
        agent
            .desk
            .send_as_person(post(&format!("/api/issues/{}/cancel", child["number"]), &Value::Null))
            .expect(200);
    }
}

fn each_kind_is_worked_on_as_its_prompt_says(desk: &mut Desk) {
    let agent = Agent { desk, token: None };
    for lesson in &LESSONS {
        work_literally(&agent, lesson);
    }
}

fn beyond_loopback() -> (Desk, String) {
    let desk = Desk::start(Plan::default().listen_ip("0.0.0.0"));
    let asked = json!({"scope": "agent", "agent": "ada"});
    let token = desk.send_as_person(post("/api/tokens", &asked)).expect(201)["data"]["secret"].clone();
    let token = token.as_str().unwrap().to_owned();
    (desk, token)
}

#[test]
fn each_kind_is_worked_on_beyond_loopback_with_the_token_of_the_dispatch_alone() {
    let (desk, token) = beyond_loopback();
    let agent = Agent { desk: &desk, token: Some(token) };
    for lesson in &LESSONS {
        work_literally(&agent, lesson);
    }
}

#[test]
fn issues_of_a_project_get_parts_in_the_same_project() {
    let (desk, token) = beyond_loopback();
    let agent = Agent { desk: &desk, token: Some(token) };
    let project = desk.send_as_person(post("/api/projects", &json!({"name": "pay"}))).expect(201);
    for lesson in &LESSONS {
        let issue = agent.create(lesson);
        let path = format!("/api/issues/{}", issue["number"]);
        desk.send_as_person(patch(&path, &json!({"projectId": "pay"}))).expect(200);
        let next = agent.claim("pull");
        assert_eq!(next["issue"]["id"], issue["id"]);
        for command in going_on(next["prompt"].as_str().unwrap()) {
            passes(&command);
        }
        desk.send(&report(&next, "complete", &Value::Null)).expect(200);
        for child in agent.show(&issue["number"])["children"].as_array().unwrap() {
            assert_eq!(agent.show(&child["number"])["projectId"], project["data"]["id"], "{}", lesson.slug);
            let path = format!("/api/issues/{}/cancel", child["number"]);
            desk.send_as_person(post(&path, &Value::Null)).expect(200);
        }
    }
}

/// Has the prompt of tasks found bad, so that there is an issue to improve it; returns that.
fn asked_for_better(desk: &Desk) -> Value {
    let body = json!({"title": "t", "type": "task"});
    let issue = desk.send_as_person(post("/api/issues", &body)).expect(201)["data"]["id"].clone();
    let template = desk.send_as_person(get("/api/templates/task-execution")).expect(200)["data"].clone();
    for _ in 0..3 {
        desk.send_as_person(review(&template["activeVersionId"], &issue, 1)).expect(201);
    }
    let list = desk.send_as_person(get("/api/issues?labelId=prompt-improvement")).expect(200);
    list["data"][0].clone()
}

fn prompt_improvement_is_worked_on_as_its_prompt_says(desk: &mut Desk) {
    improve_literally(&Agent { desk, token: None });
}

#[test]
fn prompt_improvement_is_worked_on_beyond_loopback() {
    let (desk, token) = beyond_loopback();
    improve_literally(&Agent { desk: &desk, token: Some(token) });
}

fn improve_literally(agent: &Agent<'_>) {
    let desk = agent.desk;
    let issue = asked_for_better(desk);
    let next = agent.claim("pull");
    assert_eq!(next["issue"]["id"], issue["id"]);
    assert_eq!(next["meta"]["templateSlug"], "prompt-improvement");
    let prompt = next["prompt"].as_str().unwrap();
    for command in going_on(prompt) {
        passes(&command);
    }
    passes(&ending(prompt, "# when done"));
    let versions = desk.send_as_person(get("/api/templates/task-execution/versions")).expect(200);
    let newest = &versions["data"][0];
    assert_eq!((&versions["total"], &newest["status"]), (&json!(2), &json!("draft")));
    assert_eq!(
        (&newest["content"], &newest["authorType"]),
        (&json!("The whole text of the new version."), &json!("agent"))
    );
    // An issue with the label that improves nothing hands in an artifact.
    let by_hand = json!({"title": "t", "type": "task", "status": "todo", "labelIds": ["prompt-improvement"]});
    let by_hand = desk.send_as_person(post("/api/issues", &by_hand)).expect(201)["data"].clone();
    let next = agent.claim("pull");
    assert_eq!(next["issue"]["id"], by_hand["id"]);
    let prompt = next["prompt"].as_str().unwrap();
    for command in going_on(prompt) {
        passes(&command);
    }
    passes(&ending(prompt, "# when done"));
    let path = format!("/api/issues/{}/artifacts", by_hand["number"]);
    assert_eq!(desk.send_as_person(get(&path)).expect(200)["total"], 1);
}

/// Ends issues of a kind in each way that is not done, and checks what became of them.
fn end_literally(agent: &Agent<'_>, lesson: &Lesson) {
    for (way, state) in [
        ("# if it cannot be done", "queued"),
        ("# to ask a person", "blocked"),
        ("# to give it back", "queued"),
    ] {
        let issue = agent.create(lesson);
        let next = agent.claim("pull");
        assert_eq!(next["issue"]["id"], issue["id"]);
        let prompt = next["prompt"].as_str().unwrap();
        passes(&ending(prompt, way));
        let after = agent.show(&issue["number"]);
        assert_eq!((&after["state"], &after["dispatch"]), (&json!(state), &Value::Null), "{way}: {after}");
        let retries = i64::from(way == "# if it cannot be done");
        assert_eq!(after["counters"]["retry"], retries, "{way}");
        assert_eq!(after["lastError"].is_null(), way == "# to give it back", "{way}: {after}");
        assert_eq!(after["question"].is_string(), state == "blocked", "{way}: {after}");
        let inbox = agent.desk.send_as_person(get("/api/inbox?kind=question")).expect(200);
        assert_eq!(inbox["total"], i64::from(state == "blocked"), "{way}");
        let path = format!("/api/issues/{}/cancel", issue["number"]);
        agent.desk.send_as_person(post(&path, &Value::Null)).expect(200);
    }
}

fn each_way_to_end_does_what_it_says(desk: &mut Desk) {
    let agent = Agent { desk, token: None };
    for lesson in &LESSONS {
        end_literally(&agent, lesson);
    }
}

#[test]
fn each_way_to_end_works_beyond_loopback() {
    let (desk, token) = beyond_loopback();
    let agent = Agent { desk: &desk, token: Some(token) };
    for lesson in LESSONS.iter().filter(|lesson| matches!(lesson.kind, "signal" | "plan" | "task")) {
        end_literally(&agent, lesson);
    }
}

fn commands_that_are_run_again_create_nothing_twice(desk: &mut Desk) {
    let agent = Agent { desk, token: None };
    for lesson in &LESSONS {
        let issue = agent.create(lesson);
        for way in ["# to give it back", "# when done"] {
            let next = agent.claim("pull");
            assert_eq!(next["issue"]["id"], issue["id"], "{}", lesson.slug);
            let prompt = next["prompt"].as_str().unwrap();
            for command in going_on(prompt) {
                passes(&command);
                passes(&command);
            }
            passes(&ending(prompt, way));
            // A report that is repeated is answered as before, and what comes after it is not heard.
            passes(&ending(prompt, way));
        }
        check_children(&agent, lesson, &agent.show(&issue["number"]));
    }
}

fn spawned_agents_are_told_to_call_nothing(desk: &mut Desk) {
    let agent = Agent { desk, token: None };
    let check = |next: &Value, slug: &str| {
        assert_eq!(next["meta"]["templateSlug"], slug);
        let prompt = next["prompt"].as_str().unwrap();
        let host = desk.api().to_string();
        for word in ["curl", "xbd_", "Bearer", "/api/", host.as_str(), "localhost", "[token"] {
            assert!(!prompt.contains(word), "{slug} says {word}: {prompt}");
        }
        assert_eq!(Page::read(prompt).commands(), Vec::<&str>::new());
        assert!(prompt.contains("## How to end"), "{prompt}");
        desk.send(&report(next, "complete", &Value::Null)).expect(200);
    };
    for lesson in &LESSONS {
        agent.create(lesson);
        check(&agent.claim("run"), &format!("{}-run", lesson.slug));
    }
    desk.send(&post("/api/labels", &json!({"name": "prompt-improvement", "color": "red"}))).expect(201);
    create(desk, &json!({"labelIds": ["prompt-improvement"]}));
    check(&agent.claim("run"), "prompt-improvement-run");
}
