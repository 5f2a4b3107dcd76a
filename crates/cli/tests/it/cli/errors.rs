//! How failures are told: once, in the words of the command line, and as JSON to whoever reads JSON.

use serde_json::{Value, json};

use super::{Outcome, run};
use crate::harness::{Backend, xb};

#[test]
fn failure_is_told_once() {
    let desk = Backend::Sqlite.desk();
    let check = |words: &[&str], expected: &str| {
        let outcome = run(&desk, words);
        outcome.fails(2, "");
        assert_eq!(outcome.err, expected, "{words:?}");
    };
    check(&["add", ""], "xb: title: expected 1 to 500 characters, got none\n");
    check(&["add", "t", "--max-retries", "101"], "xb: --max-retries: expected 0 to 100, got 101\n");
    run(&desk, &["add", "one"]).exits(0);
    let illegal = run(&desk, &["retry", "1"]);
    illegal.fails(4, "hint: legal now: park, cancel");
    assert_eq!(illegal.err.matches("legal").count(), 1, "{}", illegal.err);
    check(&["list", "--limit", "0"], "xb: --limit: expected 1 to 200, got 0\n");
    let both = run(&desk, &["add", "", "--kind", "epic"]);
    for text in ["title: expected", "--kind: expected"] {
        assert_eq!(both.err.matches(text).count(), 1, "{}", both.err);
    }
}

/// Returns the failures on standard error, a line each.
#[track_caller]
fn told(outcome: &Outcome, code: i32) -> Vec<Value> {
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    outcome.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn whoever_reads_json_is_told_failures_in_json() {
    let desk = Backend::Sqlite.desk();
    run(&desk, &["add", "one"]).exits(0);
    let check = |words: &[&str], code: i32, expected: Value| {
        let outcome = run(&desk, &[words, &["--json"]].concat());
        outcome.fails(code, "");
        assert_eq!(told(&outcome, code), [expected], "{words:?}");
    };
    let none = Value::Null;
    check(&["show", "9"], 3, json!({"error": "no task #9", "code": "not_found", "hint": none}));
    check(
        &["add", ""],
        2,
        json!({"error": "title: expected 1 to 500 characters, got none", "code": "validation", "hint": none}),
    );
    check(
        &["release", "1"],
        4,
        json!({"error": "task #1 is queued: nobody holds it", "code": "conflict", "hint": none}),
    );
    check(
        &["fly"],
        2,
        json!({
            "error": "unrecognized subcommand 'fly'",
            "code": "usage",
            "hint": "for more information, try --help"
        }),
    );
    let several = run(&desk, &["admit", "9", "1", "--json"]);
    let codes: Vec<Value> = told(&several, 3).iter().map(|error| error["code"].clone()).collect();
    assert_eq!(codes, ["not_found", "illegal_transition"]);
}

#[test]
fn without_a_desk_json_is_told_too() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = Outcome::from(xb(folder.path()).args(["stop", "--json"]).output().unwrap());
    assert_eq!(told(&outcome, 3)[0]["code"], "not_found");
    let nobody = format!("http://127.0.0.1:{}", extraboard_testkit::process::free_port());
    let outcome =
        Outcome::from(xb(folder.path()).args(["list", "--json", "--server", &nobody]).output().unwrap());
    assert_eq!(told(&outcome, 3)[0]["code"], "no_desk");
    let outcome = Outcome::from(xb(folder.path()).args(["--json", "list", "--", "x"]).output().unwrap());
    assert_eq!(told(&outcome, 2)[0]["code"], "usage");
    let outcome = Outcome::from(xb(folder.path()).args(["list", "x", "--", "--json"]).output().unwrap());
    outcome.fails(2, "error: unexpected argument");
}

/// One command of each way to ask a desk.
const ASKING: [&[&str]; 7] = [
    &["list"],
    &["status"],
    &["add", "t"],
    &["claim"],
    &["show", "1"],
    &["cancel", "1", "2"],
    &["release", "1"],
];

#[test]
fn whoever_names_a_directory_without_a_desk_is_told_how_to_start_one_there() {
    // The desk of the environment's directory is not the one that is meant.
    let desk = Backend::Sqlite.desk();
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("no desk");
    let none = none.to_str().unwrap();
    for words in ASKING {
        let outcome = run(&desk, &[&["--data-dir", none], words].concat());
        outcome.fails(3, "");
        let expected =
            format!("xb: no desk is running in {none}\nhint: start one with `xb --data-dir '{none}' up`\n");
        assert_eq!(outcome.err, expected, "{words:?}");
    }
    let outcome = run(&desk, &["list", "--json", "--data-dir", none]);
    let expected = json!({
        "error": format!("no desk is running in {none}"),
        "code": "no_desk",
        "hint": format!("start one with `xb --data-dir '{none}' up`"),
    });
    assert_eq!(told(&outcome, 3), [expected]);
    let stop = run(&desk, &["stop", "--data-dir", none]);
    assert_eq!((stop.code, stop.err), (Some(3), format!("xb: no desk is running in {none}\n")));
    run(&desk, &["list", "--data-dir", none, "--server", &desk.url()]).exits(0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn hint_at_starting_a_desk_names_the_directory_that_was_named() {
    let mut desk = Backend::Sqlite.desk();
    desk.kill_9();
    let (data_dir, elsewhere) = (desk.data_dir().to_str().unwrap(), tempfile::tempdir().unwrap());
    for words in ASKING {
        let output = xb(elsewhere.path()).args(words).args(["--data-dir", data_dir]).output().unwrap();
        let outcome = Outcome::from(output);
        outcome.fails(3, &desk.url());
        let hint =
            format!("\nhint: start a desk with `xb --data-dir {data_dir} up`, or name one with --server\n");
        assert!(outcome.err.ends_with(&hint), "{words:?}: {}", outcome.err);
        run(&desk, words).fails(3, "\nhint: start a desk with `xb up`, or name one with --server\n");
    }
}
