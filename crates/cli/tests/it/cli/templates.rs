//! `xb templates`, but for files.

use std::fs;

use super::{json, run, run_reading};
use crate::harness::Backend;

#[test]
fn templates_are_listed_shown_and_previewed() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        run(&desk, &["add", "Lay the track"]).exits(0);
        let list = run(&desk, &["templates"]);
        let row = list.exits(0).lines().find(|line| line.starts_with("task-execution ")).unwrap();
        assert!(row.contains("type=task"), "{row}");
        assert!(list.err.contains("18 of 18 templates"), "{list:?}");
        let page = run(&desk, &["templates", "show", "task-execution"]);
        assert!(page.exits(0).contains("{{> issue_context}}") && page.out.contains("used 0"), "{page:?}");
        run(&desk, &["templates", "show", "nope"]).fails(3, "no template nope");
        let preview = run(&desk, &["templates", "preview", "1"]);
        assert!(preview.exits(0).contains("## Issue #1: Lay the track"), "{preview:?}");
        assert!(preview.err.contains("#1 Lay the track: task-execution version 1"), "{preview:?}");
        let spawned = run(&desk, &["templates", "preview", "#1", "--door", "run"]);
        assert!(spawned.exits(0).contains("## How to end") && !spawned.out.contains("curl"), "{spawned:?}");
        assert!(spawned.err.contains("task-execution-run version 1"), "{spawned:?}");
        run(&desk, &["templates", "preview", "9"]).fails(3, "9");
        run(&desk, &["templates", "preview", "1", "--door", "window"]).fails(2, "--door: ");
        run(&desk, &["claim"]).exits(0);
        let used = run(&desk, &["templates", "show", "task-execution"]);
        assert!(used.exits(0).contains("used 1"), "{used:?}");
    }
}

#[test]
fn template_is_created_edited_versioned_promoted_and_deleted() {
    let desk = Backend::Sqlite.desk();
    let file = desk.data_dir().join("text.hbs");
    fs::write(&file, "First: {{issue.title}}").unwrap();
    let file = file.to_str().unwrap();
    let words = ["templates", "create", "own", "--when", "type=task", "--specificity", "50", "--file", file];
    assert_eq!(run(&desk, &words).exits(0), "created template own\n");
    run(&desk, &words).fails(4, "there is a template own already");
    run(&desk, &["templates", "create", "No"]).fails(2, "SLUG: ");
    run(&desk, &["templates", "create", "other", "--when", "kind=task"]).fails(2, "kind");
    run(&desk, &["add", "t"]).exits(0);
    let prompt = || run(&desk, &["templates", "preview", "1"]).exits(0).to_owned();
    assert_eq!(prompt(), "First: t\n");
    let added = run_reading(
        &desk,
        &["templates", "add-version", "own", "-", "--changelog", "shorter"],
        "Second: {{issue.title}}",
    );
    assert_eq!(added.exits(0), "version 2 of template own is draft\n");
    assert_eq!(prompt(), "First: t\n");
    let draft = json(&desk, &["templates", "versions", "own"])["data"][0].clone();
    let id = draft["id"].as_str().unwrap();
    assert_eq!(run(&desk, &["templates", "preview", "1", "--version", id]).exits(0), "Second: t\n");
    let promoted = run(&desk, &["templates", "promote", "own", "2"]);
    assert_eq!(promoted.exits(0), "version 2 of template own is active\n");
    assert_eq!(prompt(), "Second: t\n");
    run(&desk, &["templates", "promote", "own", "2"]).fails(2, "active");
    run(&desk, &["templates", "promote", "own", "9"]).fails(3, "version 9");
    let bad = run_reading(&desk, &["templates", "add-version", "own", "-"], "One\n{{{issue.title}}}");
    bad.fails(2, "FILE: ");
    assert!(bad.err.contains("line 2"), "{bad:?}");
    let table = run(&desk, &["templates", "versions", "own"]);
    let rows: Vec<Vec<&str>> =
        table.exits(0).lines().skip(1).map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(rows, [["2", "active"], ["1", "retired"]]);
    let edited = run(&desk, &["templates", "edit", "own", "--when", "none", "--specificity", "60"]);
    assert!(edited.exits(0).contains("specificity 60"), "{edited:?}");
    run(&desk, &["templates", "edit", "own"]).fails(2, "expected at least one change");
    assert_eq!(run(&desk, &["templates", "delete", "own"]).exits(0), "deleted template own\n");
    assert!(prompt().contains("## Issue #1: t"));
}
