//! `xb signal` and `xb signals`.

use std::fs;

use super::{json, run, run_reading};
use crate::harness::Backend;

const HIGH: [&str; 5] = ["signal", "ci", "build.failed", "--severity", "high"];

#[test]
fn signal_becomes_a_task() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let told = run(&desk, &[&HIGH[..], &["--message", "red"]].concat());
        let line = told.exits(0);
        assert!(line.starts_with("signal ") && line.ends_with(" is #1: [ci] build.failed: red\n"), "{line}");
        let issue = json(&desk, &["show", "1"])["data"].clone();
        assert_eq!((&issue["priority"], &issue["status"]), (&2.into(), &"triage".into()));
        let words = [&HIGH[..], &["--source-id", "run-7", "--key", "k"]].concat();
        let first = json(&desk, &words);
        assert_eq!(json(&desk, &words)["data"]["issue"]["number"], first["data"]["issue"]["number"]);
        assert_eq!(first["data"]["signal"]["sourceId"], "run-7");
        let list = run(&desk, &["signals"]);
        assert_eq!(list.exits(0).lines().count(), 3, "{list:?}");
        assert!(list.err.contains("2 of 2 signals"), "{list:?}");
        assert_eq!(json(&desk, &["signals", "--limit", "1"])["data"][0]["sourceId"], "run-7");
    }
}

#[test]
fn payload_is_read_from_a_word_a_file_or_standard_input() {
    let desk = Backend::Sqlite.desk();
    let file = desk.data_dir().join("payload.json");
    fs::write(&file, r#"{"title": "from a file"}"#).unwrap();
    let file = file.to_str().unwrap();
    let title = |words: &[&str], text: &str| {
        run_reading(&desk, &[&HIGH[..], words].concat(), text).exits(0).split(": ").last().unwrap().to_owned()
    };
    assert_eq!(title(&["--payload", r#"{"message": "a word"}"#], ""), "a word\n");
    assert_eq!(title(&["--payload-file", file], ""), "from a file\n");
    for words in [["--payload", "-"], ["--payload-file", "-"]] {
        assert_eq!(title(&words, r#"{"message": "from standard input"}"#), "from standard input\n");
    }
    assert_eq!(title(&["--payload-file", file, "--message", "said"], ""), "said\n");
    for (words, says) in [
        (&["--payload", "{"][..], "the payload is no JSON"),
        (&["--payload", "[]", "--message", "m"], "--message needs a payload that is an object"),
        (&["--payload", "{}", "--payload-file", file], "cannot be used with"),
        (&["--payload-file", "/no/such/file"], "cannot read /no/such/file"),
        (&["--project", "nope"], "--project: "),
    ] {
        run(&desk, &[&HIGH[..], words].concat()).fails(2, says);
    }
    run(&desk, &["signal", "ci", "t"]).fails(2, "--severity");
    run(&desk, &["signal", "ci", "t", "--severity", "bad"]).fails(2, "critical");
    assert_eq!(json(&desk, &["signals"])["total"], 5);
}
