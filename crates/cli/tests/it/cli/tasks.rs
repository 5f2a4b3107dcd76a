//! Adding, taking, finishing and moving tasks.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Stdio;

use extraboard_testkit::process::free_port;
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
fn tasks_go_from_added_to_done() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        assert_eq!(run(&desk, &["add", "Lay the track"]).exits(0), "added #1: Lay the track\n");
        let added =
            json(&desk, &["add", "Paint it", "--priority", "urgent", "--kind", "code", "-d", "All red."]);
        assert_eq!(added["data"]["priorityValue"], 100);
        assert_eq!(added["data"]["doors"], json!(["pull", "push", "run"]));
        assert!(run(&desk, &["next"]).exits(0).contains("Paint it"));
        assert_eq!(json(&desk, &["queue"])["total"], 2);
        let claimed = json(&desk, &["claim", "--agent", "ada"]);
        assert_eq!(claimed["issue"]["number"], 2);
        assert!(claimed["dispatch"]["token"].as_str().unwrap().starts_with("xbd_"));
        assert!(run(&desk, &["show", "#2"]).exits(0).contains("held by agent:ada"));
        let done = run(&desk, &["done", "2", "--agent", "ada", "--summary", "red now"]);
        assert_eq!(done.exits(0), "#2 is done: Paint it\n");
        assert_eq!(json(&desk, &["show", "2"])["data"]["agentSummary"], "red now");
        let list = run(&desk, &["list"]);
        assert!(list.exits(0).contains("Lay the track") && list.out.contains("done"), "{}", list.out);
        assert_eq!(json(&desk, &["list", "--status", "todo"])["total"], 1);
    }
}

#[test]
fn claim_prints_the_prompt_with_the_token_it_is_reported_by() {
    let desk = desk_with(&["Lay the track"]);
    let claimed = run(&desk, &["claim"]);
    let page = claimed.exits(0);
    assert!(page.contains("#1 Lay the track") && page.contains("lease     3600 s"), "{page}");
    assert!(page.contains("## Issue #1: Lay the track\n") && page.contains("Bearer xbd_"), "{page}");
    assert!(page.contains("  prompt    task-execution version 1 ("), "{page}");
}

#[test]
fn same_key_adds_and_claims_once() {
    let desk = desk_with(&[]);
    for _ in 0..2 {
        assert_eq!(json(&desk, &["add", "once", "--key", "k"])["data"]["number"], 1);
    }
    run(&desk, &["add", "other", "--key", "k"]).fails(4, "used with other parameters");
    let first = json(&desk, &["claim", "--key", "c"]);
    assert_eq!(json(&desk, &["claim", "--key", "c"])["dispatch"]["id"], first["dispatch"]["id"]);
    run(&desk, &["done", "1"]).exits(0);
    run(&desk, &["claim", "--key", "c"]).fails(4, "is closed");
}

#[test]
fn work_fails_comes_back_and_is_given_up() {
    let desk = desk_with(&["one", "two"]);
    json(&desk, &["claim", "--agent", "ada"]);
    let released = run(&desk, &["release", "1", "--agent", "ada"]);
    assert_eq!(released.exits(0), "#1 is queued: one\n");
    json(&desk, &["claim", "--agent", "ada"]);
    let failed = json(&desk, &["fail", "1", "--agent", "ada", "--error", "no luck", "--no-retry"]);
    assert_eq!(failed["issue"]["state"], "failed");
    assert_eq!(failed["issue"]["lastError"], "no luck");
    assert_eq!(run(&desk, &["retry", "1"]).exits(0), "#1 is queued: one\n");
    json(&desk, &["claim", "--agent", "ada"]);
    let waits = json(&desk, &["fail", "1", "--agent", "ada", "--class", "crash"]);
    assert_eq!(waits["issue"]["state"], "queued");
    assert!(waits["issue"]["notBefore"].is_string());
}

#[test]
fn verbs_move_one_task_or_several() {
    let desk = desk_with(&["one", "two", "three"]);
    for (verb, state) in
        [("park", "backlog"), ("admit", "queued"), ("cancel", "canceled"), ("reopen", "queued")]
    {
        let moved = run(&desk, &[verb, "1", "#2"]);
        assert_eq!(moved.exits(0), format!("#1 is {state}: one\n#2 is {state}: two\n"), "{verb}");
    }
    let partly = run(&desk, &["park", "9", "3", "3", "1"]);
    assert_eq!(partly.exits(3), "#3 is backlog: three\n#1 is backlog: one\n");
    assert!(
        partly.err.contains("no task #9") && partly.err.contains("legal now: admit, cancel"),
        "{}",
        partly.err
    );
}

#[test]
fn description_is_read_from_standard_input() {
    let desk = desk_with(&[]);
    let mut child = xb(desk.data_dir())
        .args(["add", "t", "-d", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("First.\nSecond.".as_bytes()).unwrap();
    Outcome::from(child.wait_with_output().unwrap()).exits(0);
    assert_eq!(json(&desk, &["show", "1"])["data"]["description"], "First.\nSecond.");
}

#[test]
fn refusals_are_sentences_with_documented_exit_codes() {
    let desk = desk_with(&["one"]);
    let long = "x".repeat(501);
    for (words, code, says) in [
        (vec!["show", "9"], 3, "xb: no task #9"),
        (vec!["done", "9"], 3, "xb: no task #9"),
        (vec!["show", "01990000-0000-7000-8000-000000000000"], 3, "xb: no task 01990000"),
        (vec!["reopen", "1"], 4, "legal now: park, cancel"),
        (vec!["retry", "1"], 4, "legal now: park, cancel"),
        (vec!["admit", "1"], 4, "legal now: park, cancel"),
        (vec!["release", "1"], 4, "nobody holds it"),
        (vec!["fail", "1"], 4, "nobody holds it"),
        (vec!["done", "1", "--agent", "ada"], 4, "legal now: park, claim"),
        (vec!["add", ""], 2, "title: expected 1 to 500 characters"),
        (vec!["add", &long], 2, "title: expected at most 500 characters"),
        (vec!["add", "t", "--kind", "epic"], 2, "--kind: "),
        (vec!["add", "t", "--max-retries", "101"], 2, "--max-retries: expected 0 to 100"),
        (vec!["add", "t", "--priority", "huge"], 2, "--priority"),
        (vec!["add"], 2, "TITLE"),
        (vec!["show", "forty-two"], 2, "expected a number such as 42"),
        (vec!["list", "--status", "open"], 2, "--status: "),
        (vec!["list", "--limit", "0"], 2, "--limit: expected 1 to 200"),
        (vec!["claim", "--agent", "two words"], 2, "printable characters without spaces"),
        (vec!["fly"], 2, "unrecognized subcommand"),
    ] {
        run(&desk, &words).fails(code, says);
    }
    assert_eq!(json(&desk, &["list"])["total"], 1);
}

#[test]
fn nothing_to_do_is_exit_3_with_a_reason() {
    let desk = desk_with(&[]);
    run(&desk, &["claim"]).fails(3, "nothing to claim: nothing is in line");
    run(&desk, &["next"]).fails(3, "nothing is in line");
    assert_eq!(run(&desk, &["queue"]).exits(0), "");
    assert_eq!(run(&desk, &["list"]).exits(0), "");
    run(&desk, &["add", "later", "--not-before", "2h"]).exits(0);
    run(&desk, &["claim"]).fails(3, "nothing to claim: what is queued waits for its time");
}

#[test]
fn work_of_another_agent_is_not_touched() {
    let desk = desk_with(&["one"]);
    json(&desk, &["claim", "--agent", "ada"]);
    run(&desk, &["done", "1", "--agent", "bob"]).fails(4, "");
    run(&desk, &["fail", "1", "--agent", "bob"]).fails(4, "held by agent:ada");
    run(&desk, &["release", "1", "--agent", "bob"]).fails(4, "held by agent:ada");
    assert_eq!(json(&desk, &["show", "1"])["data"]["dispatch"]["holder"], "agent:ada");
}

#[test]
fn dispatch_token_speaks_for_its_holder() {
    let desk = desk_with(&["one", "two"]);
    let claimed = json(&desk, &["claim", "--agent", "ada"]);
    let token = claimed["dispatch"]["token"].as_str().unwrap();
    let as_holder = |words: &[&str]| -> Outcome {
        xb(desk.data_dir()).args(words).env("EXTRABOARD_TOKEN", token).output().unwrap().into()
    };
    as_holder(&["done", "2"]).fails(4, "legal now:");
    assert_eq!(as_holder(&["done", "1"]).exits(0), "#1 is done: one\n");
    as_holder(&["release", "1"]).fails(4, "nobody holds it");
}

#[test]
fn person_ends_the_work_of_an_agent() {
    let desk = desk_with(&["one"]);
    json(&desk, &["claim", "--agent", "ada"]);
    let canceled = json(&desk, &["cancel", "1"]);
    assert_eq!(canceled["data"]["state"], "canceled");
    assert_eq!(canceled["data"]["dispatch"]["phase"], "ending");
    run(&desk, &["cancel", "1"]).fails(4, "legal now: reopen");
}

#[test]
fn person_who_takes_work_from_an_agent_is_told_when_it_moves() {
    let desk = desk_with(&["one"]);
    for verb in ["release", "fail"] {
        let claimed = json(&desk, &["claim", "--agent", "ada"]);
        let told = run(&desk, &[verb, "1"]);
        let expected = "agent:ada was told to stop: #1 moves when it has stopped, or when its lease ends\n";
        assert_eq!(told.exits(0), expected);
        assert_eq!(json(&desk, &["show", "1"])["data"]["state"], "running");
        let token = claimed["dispatch"]["token"].as_str().unwrap();
        let stopped = xb(desk.data_dir()).args(["release", "1"]).env("EXTRABOARD_TOKEN", token).output();
        assert_eq!(Outcome::from(stopped.unwrap()).exits(0), "#1 is queued: one\n");
    }
}

#[test]
fn claim_that_cannot_be_told_is_given_back() {
    let desk = desk_with(&["one"]);
    let claim = |words: &[&str], stdout: Stdio| -> Outcome {
        xb(desk.data_dir()).arg("claim").args(words).stdout(stdout).output().unwrap().into()
    };
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for words in [&[][..], &["--json"], &["--agent", "ada"]] {
        claim(words, full().into()).fails(1, "; #1 was claimed and given back");
        assert_eq!(json(&desk, &["show", "1"])["data"]["state"], "queued", "{words:?}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    claim(&[], writer.into()).fails(1, "; #1 was claimed and given back");
    assert_eq!(json(&desk, &["show", "1"])["data"]["state"], "queued");
    claim(&["--key", "k"], full().into()).fails(1, "cannot write to standard output");
    assert_eq!(json(&desk, &["show", "1"])["data"]["state"], "running", "the key answers it again");
    json(&desk, &["claim", "--key", "k"]);
}

#[test]
fn output_cannot_drive_the_terminal() {
    let desk = desk_with(&["a\u{1b}[2Jb\u{202e}c"]);
    for words in [&["list"][..], &["queue"], &["next"], &["show", "1"], &["list", "--json"], &["claim"]] {
        let outcome = run(&desk, words);
        assert!(!outcome.exits(0).contains(['\u{1b}', '\u{202e}']), "{words:?}: {:?}", outcome.out);
    }
}

#[test]
fn desk_that_is_not_there_is_exit_3_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = format!("http://127.0.0.1:{}", free_port());
    for words in [vec!["list"], vec!["add", "t"], vec!["claim"], vec!["status"]] {
        let output = xb(folder.path()).args(&words).args(["--server", &nobody]).output().unwrap();
        let outcome = Outcome::from(output);
        outcome.fails(3, &nobody);
        outcome.fails(3, "hint: start a desk with `xb up`, or name one with --server");
    }
}

#[test]
fn server_is_named_by_flag_or_variable_and_the_token_by_variable() {
    let desk = desk_with(&["one"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let from = |words: &[&str], variables: &[(&str, &str)]| {
        let output = xb(elsewhere.path()).args(words).envs(variables.iter().copied()).output().unwrap();
        Outcome::from(output)
    };
    let url = desk.url();
    assert!(from(&["list", "--server", &url], &[]).exits(0).contains("one"));
    assert!(from(&["list"], &[("EXTRABOARD_URL", &url)]).exits(0).contains("one"));
    // Without a token the caller is nobody in particular, who may not cancel.
    from(&["cancel", "1", "--server", &url], &[]).fails(4, "is for a person");
    from(&["cancel", "1", "--server", &url], &[("EXTRABOARD_TOKEN", "xba_nope")])
        .fails(1, "token is not valid");
    let token = desk.admin_token();
    from(&["cancel", "1", "--server", &url], &[("EXTRABOARD_TOKEN", &token)]).exits(0);
    from(&["list", "--server", "ftp://nowhere"], &[]).fails(2, "");
    let metrics = format!("http://{}", desk.metrics());
    from(&["list", "--server", &metrics], &[]).fails(1, "is that the address of a desk?");
}
