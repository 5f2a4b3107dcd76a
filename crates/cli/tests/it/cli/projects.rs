//! Projects and goals on the command line.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{json, run};
use crate::harness::Backend;

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn projects_are_added_shown_edited_and_deleted() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        assert_eq!(run(&desk, &["projects"]).exits(0), "");
        let words = [
            "projects",
            "add",
            "apollo 11",
            "-d",
            "To the moon",
            "--workspace",
            "/srv/apollo",
            "--limit",
            "2",
        ];
        assert_eq!(run(&desk, &words).exits(0), "added project apollo 11\n");
        run(&desk, &["add", "t", "--project", "apollo 11"]).exits(0);
        let page = run(&desk, &["projects", "show", "apollo 11"]);
        for line in ["apollo 11\n", "workspace   /srv/apollo", "limit       2", "tasks       todo 1"] {
            assert!(page.exits(0).contains(line), "{line:?} is not in\n{}", page.out);
        }
        let edit =
            ["projects", "edit", "apollo 11", "--name", "apollo", "--limit", "none", "--workspace", "none"];
        assert_eq!(run(&desk, &edit).exits(0), "project apollo is active\n");
        let edited =
            json(&desk, &["projects", "edit", "apollo", "-d", "", "--health", "at_risk"])["data"].clone();
        for field in ["runLimit", "workspace", "description"] {
            assert_eq!(edited[field], Value::Null, "{field}");
        }
        let list = run(&desk, &["projects"]);
        assert!(list.exits(0).contains("apollo   active  at_risk   none  no"), "{}", list.out);
        run(&desk, &["projects", "delete", "apollo"]).fails(4, "");
        run(&desk, &["done", "1"]).exits(0);
        assert_eq!(run(&desk, &["projects", "delete", "apollo"]).exits(0), "deleted project apollo\n");
        run(&desk, &["projects", "show", "apollo"]).fails(3, "no project apollo");
        assert!(run(&desk, &["show", "1"]).exits(0).contains("(deleted)"), "what it did stays");
    }
}

#[test]
fn pause_and_resume_name_the_project() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    assert_eq!(run(&desk, &["pause", "apollo"]).exits(0), "project apollo is paused\n");
    assert_eq!(json(&desk, &["projects"])["data"][0]["status"], "paused");
    assert_eq!(run(&desk, &["resume", "apollo"]).exits(0), "project apollo is active\n");
    for verb in ["pause", "resume"] {
        run(&desk, &[verb, "gemini"]).fails(3, "no project gemini");
    }
}

#[test]
fn goal_of_a_project_raises_its_tasks() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    run(&desk, &["add", "t", "--project", "apollo"]).exits(0);
    let words = [
        "goals",
        "add",
        "Land",
        "--project",
        "apollo",
        "--metric",
        "crew",
        "--target",
        "2.5",
        "--current",
        "-1",
        "--unit",
        "people",
    ];
    let goal = json(&desk, &words)["data"].clone();
    assert_eq!((&goal["targetValue"], &goal["currentValue"]), (&json!(2.5), &json!(-1.0)));
    let id = goal["id"].as_str().unwrap();
    let bonus = |expected: i64| {
        wait_until(LIMIT, "the line to be ranked anew", || {
            let queue = json(&desk, &["queue"]);
            (queue["data"][0]["breakdown"]["goalBonus"] == expected).then_some(())
        });
    };
    bonus(20);
    assert!(run(&desk, &["projects"]).exits(0).contains("yes"));
    let achieved = run(&desk, &["goals", "edit", id, "--status", "achieved", "--current", "2.5"]);
    assert_eq!(achieved.exits(0), format!("goal {id} is achieved: Land\n"));
    bonus(0);
    let list = run(&desk, &["goals"]);
    assert!(list.exits(0).contains(&format!("{id}  achieved      2.5  2.5  people  Land")), "{}", list.out);
    let cleared =
        json(&desk, &["goals", "edit", id, "--project", "none", "--metric", "none", "--target", "none"]);
    assert_eq!(
        (&cleared["data"]["projectId"], &cleared["data"]["targetValue"]),
        (&Value::Null, &Value::Null)
    );
    run(&desk, &["goals", "edit", id, "--project", "apollo", "--status", "active"]).exits(0);
    bonus(20);
    assert_eq!(run(&desk, &["goals", "delete", id]).exits(0), format!("deleted goal {id}\n"));
    bonus(0);
    run(&desk, &["projects", "add", "gemini", "--goal", id]).fails(2, "--goal: ");
}

#[test]
fn projects_and_goals_that_make_no_sense_are_refused() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    let nobody = "01990000-0000-7000-8000-000000000000";
    for (words, code, says) in [
        (vec!["projects", "add", "apollo"], 4, "apollo"),
        (vec!["projects", "add", ""], 2, "name: expected 1 to 200 characters"),
        (vec!["projects", "add", "x", "--limit", "-1"], 2, "--limit: expected 0 to 100000"),
        (vec!["projects", "add", "x", "--workspace", "srv"], 2, "--workspace: expected an absolute path"),
        (vec!["projects", "add", "x", "--status", "open"], 2, "--status: "),
        (vec!["projects", "edit", "apollo", "--limit", "few"], 2, "--limit"),
        (vec!["projects", "edit", "gemini", "--limit", "1"], 3, "no project gemini"),
        (vec!["projects", "delete", "gemini"], 3, "no project gemini"),
        (vec!["projects", "--limit", "0"], 2, "--limit: expected 1 to 200"),
        (vec!["goals", "add", "t", "--project", "gemini"], 3, "no project gemini"),
        (vec!["goals", "add", "t", "--status", "done"], 2, "--status: "),
        (vec!["goals", "edit", nobody, "--status", "achieved"], 3, "no goal 01990000"),
        (vec!["goals", "edit", "land", "--status", "achieved"], 2, "expected"),
        (vec!["goals", "delete", nobody], 3, "no goal 01990000"),
    ] {
        run(&desk, &words).fails(code, says);
    }
    assert_eq!(json(&desk, &["projects"])["total"], 1);
}
