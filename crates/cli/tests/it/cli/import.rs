//! `xb import`: what other trackers wrote becomes tasks, each once.

use std::fs;

use serde_json::{Value, json as value};

use super::{json, run, run_reading};
use crate::harness::{Backend, Desk};
use crate::http::label_names;

const GITHUB: &str = r#"[
  {"number": 12, "title": "Charged twice", "body": "On Mondays.\n\nBlocked by #9", "state": "OPEN",
   "url": "https://github.com/acme/pay/issues/12", "labels": [{"name": "bug"}, {"name": "priority: high"}],
   "author": {"login": "mona"}, "comments": [{"author": {"login": "hub"}, "body": "Me too."}]},
  {"number": 9, "title": "Upgrade the gateway", "body": "- [ ] #12", "state": "OPEN",
   "url": "https://github.com/acme/pay/issues/9", "labels": []},
  {"number": 3, "title": "Old", "body": "", "state": "CLOSED", "stateReason": "NOT_PLANNED",
   "url": "https://github.com/acme/pay/issues/3", "labels": []}
]"#;

const BEADS: &str = concat!(
    r#"{"id":"bd-2","title":"Loader","status":"open","priority":1,"issue_type":"feature","labels":["io"],"dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-0","type":"parent-child"}]}"#,
    "\n",
    r#"{"id":"bd-0","title":"Epic","status":"open","priority":0,"issue_type":"epic"}"#,
    "\n",
    r#"{"id":"bd-1","title":"Dumper","status":"open","priority":2,"issue_type":"task"}"#,
    "\n",
    r#"{"id":"bd-9","title":"Done","status":"closed","priority":2,"issue_type":"task"}"#,
    "\n",
);

const JSONL: &str = concat!(
    r#"{"id":"load","title":"Load the dump","parent":"plan:db","blockedBy":["dump"],"comments":[{"author":"ann","body":"Twice!"}]}"#,
    "\n",
    r#"{"key":"plan:db","title":"Move the database","type":"plan","status":"backlog","priorityValue":80,"labels":["infra"]}"#,
    "\n",
    r#"{"id":"dump","title":"Write the dump","parent":"plan:db","needs":["sql"],"description":"All of it."}"#,
    "\n",
);

const MARKDOWN: &str = "# Spring\n\n## Backend\n\n- [ ] Fix the login #bug !high\n  It fails with a quote.\n  \
    - [ ] Write a test\n  - [x] Ask the vendor\n";

/// Writes a file beside the desk; returns its path.
fn file(desk: &Desk, name: &str, text: &str) -> String {
    let path = desk.data_dir().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Imports a file: once dry, which changes nothing, and twice in earnest, the second time in vain.
#[track_caller]
fn import(desk: &Desk, format: &str, name: &str, text: &str, created: usize) -> Value {
    let path = file(desk, name, text);
    let count = |report: &Value, what: &str| report[what].as_array().unwrap().len();
    let dry = json(desk, &["import", format, &path, "--dry-run"]);
    assert_eq!((&dry["dryRun"], count(&dry, "created")), (&value!(true), created), "{dry}");
    assert_eq!((desk.issues().len(), &json(desk, &["labels"])["total"]), (0, &value!(0)));
    let first = json(desk, &["import", format, &path]);
    assert_eq!((count(&first, "created"), count(&first, "known")), (created, 0), "{first}");
    let before = desk.issues();
    assert_eq!(before.len(), created);
    let again = json(desk, &["import", format, &path]);
    assert_eq!((count(&again, "created"), count(&again, "known")), (0, created), "{again}");
    assert_eq!(desk.issues(), before);
    first
}

#[track_caller]
fn task(desk: &Desk, title: &str) -> Value {
    let issues = desk.issues();
    let found = issues.iter().find(|issue| issue["title"] == title);
    let number = found.unwrap_or_else(|| panic!("no {title} in {issues:?}"))["number"].to_string();
    json(desk, &["show", &number])["data"].clone()
}

/// Returns the titles of what blocks a task.
fn blockers(issue: &Value) -> Vec<&str> {
    let relations = issue["relations"].as_array().unwrap();
    let blocking = relations.iter().filter(|relation| relation["type"] == "blocked_by");
    blocking.map(|relation| relation["related"]["title"].as_str().unwrap()).collect()
}

fn comments(desk: &Desk, issue: &Value) -> Vec<(String, String)> {
    let path = format!("/api/issues/{}/comments", issue["number"]);
    let list = desk.send(&crate::harness::get(&path)).expect(200);
    let text = |comment: &Value, field: &str| comment[field].as_str().unwrap().to_owned();
    let of = |comment: &Value| (text(comment, "authorName"), text(comment, "body"));
    list["data"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn github_issues_are_imported() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let report = import(&desk, "github", "issues.json", GITHUB, 2);
        assert_eq!(report["leftOut"].as_array().unwrap().len(), 1, "{report}");
        let twice = task(&desk, "Charged twice");
        assert_eq!(
            (&twice["externalKey"], &twice["priorityValue"]),
            (&value!("github:acme/pay#12"), &value!(75))
        );
        assert_eq!(
            (&twice["status"], label_names(&twice)),
            (&value!("triage"), vec!["bug", "priority: high"])
        );
        assert_eq!(blockers(&twice), ["Upgrade the gateway"]);
        assert_eq!(twice["parent"]["title"], "Upgrade the gateway");
        assert!(twice["description"].as_str().unwrap().contains("On Mondays."));
        assert_eq!(comments(&desk, &twice), [("hub".to_owned(), "Me too.".to_owned())]);
        let path = file(&desk, "issues.json", GITHUB);
        let closed = json(&desk, &["import", "github", &path, "--closed"]);
        assert_eq!(closed["created"].as_array().unwrap().len(), 1, "{closed}");
        assert_eq!(task(&desk, "Old")["status"], "canceled");
    }
}

#[test]
fn github_issues_that_need_each_other_lose_one_tie_and_it_is_said() {
    let desk = Backend::Sqlite.desk();
    let knot = GITHUB.replace("- [ ] #12", "- [ ] #12\\n\\nBlocked by #12");
    let report = import(&desk, "github", "issues.json", &knot, 2);
    assert!(!report["remarks"].as_array().unwrap().is_empty(), "{report}");
}

#[test]
fn github_issues_without_a_repository_need_one_named() {
    let desk = Backend::Sqlite.desk();
    let text = r#"[{"number": 1, "title": "One", "state": "OPEN"}]"#;
    run_reading(&desk, &["import", "github", "-"], text).fails(2, "--repo");
    let report = run_reading(&desk, &["import", "github", "-", "--repo", "acme/web"], text);
    assert_eq!(report.exits(0), "created #1 github:acme/web#1: One\n");
    let mixed = r#"[{"number": 2, "title": "Two", "state": "OPEN"},
        {"number": 3, "title": "Three", "state": "OPEN", "url": "https://github.com/acme/web/issues/3"}]"#;
    let report = run_reading(&desk, &["import", "github", "-"], mixed);
    assert!(
        report.exits(0).starts_with("created #2 github:acme/web#3: Three\nleft out line 1: #2 "),
        "{report:?}"
    );
}

#[test]
fn what_cannot_be_read_lets_no_task_loose() {
    let desk = Backend::Sqlite.desk();
    let lines = concat!(
        r#"{"title":"Bad time","status":"todo","notBefore":"tomorrow"}"#,
        "\n",
        r#"{"title":"No such day","status":"todo","notBefore":"2026-02-31T09:00:00Z"}"#,
        "\n",
        r#"{"title":"Bad gate","status":"todo","gatedByParent":"yes"}"#,
        "\n[1,2]\n",
    );
    let told = run_reading(&desk, &["import", "jsonl", "-"], lines);
    for line in ["note line 1: ", "left out line 2: ", "note line 3: "] {
        assert!(told.out.contains(line), "{line}: {told:?}");
    }
    assert_eq!(told.out.matches("line 4: ").count(), 1, "{told:?}");
    assert!(told.out.contains("`notBefore`") && told.out.contains("`gatedByParent`"), "{told:?}");
    let statuses: Vec<Value> = desk.issues().iter().map(|issue| issue["status"].clone()).collect();
    assert_eq!(statuses, ["triage", "triage"]);
}

#[test]
fn beads_are_imported() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let report = import(&desk, "beads", "issues.jsonl", BEADS, 3);
        assert_eq!(report["leftOut"].as_array().unwrap().len(), 1, "{report}");
        let loader = task(&desk, "Loader");
        assert_eq!((&loader["externalKey"], &loader["priorityValue"]), (&value!("beads:bd-2"), &value!(75)));
        assert_eq!(label_names(&loader), ["feature", "io"]);
        assert_eq!((&loader["parent"]["title"], blockers(&loader)), (&value!("Epic"), vec!["Dumper"]));
        assert_eq!(task(&desk, "Epic")["priorityValue"], 100);
    }
}

#[test]
fn lines_of_json_are_imported() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        import(&desk, "jsonl", "tasks.jsonl", JSONL, 3);
        let load = task(&desk, "Load the dump");
        assert_eq!(
            (&load["parent"]["title"], blockers(&load)),
            (&value!("Move the database"), vec!["Write the dump"])
        );
        assert_eq!(comments(&desk, &load), [("ann".to_owned(), "Twice!".to_owned())]);
        let plan = task(&desk, "Move the database");
        assert_eq!(
            (&plan["type"], &plan["status"], &plan["priorityValue"]),
            (&value!("plan"), &value!("backlog"), &value!(80))
        );
        assert_eq!((&plan["externalKey"], label_names(&plan)), (&value!("plan:db"), vec!["infra"]));
        assert_eq!(task(&desk, "Write the dump")["needs"], value!(["sql"]));
    }
}

#[test]
fn task_lists_are_imported() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        import(&desk, "markdown", "TODO.md", MARKDOWN, 2);
        let login = task(&desk, "Fix the login");
        assert_eq!(
            (&login["description"], &login["priorityValue"]),
            (&value!("It fails with a quote."), &value!(75))
        );
        assert_eq!(label_names(&login), ["Backend", "bug"]);
        assert_eq!(login["externalKey"], "markdown:TODO:backend/fix-the-login");
        assert_eq!(task(&desk, "Write a test")["parent"]["title"], "Fix the login");
        let path = file(&desk, "TODO.md", MARKDOWN);
        json(&desk, &["import", "markdown", &path, "--closed"]);
        let asked = task(&desk, "Ask the vendor");
        assert_eq!(
            (&asked["status"], &asked["parent"]["title"]),
            (&value!("done"), &value!("Fix the login"))
        );
    }
}

#[test]
fn import_says_where_tasks_start_and_belong() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["projects", "add", "pay"]).exits(0);
    let path = file(&desk, "tasks.jsonl", JSONL);
    run(&desk, &["import", "jsonl", &path, "--project", "nope"]).fails(3, "no project nope");
    assert_eq!(desk.issues().len(), 0);
    let told = run(&desk, &["import", "jsonl", &path, "--project", "pay", "--status", "todo"]);
    assert_eq!(told.exits(0).lines().filter(|line| line.starts_with("created #")).count(), 3, "{told:?}");
    assert!(told.err.contains("3 created, 0 already there, 0 left out"), "{told:?}");
    assert!(told.err.contains("added label infra"), "{told:?}");
    for issue in desk.issues() {
        assert_eq!(issue["status"], "todo", "{issue}");
        assert!(issue["projectId"].is_string(), "{issue}");
    }
    // What comes first in the line has nothing to wait for.
    assert_eq!(json(&desk, &["claim"])["issue"]["title"], "Move the database");
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let desk = Backend::Sqlite.desk();
    let mixed =
        format!("{JSONL}{{\"titel\": \"x\"}}\nnot json\n{{\"title\": \"Last\", \"colour\": \"red\"}}\n");
    let path = file(&desk, "tasks.jsonl", &mixed);
    let told = run(&desk, &["import", "jsonl", &path]);
    let lines = told.exits(0);
    for line in ["left out line 4: ", "left out line 5: ", "note line 6: "] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    assert_eq!(desk.issues().len(), 4);
    let github = file(&desk, "issues.json", "{");
    run(&desk, &["import", "github", &github]).fails(2, &format!("{github}: line 1"));
    run(&desk, &["import", "github", "/no/such/file"]).fails(2, "cannot read /no/such/file");
    run(&desk, &["import", "csv", &path]).fails(2, "csv");
}
