//! Why a task waits, its place in line, and claims by filter.

use serde_json::json;

use super::{json, run};
use crate::harness::{Backend, Desk};

fn desk_with(titles: &[&str]) -> Desk {
    let desk = Backend::Sqlite.desk();
    for title in titles {
        run(&desk, &["add", title]).exits(0);
    }
    desk
}

#[test]
fn why_tells_the_verdict_first_and_what_would_change_it() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        run(&desk, &["add", "first"]).exits(0);
        run(&desk, &["add", "second", "--blocked-by", "1", "--not-before", "2099-01-01T00:00:00Z"]).exits(0);
        let next = run(&desk, &["why", "1"]);
        assert!(next.exits(0).starts_with("next: #1 first\n  for       anyone\n"), "{}", next.out);
        assert!(next.out.contains("score     70 = priority 50 + type 20\n  position  1\n"), "{}", next.out);
        let held = run(&desk, &["why", "#2"]);
        assert!(held.exits(0).starts_with("held: #2 second\n"), "{}", held.out);
        for line in [
            "  blocker      it is blocked by #1, which is queued\n",
            "  not_before   its moment has not come, until 2099-01-01T00:00:00Z\n",
            "what would start it:\n  wait for its moment, or take that back; finish or cancel #1, or take",
            "\nlast decisions:\n",
            "\nas of event ",
        ] {
            assert!(held.out.contains(line), "{line:?} is not in\n{}", held.out);
        }
        let wire = json(&desk, &["why", "2"]);
        assert_eq!(wire["data"]["verdict"], "held");
    }
}

#[test]
fn why_is_for_whom_the_flags_name() {
    let desk = desk_with(&[]);
    run(&desk, &["add", "t", "--needs", "gpu", "--owner", "ann", "--kind", "code"]).exits(0);
    let verdict = |words: &[&str]| json(&desk, &[&["why", "1"], words].concat())["data"]["verdict"].clone();
    assert_eq!(verdict(&[]), "next");
    assert_eq!(verdict(&["--agent", "ada"]), "impossible");
    assert_eq!(verdict(&["--agent", "ada", "--capabilities", "gpu,rust", "--owner", "ann"]), "next");
    let words = ["--capabilities", "gpu", "--owner", "ann", "--kind", "task", "--kind", "plan"];
    assert_eq!(verdict(&words), "impossible");
    let page = run(&desk, &[&["why", "1", "--provider", "acme", "--account", "team"][..], &words].concat());
    let claimer = "for       person:admin through pull; kinds plan, task; capabilities gpu; owner ann; account acme/team";
    assert!(page.exits(0).contains(claimer), "{}", page.out);
    assert!(page.out.contains("  no_match     the claimer does not ask for code\n"), "{}", page.out);
    for (words, code, says) in [
        (vec!["why", "9"], 3, "no task #9"),
        (vec!["why", "1", "--project", "apollo"], 2, "--project: there is no project apollo"),
        (vec!["why", "1", "--kind", "epic"], 2, "--kind: "),
        (vec!["why", "1", "--account", "team"], 2, "--provider"),
        (vec!["why", "1", "--agent", "two words"], 2, "printable characters without spaces"),
    ] {
        run(&desk, &words).fails(code, says);
    }
}

#[test]
fn bump_and_move_change_the_order() {
    let desk = desk_with(&["one", "two", "three"]);
    let order = || -> Vec<i64> {
        let queue = json(&desk, &["queue"]);
        let entries = queue["data"].as_array().unwrap().iter();
        entries.map(|entry| entry["issue"]["number"].as_i64().unwrap()).collect()
    };
    assert_eq!(run(&desk, &["bump", "3"]).exits(0), "#3 has boost 10: three\n");
    assert_eq!(order(), [3, 1, 2]);
    assert_eq!(run(&desk, &["bump", "3", "--by", "-30"]).exits(0), "#3 has boost -20: three\n");
    assert_eq!(order(), [1, 2, 3]);
    let moved = run(&desk, &["move", "3", "--before", "#1"]);
    assert!(moved.exits(0).starts_with("#3 is at position 1 with boost "), "{}", moved.out);
    assert_eq!(order(), [3, 1, 2]);
    assert_eq!(json(&desk, &["move", "3", "--after", "2"])["position"], 3);
    run(&desk, &["park", "2"]).exits(0);
    for (words, code, says) in [
        (vec!["move", "1", "--before", "2"], 4, "does not stand in line"),
        (vec!["move", "1", "--before", "9"], 2, "--before: "),
        (vec!["move", "9", "--before", "1"], 3, "there is no issue #9"),
        (vec!["move", "1"], 2, "--before <ID>|--after <ID>"),
        (vec!["move", "1", "--before", "3", "--after", "2"], 2, "cannot be used with"),
        (vec!["bump", "9"], 3, "no task #9"),
        (vec!["bump", "1", "--by", "much"], 2, "--by"),
    ] {
        run(&desk, &words).fails(code, says);
    }
}

#[test]
fn queue_next_and_claim_take_filters() {
    let desk = desk_with(&["plain"]);
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    run(&desk, &["add", "ours", "--project", "apollo", "--kind", "code"]).exits(0);
    run(&desk, &["add", "needy", "--needs", "gpu", "--owner", "ann", "--priority", "low"]).exits(0);
    let first =
        |words: &[&str]| json(&desk, &[&["next"], words].concat())["data"][0]["issue"]["number"].clone();
    assert_eq!(first(&["--project", "apollo"]), 2);
    assert_eq!(first(&["--kind", "plan,code"]), 2);
    run(&desk, &["next", "--kind", "plan"]).fails(3, "nothing is in line");
    assert_eq!(json(&desk, &["queue"])["total"], 2);
    assert_eq!(json(&desk, &["queue", "--capabilities", "gpu", "--owner", "ann"])["total"], 3);
    let all = run(&desk, &["queue", "--all", "--long"]);
    let heading = all.exits(0).lines().next().unwrap();
    for column in ["BOOST", "TYPE", "GOAL", "PATIENCE", "DEPTH", "RETRY", "GATES"] {
        assert!(heading.contains(column), "{heading}");
    }
    assert!(all.out.contains("no_match  needy"), "{}", all.out);
    let claim =
        ["claim", "--kind", "code", "--project", "apollo", "--adapter", "claude", "--provider", "acme"];
    assert_eq!(json(&desk, &claim)["issue"]["number"], 2);
    let claimed = json(&desk, &["claim", "--capabilities", "gpu,rust", "--owner", "ann", "--kind", "task"]);
    assert_eq!(claimed["issue"]["number"], 1);
    run(&desk, &["claim", "--project", "gemini"]).fails(2, "--project: there is no project gemini");
    run(&desk, &["queue", "--kind", "epic"]).fails(2, "--kind: ");
}

#[test]
fn gates_are_listed_and_opened() {
    let desk = desk_with(&["one"]);
    assert_eq!(run(&desk, &["gates"]).exits(0), "");
    let claim = ["claim", "--agent", "ada", "--provider", "acme", "--account", "team"];
    run(&desk, &claim).exits(0);
    run(&desk, &["fail", "1", "--agent", "ada", "--class", "rate_limited"]).exits(0);
    let gates = run(&desk, &["gates"]);
    let lines: Vec<&str> = gates.exits(0).lines().collect();
    assert_eq!(lines[0], "PROVIDER  ACCOUNT  REFUSALS  CLOSED UNTIL");
    assert!(lines[1].starts_with("acme      team            1  2"), "{lines:?}");
    assert_eq!(json(&desk, &["gates"])["data"][0]["account"], "team");
    run(&desk, &["add", "two"]).exits(0);
    let on_it = ["--provider", "acme", "--account", "team"];
    run(&desk, &[&["next"], &on_it[..]].concat()).fails(3, "nothing is in line");
    assert_eq!(json(&desk, &[&["queue"], &on_it[..]].concat())["total"], 0);
    run(&desk, &["queue", "--account", "team"]).fails(2, "--provider");
    run(&desk, &["gates", "open", "acme"]).fails(3, "no gate of acme");
    let opened = run(&desk, &["gates", "open", "acme", "team"]);
    assert_eq!(opened.exits(0), "work is handed out on acme/team again\n");
    assert_ne!(json(&desk, &[&["queue"], &on_it[..]].concat())["total"], 0);
    run(&desk, &["limits", "set", "--agent-named", "ada=0"]).exits(0);
    run(&desk, &["next", "--agent", "ada"]).fails(3, "nothing is in line");
    run(&desk, &["next", "--agent", "bob"]).exits(0);
}

#[test]
fn task_is_edited_as_why_advises() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        run(&desk, &["projects", "add", "apollo"]).exits(0);
        run(&desk, &["add", "first", "--state", "backlog"]).exits(0);
        let words = ["add", "t", "--needs", "gpu", "--owner", "ann", "--not-before", "2h", "--doors", "run"];
        run(&desk, &[&words[..], &["--parent", "1", "--gated"]].concat()).exits(0);
        run(&desk, &["claim"]).fails(3, "nothing to claim");
        let words = ["edit", "2", "--needs", "none", "--owner", "none", "--not-before", "none", "--ungated"];
        let edited = run(&desk, &[&words[..], &["--doors", "pull,run", "--title", "u"]].concat());
        assert_eq!(edited.exits(0), "#2 is queued: u\n");
        let words =
            ["edit", "#2", "--project", "apollo", "--parent", "none", "--boost", "-7", "--points", "9"];
        let more = ["-d", "at length", "--kind", "code", "--max-retries", "0"];
        let edited = json(&desk, &[&words[..], &more].concat())["data"].clone();
        for (field, value) in [
            ("parentId", json!(null)),
            ("boost", json!(-7)),
            ("priorityValue", json!(9)),
            ("description", json!("at length")),
            ("type", json!("code")),
            ("maxRetries", json!(0)),
            ("doors", json!(["pull", "run"])),
        ] {
            assert_eq!(edited[field], value, "{field}");
        }
        assert_eq!(json(&desk, &["claim", "--project", "apollo"])["issue"]["number"], 2);
    }
}

#[test]
fn edits_that_make_no_sense_are_refused() {
    let desk = desk_with(&["one"]);
    for (words, code, says) in [
        (vec!["edit", "1"], 2, "expected at least one change"),
        (vec!["edit", "9", "--boost", "1"], 3, "no task #9"),
        (vec!["edit", "1", "--kind", "epic"], 2, "--kind: "),
        (vec!["edit", "1", "--boost", "10001"], 2, "--boost: "),
        (vec!["edit", "1", "--boost", "much"], 2, "expected a whole number"),
        (vec!["edit", "1", "--points", "0"], 2, "expected a whole number from 1 to 100"),
        (vec!["edit", "1", "--parent", "9"], 2, "--parent: "),
        (vec!["edit", "1", "--parent", "1"], 4, "wait for themselves: #1 → #1"),
        (vec!["edit", "1", "--project", "gemini"], 2, "--project: "),
        (vec!["edit", "1", "--gated", "--ungated"], 2, "cannot be used with"),
        (vec!["edit", "1", "--not-before", "soon"], 2, "expected a time such as"),
    ] {
        run(&desk, &words).fails(code, says);
    }
}

#[test]
fn claim_that_gets_nothing_says_why() {
    let desk = desk_with(&[]);
    let check = |words: &[&str], says: &str| run(&desk, &[&["claim"], words].concat()).fails(3, says);
    check(&[], "nothing to claim: nothing is in line");
    run(&desk, &["add", "parked", "--state", "backlog"]).exits(0);
    run(&desk, &["add", "held", "--blocked-by", "1"]).exits(0);
    check(&[], "nothing to claim: what is queued is held by a blocker, its parent or an artifact");
    check(&[], "hint: `xb why ID` names what holds a task");
    run(&desk, &["add", "later", "--not-before", "2h"]).exits(0);
    check(&[], "nothing to claim: what is queued waits for its time");
    run(&desk, &["add", "needy", "--needs", "gpu"]).exits(0);
    check(&[], "nothing to claim: what is in line is not for this claimer");
    check(&[], "hint: `xb queue --all` shows");
    run(&desk, &["projects", "add", "apollo"]).exits(0);
    run(&desk, &["add", "paused", "--project", "apollo"]).exits(0);
    run(&desk, &["pause", "apollo"]).exits(0);
    check(&[], "nothing to claim: the project of what is in line is paused");
    run(&desk, &["add", "free"]).exits(0);
    run(&desk, &["limits", "set", "--total", "0"]).exits(0);
    check(&[], "nothing to claim: as much as the limits allow is handed out");
    check(&["--json"], "\"reason\":\"limit\"");
    run(&desk, &["limits", "set", "--total", "none"]).exits(0);
    let claimed = json(&desk, &["claim", "--agent", "ada", "--provider", "acme"]);
    assert_eq!(claimed["issue"]["title"], "free");
    run(&desk, &["fail", "6", "--agent", "ada", "--class", "rate_limited"]).exits(0);
    run(&desk, &["add", "another"]).exits(0);
    check(&["--provider", "acme"], "nothing to claim: the provider account refuses work for a while");
    assert_eq!(json(&desk, &["claim", "--provider", "other"])["issue"]["number"], json!(6));
}
