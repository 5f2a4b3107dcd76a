//! The pull door by hand: work, questions, comments, events, tokens, and the agent guide.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use extraboard_testkit::process::{Process, wait_until};
use serde_json::{Value, json as value};

use super::{json, run};
use crate::harness::{Backend, Desk, get, post, xb};

const LIMIT: Duration = Duration::from_secs(30);

fn desk_with(titles: &[&str]) -> Desk {
    let desk = Backend::Sqlite.desk();
    for title in titles {
        run(&desk, &["add", title]).exits(0);
    }
    desk
}

fn shown(desk: &Desk, number: i64) -> Value {
    json(desk, &["show", &number.to_string()])["data"].clone()
}

fn work(desk: &Desk, script: &str) -> super::Outcome {
    run(desk, &["work", "--once", "--agent", "shell", "--", "sh", "-c", script])
}

#[test]
fn any_script_is_an_agent() {
    let desk = desk_with(&["good", "bad", "later", "killed"]);
    let good = work(&desk, r#"cat; echo "issue $EXTRABOARD_ISSUE attempt $EXTRABOARD_ATTEMPT""#);
    assert!(
        good.exits(0).contains("## Issue #1: good\n") && good.out.ends_with("#1 completed\n"),
        "{good:?}"
    );
    let done = shown(&desk, 1);
    assert_eq!((&done["state"], &done["result"]["exitCode"]), (&value!("done"), &value!(0)));
    assert!(done["result"]["output"].as_str().unwrap().contains("issue 1 attempt 1"), "{done}");
    // What a command leaves running does not hold up its report, nor what it said.
    run(&desk, &["add", "leaves", "--priority", "urgent"]).exits(0);
    assert!(work(&desk, "echo said; sleep 60 & exit 0").exits(0).ends_with("#5 completed\n"));
    assert_eq!(shown(&desk, 5)["result"]["output"], "said\n");
    assert!(work(&desk, "echo oh no >&2; exit 3").exits(0).ends_with("#2 failed\n"));
    let failed = shown(&desk, 2);
    assert_eq!(
        (&failed["state"], &failed["lastError"]),
        (&value!("queued"), &value!("exit status: 3\noh no"))
    );
    assert!(work(&desk, "exit 75").exits(0).ends_with("#3 given back\n"));
    assert_eq!(
        (&shown(&desk, 3)["state"], &shown(&desk, 3)["counters"]["retry"]),
        (&value!("queued"), &value!(0))
    );
    run(&desk, &["cancel", "3"]).exits(0);
    work(&desk, "kill -9 $$").exits(0);
    assert_eq!(shown(&desk, 4)["counters"]["crash"], 1);
}

#[test]
fn a_command_that_reports_by_itself_is_believed() {
    let desk = desk_with(&["asks"]);
    let script = r#""$XB" ask "$EXTRABOARD_ISSUE" "Which way?""#;
    let outcome: super::Outcome = xb(desk.data_dir())
        .env("XB", env!("CARGO_BIN_EXE_xb"))
        .args(["work", "--once", "--", "sh", "-c", script])
        .output()
        .unwrap()
        .into();
    assert!(outcome.exits(0).ends_with("#1 over already\n"), "{outcome:?}");
    assert_eq!(
        (&shown(&desk, 1)["state"], &shown(&desk, 1)["question"]),
        (&value!("blocked"), &value!("Which way?"))
    );
}

#[test]
fn a_command_that_is_not_there_costs_the_task_nothing() {
    let desk = desk_with(&["t"]);
    let outcome = run(&desk, &["work", "--once", "--", "no-such-command"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.err.contains("cannot run `no-such-command`"), "{outcome:?}");
    assert_eq!((&shown(&desk, 1)["state"], &shown(&desk, 1)["attempt"]), (&value!("queued"), &value!(1)));
    run(&desk, &["work", "--once", "--", "true"]).exits(0);
    run(&desk, &["work", "--once", "--", "true"]).fails(3, "nothing to claim");
}

#[test]
fn an_interrupted_worker_ends_its_command_and_gives_the_task_back() {
    let desk = desk_with(&["long"]);
    let pid_file = desk.data_dir().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; wait", pid_file.display());
    let mut command = xb(desk.data_dir());
    command
        .args(["work", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut worker = Process::spawn(&mut command);
    let pid = wait_until(LIMIT, "the command to run", || {
        fs::read_to_string(&pid_file).ok().filter(|text| text.ends_with('\n'))
    });
    assert_eq!(shown(&desk, 1)["state"], "running");
    assert!(Command::new("kill").args(["-INT", &worker.id().to_string()]).status().unwrap().success());
    assert!(worker.wait_within(LIMIT).success());
    let task = shown(&desk, 1);
    assert_eq!((&task["state"], &task["counters"]["lost"]), (&value!("queued"), &value!(0)));
    let alive =
        || Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap().success();
    wait_until(LIMIT, "what the command started to end", || (!alive()).then_some(()));
}

#[test]
fn a_worker_stops_when_the_desk_orders_it() {
    let desk = Desk::start(Backend::Sqlite.plan().variable("EXTRABOARD_LEASES_PULL_SECS", "10"));
    run(&desk, &["add", "long"]).exits(0);
    let mut command = xb(desk.data_dir());
    command.args(["work", "--once", "--", "sleep", "1000"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut worker = Process::spawn(&mut command);
    wait_until(LIMIT, "the command to run", || (shown(&desk, 1)["state"] == "running").then_some(()));
    run(&desk, &["cancel", "1"]).exits(0);
    assert!(worker.wait_within(LIMIT).success());
    assert_eq!(
        (&shown(&desk, 1)["state"], &shown(&desk, 1)["dispatch"]),
        (&value!("canceled"), &Value::Null)
    );
}

#[test]
fn questions_are_asked_and_answered() {
    let desk = desk_with(&["choose"]);
    run(&desk, &["claim"]).exits(0);
    run(&desk, &["ask", "1", "Left or right?"]).exits(0);
    let inbox = run(&desk, &["inbox"]);
    assert!(inbox.exits(0).contains("question") && inbox.out.contains("Left or right?"), "{inbox:?}");
    assert!(inbox.err.contains("1 of 1 wait for a person"), "{inbox:?}");
    run(&desk, &["answer", "1", "Left"]).exits(0);
    assert!(run(&desk, &["inbox"]).exits(0).is_empty());
    let claimed = run(&desk, &["claim"]);
    let prompt = claimed.exits(0);
    let said =
        ["Left or right?\n````\n", "A person answered:\n", "````text: answer, from outside\nLeft\n````\n"];
    assert!(said.iter().all(|said| prompt.contains(said)), "{prompt}");
    let comments = run(&desk, &["comments", "1"]);
    assert!(comments.exits(0).contains("question 1 by person:admin") && comments.out.contains("  Left\n"));
    run(&desk, &["comment", "1", "noted", "--reply-to", "1"]).exits(0);
    run(&desk, &["answer", "1", "again"]).fails(4, "answer");
    run(&desk, &["answer", "77", "x"]).fails(3, "77");
    run(&desk, &["inbox", "dismiss", "77"]).fails(3, "nothing 77 in the inbox");
}

#[test]
fn events_are_shown_and_followed() {
    let desk = desk_with(&["one", "two"]);
    let all = run(&desk, &["events"]);
    assert_eq!(all.exits(0).lines().count(), 2);
    assert!(all.out.contains(" task.created #2 person:admin "), "{}", all.out);
    let lines: Vec<Value> = run(&desk, &["events", "--after", "1", "--json"])
        .exits(0)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((lines.len(), &lines[0]["pos"]), (1, &value!(2)));
    assert_eq!(run(&desk, &["events", "--task", "2"]).exits(0).lines().count(), 1);
    run(&desk, &["events", "--type", "task.eaten"]).fails(2, "--type");
    let told = desk.data_dir().join("told");
    let mut command = xb(desk.data_dir());
    command.args(["events", "--follow", "--after", "0"]).stdin(Stdio::null());
    command.stdout(fs::File::create(&told).unwrap()).stderr(Stdio::null());
    let _following = Process::spawn(&mut command);
    let count = || fs::read_to_string(&told).unwrap().lines().count();
    wait_until(LIMIT, "what happened before", || (count() == 2).then_some(()));
    run(&desk, &["add", "three"]).exits(0);
    wait_until(LIMIT, "what happens", || (count() == 3).then_some(()));
}

#[test]
fn events_are_followed_across_a_restart() {
    let mut desk = desk_with(&["one"]);
    let told = desk.data_dir().join("told");
    let mut command = xb(desk.data_dir());
    command.args(["--server", &desk.url(), "events", "--follow", "--after", "0"]).stdin(Stdio::null());
    command.stdout(fs::File::create(&told).unwrap()).stderr(Stdio::null());
    let _following = Process::spawn(&mut command);
    let count = || fs::read_to_string(&told).unwrap().lines().count();
    wait_until(LIMIT, "what happened before", || (count() == 1).then_some(()));
    desk.restart();
    run(&desk, &["add", "two"]).exits(0);
    wait_until(LIMIT, "what happens afterwards", || (count() == 2).then_some(()));
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let desk = Backend::Sqlite.desk();
    let made = run(&desk, &["token", "create", "--scope", "agent", "--agent", "w1", "--expires", "30d"]);
    let secret = made.exits(0).trim().to_owned();
    assert!(secret.starts_with("xbt_"), "{made:?}");
    let list = json(&desk, &["token", "list"]);
    let token = list["data"].as_array().unwrap().iter().find(|token| token["agent"] == "w1").unwrap().clone();
    assert!(token["expiresAt"].is_string(), "{token}");
    desk.send(&get("/api/issues").token(&secret)).expect(200);
    run(&desk, &["token", "revoke", token["id"].as_str().unwrap()]).exits(0);
    desk.send(&get("/api/issues").token(&secret)).refused(401, "unauthorized");
    run(&desk, &["token", "revoke", "0123456789ab"]).fails(3, "no token");
    run(&desk, &["token", "create", "--scope", "root"]).fails(2, "--scope");
}

/// Returns the first shell block of a page.
fn shell_block(page: &str) -> &str {
    let (_, rest) = page.split_once("```sh\n").expect("a shell block");
    rest.split_once("```").expect("its end").0
}

#[test]
fn the_loop_of_the_agent_guide_works_as_printed() {
    let guide = include_str!("../../../../../docs/agent-guide.md");
    let script = shell_block(guide);
    assert!(script.lines().count() <= 10, "ten lines at most:\n{script}");
    let desk = Backend::Sqlite.desk();
    for title in ["Say \"hello\"", "Say good\\bye"] {
        let body =
            value!({"title": title, "type": "task", "status": "todo", "description": "two\nlines {x}"});
        desk.send(&post("/api/issues", &body)).expect(201);
    }
    let output = Command::new("bash")
        .args(["-c", script])
        .envs([("EXTRABOARD_URL", desk.url().as_str()), ("WAIT", "0"), ("ONCE", "1"), ("AGENT", "curly")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("## Issue #1: Say \"hello\"\n"), "{said}\n{output:?}");
    assert!(said.contains("\ntwo\nlines {x}\n") && !said.contains("curl"), "{said}");
    assert_eq!(
        (shown(&desk, 1)["state"].as_str(), shown(&desk, 2)["state"].as_str()),
        (Some("done"), Some("done"))
    );
    assert_eq!(json(&desk, &["events", "--task", "1", "--type", "dispatch.opened"])["actor"], "agent:curly");
}

#[test]
fn an_agent_is_connected_and_disconnected_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let before = "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n";
    let file = folder.path().join(".mcp.json");
    fs::write(&file, before).unwrap();
    let connect = |words: &[&str]| -> super::Outcome {
        let mut command = xb(folder.path());
        command.env("HOME", folder.path()).current_dir(folder.path());
        command.args(["--data-dir", "desk", "connect"]).args(words).output().unwrap().into()
    };
    let dry = connect(&["claude", "--dry-run"]);
    assert!(dry.exits(0).contains('+') && dry.out.contains("extraboard"), "{dry:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(connect(&["claude"]).exits(0).ends_with(".mcp.json: written\n"));
    let entries: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &entries["mcpServers"]["extraboard"];
    let data_dir = folder.path().join("desk").display().to_string();
    assert_eq!(
        (&entry["command"], &entry["args"]),
        (&value!("xb"), &value!(["--data-dir", data_dir, "mcp"]))
    );
    assert!(connect(&["claude"]).exits(0).ends_with("unchanged\n"));
    assert!(connect(&["claude", "--undo"]).exits(0).ends_with("written\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(connect(&["codex"]).exits(0).ends_with("config.toml: written\n"));
    let toml = fs::read_to_string(folder.path().join(".codex/config.toml")).unwrap();
    assert!(toml.contains("[mcp_servers.extraboard]"), "{toml}");
    fs::write(&file, "{ nonsense").unwrap();
    connect(&["claude"]).fails(2, ".mcp.json, line 1, column 3");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ nonsense");
    connect(&["emacs"]).fails(2, "emacs");
}
