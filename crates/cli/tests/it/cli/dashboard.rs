//! `xb dashboard`, `xb activity` and `xb prompts`.

use super::{json, run};
use crate::harness::Backend;

#[test]
fn dashboard_counts() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let empty = run(&desk, &["dashboard"]);
        assert!(empty.exits(0).starts_with("tasks       0\n"), "{empty:?}");
        for kind in ["task", "task", "plan"] {
            run(&desk, &["add", "t", "--kind", kind]).exits(0);
        }
        run(&desk, &["claim"]).exits(0);
        run(&desk, &["done", "3"]).exits(0);
        run(&desk, &["claim"]).exits(0);
        let page = run(&desk, &["dashboard"]);
        let expected = [
            "tasks       3: done 1, in_progress 1, todo 1",
            "kinds       plan 1, task 2",
            "goals       0: 0 active, 0 achieved",
            "waiting     1 in todo and backlog",
            "handed out  1",
            "done        1 in the last 24 hours",
        ];
        assert_eq!(page.exits(0).lines().collect::<Vec<_>>(), expected);
        assert_eq!(json(&desk, &["dashboard"])["data"]["dispatch"]["completedLast24h"], 1);
    }
}

#[test]
fn activity_tells_what_happened_last() {
    let desk = Backend::Sqlite.desk();
    assert_eq!(run(&desk, &["activity"]).exits(0), "");
    for title in ["one", "two"] {
        run(&desk, &["add", title]).exits(0);
    }
    run(&desk, &["add", "below", "--parent", "1"]).exits(0);
    let told = run(&desk, &["activity"]);
    let lines: Vec<&str> = told.exits(0).lines().map(|line| line.split("Z  ").last().unwrap()).collect();
    assert_eq!(lines, ["#1 one (task, queued)", "  #3 below (task, queued)", "#2 two (task, queued)"]);
    assert!(told.err.contains("2 of 2 tasks without a parent"), "{told:?}");
    assert_eq!(json(&desk, &["activity", "--limit", "1"])["data"].as_array().unwrap().len(), 1);
    run(&desk, &["activity", "--limit", "0"]).fails(2, "--limit: ");
}

#[test]
fn prompts_tell_which_templates_need_attention() {
    let desk = Backend::Sqlite.desk();
    let table = run(&desk, &["prompts"]);
    assert!(table.err.contains("18 templates, 0 need attention"), "{table:?}");
    run(&desk, &["add", "t", "--max-retries", "0"]).exits(0);
    run(&desk, &["claim", "--agent", "ada"]).exits(0);
    run(&desk, &["fail", "1", "--agent", "ada", "--no-retry"]).exits(0);
    let table = run(&desk, &["prompts"]);
    assert!(table.err.contains("18 templates, 1 need attention"), "{table:?}");
    let row = table.exits(0).lines().find(|line| line.starts_with("task-execution ")).unwrap();
    assert!(row.ends_with("yes"), "{row}");
    assert_eq!(json(&desk, &["prompts"])["total"], 18);
}
