//! Dependencies, parents and artifacts on the command line.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{Outcome, json, run};
use crate::harness::{Backend, Desk, xb};

fn desk_with(titles: &[&str]) -> Desk {
    let desk = Backend::Sqlite.desk();
    for title in titles {
        run(&desk, &["add", title]).exits(0);
    }
    desk
}

#[test]
fn task_waits_for_what_it_depends_on() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        for title in ["lay", "paint", "polish"] {
            run(&desk, &["add", title]).exits(0);
        }
        let depends = run(&desk, &["depend", "1", "--on", "2", "--on", "#3"]);
        assert_eq!(depends.exits(0), "#1 waits for #2\n#1 waits for #3\n");
        let again = run(&desk, &["depend", "#1", "--on", "2"]);
        assert_eq!(again.exits(0), "#1 waits for #2 already\n");
        let page = run(&desk, &["show", "1"]);
        assert!(page.exits(0).contains("held        yes, by 2 open blockers"), "{}", page.out);
        assert!(page.out.contains("relations:\n  blocked by #2 paint (task, queued)\n"), "{}", page.out);
        run(&desk, &["done", "2"]).exits(0);
        let no_longer = run(&desk, &["undepend", "1", "--on", "3"]);
        assert_eq!(no_longer.exits(0), "#1 waits for #3 no longer\n");
        run(&desk, &["undepend", "1", "--on", "3"]).fails(3, "task #1 does not wait for #3");
        assert_eq!(json(&desk, &["claim"])["issue"]["number"], 1);
    }
}

#[test]
fn cycle_is_named_and_what_was_done_before_it_is_told() {
    let desk = desk_with(&["one", "two", "three"]);
    run(&desk, &["depend", "1", "--on", "2"]).exits(0);
    let cycle = run(&desk, &["depend", "2", "--on", "3", "--on", "1"]);
    assert_eq!(cycle.exits(4), "#2 waits for #3\n");
    let named = ["#1 → #2 → #1", "#2 → #1 → #2"].iter().any(|cycle_text| cycle.err.contains(cycle_text));
    assert!(named, "{}", cycle.err);
    let told = run(&desk, &["depend", "2", "--on", "1", "--json"]);
    told.fails(4, "\"code\":\"cycle\"");
    let relations = json(&desk, &["depend", "1", "--on", "3"]);
    assert_eq!((&relations["total"], &relations["data"][0]["type"]), (&json!(1), &json!("blocked_by")));
}

#[test]
fn nothing_is_done_if_one_of_several_is_not_there() {
    let desk = desk_with(&["one", "two", "three"]);
    run(&desk, &["depend", "1", "--on", "2", "--on", "99"]).fails(2, "--on: there is no task #99");
    run(&desk, &["undepend", "1", "--on", "2"]).fails(3, "task #1 does not wait for #2");
    let depends = run(&desk, &["depend", "1", "--on", "2,#3"]);
    assert_eq!(depends.exits(0), "#1 waits for #2\n#1 waits for #3\n");
    let no_longer = run(&desk, &["undepend", "1", "--on", "2,3"]);
    assert_eq!(no_longer.exits(0), "#1 waits for #2 no longer\n#1 waits for #3 no longer\n");
}

#[test]
fn dependencies_that_make_no_sense_are_refused() {
    let desk = desk_with(&["one", "two"]);
    for (words, code, says) in [
        (vec!["depend", "9", "--on", "1"], 3, "no task #9"),
        (vec!["depend", "1", "--on", "9"], 2, "--on: "),
        (vec!["depend", "1", "--on", "1"], 2, "--on: "),
        (vec!["depend", "1", "--on", "x"], 2, "expected a number such as 42"),
        (vec!["depend", "1"], 2, "--on <ID,…>"),
        (vec!["undepend", "9", "--on", "1"], 3, "no task #9"),
        (vec!["undepend", "1", "--on", "2"], 3, "task #1 does not wait for #2"),
        (vec!["add", "t", "--blocked-by", "1,9"], 2, "--blocked-by: "),
        (vec!["add", "t", "--parent", "9"], 2, "--parent: "),
        (vec!["add", "t", "--gated"], 2, "--parent"),
        (vec!["add", "t", "--project", "apollo"], 2, "--project: "),
        (vec!["add", "t", "--needs", "two words"], 2, "--needs: "),
        (vec!["add", "t", "--boost", "10001"], 2, "--boost: "),
        (vec!["add", "t", "--artifact", "/etc/passwd"], 2, "--artifact: "),
    ] {
        run(&desk, &words).fails(code, says);
    }
    assert_eq!(json(&desk, &["list"])["total"], 2);
}

#[test]
fn child_waits_for_its_parent_where_the_profile_says_so() {
    let desk = desk_with(&["plan it"]);
    let child = json(&desk, &["add", "free", "--parent", "1"])["data"].clone();
    assert_eq!((&child["gatedByParent"], &child["depth"]), (&json!(false), &json!(1)));
    let gated = json(&desk, &["add", "gated", "--parent", "1", "--gated"])["data"].clone();
    assert_eq!((&gated["gatedByParent"], &gated["held"]), (&json!(true), &json!(true)));
    run(&desk, &["profile", "apply", "depth_first"]).exits(0);
    assert_eq!(json(&desk, &["add", "waits", "--parent", "#1"])["data"]["gatedByParent"], true);
    assert_eq!(json(&desk, &["add", "free", "--parent", "1", "--ungated"])["data"]["gatedByParent"], false);
    assert_eq!(json(&desk, &["list", "--parent", "1"])["total"], 4);
    let page = run(&desk, &["show", "4"]);
    assert!(
        page.exits(0).contains("parent      #1 plan it (task, queued); depth 1, waits for it"),
        "{}",
        page.out
    );
    let parent = run(&desk, &["show", "1"]);
    assert!(parent.exits(0).contains("children:\n  #2 free (task, queued)\n  #3 gated"), "{}", parent.out);
}

#[test]
fn everything_around_a_task_can_be_said_and_is_shown() {
    let desk = desk_with(&["first"]);
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    let words =
        ["add", "second", "--project", "apollo", "--parent", "1", "--boost", "-5", "--needs", "gpu,rust"];
    let more = ["--owner", "ann", "--artifact", "out/plan.md", "--blocked-by", "1"];
    let added = json(&desk, &[&words[..], &more].concat())["data"].clone();
    assert_eq!(
        (&added["boost"], &added["needs"], &added["owner"]),
        (&json!(-5), &json!(["gpu", "rust"]), &json!("ann"))
    );
    let page = run(&desk, &["show", "2"]);
    for line in [
        "boost       -5",
        "project     apollo",
        "parent      #1 first (task, queued); depth 1, does not wait for it",
        "held        yes, by 1 open blocker",
        "artifact    out/plan.md is missing",
        "needs       gpu, rust",
        "owner       ann",
        "  blocked by #1 first (task, queued)",
    ] {
        assert!(page.exits(0).contains(line), "{line:?} is not in\n{}", page.out);
    }
    assert_eq!(json(&desk, &["list", "--project", "apollo"])["total"], 1);
}

#[test]
fn artifact_frees_what_waits_for_it() {
    let desk = desk_with(&["provides"]);
    run(&desk, &["add", "waits", "--artifact", "out/plan.md"]).exits(0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.md");
    fs::write(&file, "the plan").unwrap();
    let provided = run(&desk, &["artifact", "1", "out/plan.md", "--file", file.to_str().unwrap()]);
    assert_eq!(provided.exits(0), "#1 provides out/plan.md (8 bytes); #2 waited for it\n");
    let again = run(&desk, &["artifact", "1", "out/plan.md", "--content", "-- none --"]);
    assert_eq!(again.exits(0), "#1 provides out/plan.md (10 bytes)\n");
    assert_eq!(json(&desk, &["artifact", "1", "other"])["data"]["size"], 0);
    let mut child = xb(desk.data_dir())
        .args(["artifact", "1", "stdin.md", "--file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("Grüße".as_bytes()).unwrap();
    let read = Outcome::from(child.wait_with_output().unwrap());
    assert_eq!(read.exits(0), "#1 provides stdin.md (7 bytes)\n");
    assert!(run(&desk, &["show", "2"]).exits(0).contains("artifact    out/plan.md is there"));
}

#[test]
fn artifacts_that_cannot_be_stored_are_refused() {
    let desk = desk_with(&["provides"]);
    let folder = tempfile::tempdir().unwrap();
    let (large, binary) = (folder.path().join("large"), folder.path().join("binary"));
    fs::write(&large, "x".repeat(512 * 1024 + 1)).unwrap();
    fs::write(&binary, [0xff, 0xfe]).unwrap();
    for (words, code, says) in [
        (vec!["artifact", "9", "plan.md"], 3, "no task #9"),
        (vec!["artifact", "1", "../plan.md"], 2, "PATH: expected a relative path"),
        (vec!["artifact", "1", "a", "--file", large.to_str().unwrap()], 2, "is larger than 512 KiB"),
        (vec!["artifact", "1", "a", "--file", binary.to_str().unwrap()], 2, "is not UTF-8 text"),
        (vec!["artifact", "1", "a", "--file", "/nowhere/x"], 2, "cannot read /nowhere/x"),
        (vec!["artifact", "1", "a", "--file", "x", "--content", "y"], 2, "cannot be used with"),
        (vec!["artifact", "1"], 2, "PATH"),
    ] {
        run(&desk, &words).fails(code, says);
    }
}
