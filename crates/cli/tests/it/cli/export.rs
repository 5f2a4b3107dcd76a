//! `xb export`: all tasks, as they were, for another desk or for people.

use std::collections::BTreeMap;

use serde_json::{Value, json as value};

use super::{json, run, run_reading};
use crate::harness::{Backend, Desk, get, post};
use crate::http::label_names;

/// Fills a desk with tasks that hang together.
fn filled(backend: Backend) -> Desk {
    let desk = backend.desk();
    run(&desk, &["projects", "add", "pay"]).exits(0);
    for words in [
        &[
            "add",
            "The plan",
            "--kind",
            "plan",
            "--priority",
            "high",
            "--label",
            "infra,q1",
            "--project",
            "pay",
        ][..],
        &["add", "First", "--parent", "1", "-d", "One.\n\nTwo: \"é\" \\ `x`", "--needs", "rust"],
        &["add", "Second", "--parent", "1", "--blocked-by", "2", "--owner", "ann"],
        &["add", "Alone"],
        &["add", "Finished"],
        &["add", "Dropped"],
    ] {
        run(&desk, words).exits(0);
    }
    for (path, body) in [
        (
            "/api/issues/3/comments",
            value!({"body": "Careful.\nReally.", "authorName": "Ann", "authorType": "human"}),
        ),
        ("/api/issues/4/relations", value!({"type": "related", "relatedIssueId": 2})),
        (
            "/api/issues",
            value!({
                "title": "Held", "type": "hypothesis", "status": "todo", "parentId": 1, "gatedByParent": true,
                "boost": -7, "doors": ["run"], "maxRetries": 0, "notBefore": "2099-01-31T09:00:00.5Z",
                "inputArtifact": "out/plan.md", "signalSource": "sentry",
                "signalPayload": {"count": 1.5, "tags": ["é", null]}, "hypothesis": {"confidence": 0.25}
            }),
        ),
        (
            "/api/issues",
            value!({"title": "Imported", "type": "code", "status": "backlog", "externalKey": "github:a/b#1"}),
        ),
    ] {
        desk.send_as_person(post(path, &body)).expect(201);
    }
    let said = |body: &str, parent: Option<&Value>| {
        let body = value!({"body": body, "authorName": "Ann", "authorType": "human", "parentId": parent});
        desk.send_as_person(post("/api/issues/4/comments", &body)).expect(201)["data"]["id"].clone()
    };
    let (first, _) = (said("first", None), said("second", None));
    let reply = said("reply", Some(&first));
    said("to the reply", Some(&reply));
    run(&desk, &["cancel", "6"]).exits(0);
    desk.send_as_person(crate::harness::patch("/api/issues/5", &value!({"status": "done"}))).expect(200);
    desk
}

/// What says when a task is handed out, and what it was made of.
const STANDING: &[&str] = &[
    "boost",
    "doors",
    "maxRetries",
    "notBefore",
    "inputArtifact",
    "gatedByParent",
    "held",
    "signalSource",
    "signalPayload",
    "hypothesis",
];

/// Returns who said what, and in reply to what.
fn threads(comments: &Value) -> Vec<Value> {
    let of = |comment: &Value| {
        let replies = comment.get("replies").map(threads).unwrap_or_default();
        value!([comment["authorName"], comment["body"], replies])
    };
    comments.as_array().unwrap().iter().map(of).collect()
}

/// Returns what matters of every task, by title.
fn essence(desk: &Desk) -> BTreeMap<String, Value> {
    let of = |issue: &Value| {
        let detail = json(desk, &["show", &issue["number"].to_string()])["data"].clone();
        let mut relations: Vec<Value> = detail["relations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|relation| value!([relation["type"], relation["related"]["title"]]))
            .collect();
        relations.sort_by_key(Value::to_string);
        let comments = desk.send(&get(&format!("/api/issues/{}/comments", issue["number"]))).expect(200);
        let standing: Vec<Value> = STANDING.iter().map(|field| detail[field].clone()).collect();
        value!({
            "type": detail["type"], "status": detail["status"], "description": detail["description"],
            "priorityValue": detail["priorityValue"], "labels": label_names(&detail),
            "parent": detail["parent"]["title"], "relations": relations,
            "comments": threads(&comments["data"]), "needs": detail["needs"], "owner": detail["owner"],
            "standing": standing
        })
    };
    desk.issues().iter().map(|issue| (issue["title"].as_str().unwrap().to_owned(), of(issue))).collect()
}

#[test]
fn what_is_exported_and_imported_elsewhere_is_the_same() {
    for (from, to) in [(Backend::Sqlite, Backend::Postgres), (Backend::Postgres, Backend::Sqlite)] {
        let desk = filled(from);
        let lines = run(&desk, &["export"]);
        assert_eq!(lines.exits(0).lines().count(), 8, "{lines:?}");
        let other = to.desk();
        let report = run_reading(&other, &["import", "jsonl", "-", "--closed", "--json"], lines.exits(0));
        let report: Value = serde_json::from_str(report.exits(0)).unwrap();
        assert_eq!(report["created"].as_array().unwrap().len(), 8, "{report}");
        assert_eq!(essence(&desk), essence(&other));
        let held = &essence(&other)["Held"];
        assert!(held["standing"].as_array().unwrap().iter().all(|value| !value.is_null()), "{held}");
        let again = run(&other, &["export"]);
        let key = |line: &str| serde_json::from_str::<Value>(line).unwrap()["key"].clone();
        let mut keys: Vec<String> = lines.out.lines().map(|line| key(line).to_string()).collect();
        let mut others: Vec<String> = again.exits(0).lines().map(|line| key(line).to_string()).collect();
        keys.sort();
        others.sort();
        assert_eq!(keys, others, "keys travel along");
        let report = run_reading(&other, &["import", "jsonl", "-", "--closed", "--json"], lines.exits(0));
        let report: Value = serde_json::from_str(report.exits(0)).unwrap();
        assert_eq!(report["known"].as_array().unwrap().len(), 8, "{report}");
    }
}

#[test]
fn desk_recognises_what_it_exported() {
    let desk = filled(Backend::Sqlite);
    let lines = run(&desk, &["export"]);
    let before = desk.issues();
    let report = run_reading(&desk, &["import", "jsonl", "-", "--closed"], lines.exits(0));
    assert!(report.err.contains("0 created, 8 already there, 0 left out"), "{report:?}");
    assert_eq!(desk.issues(), before);
}

#[test]
fn export_chooses_by_project_and_status_and_writes_to_a_file() {
    let desk = filled(Backend::Sqlite);
    let file = desk.data_dir().join("tasks.jsonl");
    let path = file.to_str().unwrap();
    let told = run(&desk, &["export", "--project", "pay", path]);
    assert_eq!(told.exits(0), "");
    assert!(told.err.contains(&format!("1 task written to {path}")), "{told:?}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"The plan\""));
    assert_eq!(run(&desk, &["export", "--status", "done,canceled"]).exits(0).lines().count(), 2);
    run(&desk, &["export", "--project", "nope"]).fails(2, "--project: ");
    run(&desk, &["export", "--status", "open"]).fails(2, "--status: ");
}

#[test]
fn export_is_a_task_list_for_people() {
    let desk = filled(Backend::Sqlite);
    let list = run(&desk, &["export", "--format", "markdown"]);
    let lines = list.exits(0);
    assert!(lines.contains("- [ ] The plan") && lines.contains("\n  - [ ] First"), "{lines}");
    assert!(lines.contains("- [x] Finished") && lines.contains("- [-] Dropped"), "{lines}");
    let other = Backend::Sqlite.desk();
    run_reading(&other, &["import", "markdown", "-", "--repo", "old"], lines).exits(0);
    assert_eq!(json(&other, &["list"])["total"], 6);
}

#[test]
fn task_list_loses_no_task_to_code_without_an_end() {
    let desk = Backend::Sqlite.desk();
    for number in 1..=6 {
        let description = if number == 2 { "Run this:\n```sh\nmake" } else { "Plain." };
        run(&desk, &["add", &format!("Task {number}"), "-d", description]).exits(0);
    }
    let list = run(&desk, &["export", "--format", "markdown"]);
    let other = Backend::Sqlite.desk();
    let told = run_reading(&other, &["import", "markdown", "-", "--repo", "old"], list.exits(0));
    assert!(told.err.contains("6 created, 0 already there, 0 left out"), "{told:?}");
}
