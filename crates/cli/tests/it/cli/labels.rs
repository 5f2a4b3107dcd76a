//! `xb labels`, and labels of tasks.

use serde_json::json as value;

use super::{json, run};
use crate::harness::Backend;
use crate::http::label_names;

#[test]
fn labels_are_added_listed_edited_and_deleted() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        assert_eq!(run(&desk, &["labels"]).exits(0), "");
        assert_eq!(run(&desk, &["labels", "add", "web"]).exits(0), "added label web\n");
        let bug = json(&desk, &["labels", "add", "bug", "--color", "red"])["data"].clone();
        assert_eq!(bug["color"], "red");
        let list = run(&desk, &["labels"]);
        let rows: Vec<&str> =
            list.exits(0).lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(rows, ["LABEL", "bug", "web"]);
        assert!(list.err.contains("2 of 2 labels"), "{list:?}");
        let edited = run(&desk, &["labels", "edit", "bug", "--name", "fault", "--color", "blue"]);
        assert_eq!(edited.exits(0), "label fault is blue\n");
        run(&desk, &["labels", "edit", "bug", "--color", "red"]).fails(3, "no label bug");
        run(&desk, &["labels", "edit", "fault"]).fails(2, "expected at least one change");
        run(&desk, &["labels", "add", "fault"]).fails(4, "there is a label fault already");
        run(&desk, &["labels", "add", ""]).fails(2, "NAME: ");
        assert_eq!(run(&desk, &["labels", "delete", "fault"]).exits(0), "deleted label fault\n");
        run(&desk, &["labels", "delete", "fault"]).fails(3, "no label fault");
        assert_eq!(json(&desk, &["labels", "--limit", "1"])["total"], 1);
    }
}

#[test]
fn tasks_get_labels_that_are_made_where_they_are_missing() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["labels", "add", "bug"]).exits(0);
    let added = run(&desk, &["add", "one", "--label", "bug,web", "--label", "api"]);
    assert_eq!(added.exits(0), "added #1: one\n");
    for label in ["web", "api"] {
        assert!(added.err.contains(&format!("added label {label}")), "{added:?}");
    }
    assert!(!added.err.contains("added label bug"), "{added:?}");
    let names = |number: &str| -> Vec<String> {
        let shown = json(&desk, &["show", number])["data"].clone();
        label_names(&shown).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(names("1"), ["api", "bug", "web"]);
    let edited = run(&desk, &["edit", "1", "--label", "new", "--unlabel", "bug,web"]);
    edited.exits(0);
    assert!(edited.err.contains("added label new"), "{edited:?}");
    assert_eq!(names("1"), ["api", "new"]);
    run(&desk, &["edit", "1", "--title", "first"]).exits(0);
    assert_eq!(names("1"), ["api", "new"], "what is not named stays");
    run(&desk, &["add", "two", "--label", "bug"]).exits(0);
    assert_eq!(json(&desk, &["list", "--label", "bug"])["data"][0]["number"], 2);
    assert_eq!(json(&desk, &["list", "--label", "api"])["total"], 1);
    let list = run(&desk, &["list"]);
    assert!(list.exits(0).contains("LABELS") && list.out.contains("api"), "{list:?}");
    assert!(run(&desk, &["show", "1"]).exits(0).contains("labels      api, new\n"));
    let whole = json(&desk, &["labels"]);
    assert_eq!(whole["total"], value!(4));
}
