//! Profile, limits and poll interval: on the command line, and from configuration files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{Outcome, json, run};
use crate::harness::{Backend, Desk, Plan, get, xb};
use crate::http::{check_nothing, create};

const SEED_004: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config/seed_004/loopr.yml");
const LIMIT: Duration = Duration::from_secs(20);

/// The block as the seed prints it.
const PRINTED: &str = "\
# loopr.yml
scheduler:
  poll_interval_secs: 1

  priority:
    plan: 40
    spec: 60
    phase: 80
    code: 100
    age_boost_per_minute: 1
    age_boost_max: 50
    depth_boost_per_level: 10
    retry_penalty_per_iteration: 5
    retry_penalty_max: 30

concurrency:
  max_loops: 50
  max_api_calls: 10
  per_type:
    plan: 2
    spec: 5
    phase: 20
    code: 50
";

fn rules(desk: &Desk) -> Value {
    json(desk, &["profile"])["data"].clone()
}

/// Returns a plan for a desk that reads this file.
fn plan(backend: Backend, file: &Path) -> Plan {
    backend.plan().flag("--config").flag(file.to_str().unwrap())
}

#[test]
fn file_of_seed_004_loads_as_printed_and_acts() {
    assert_eq!(fs::read_to_string(SEED_004).unwrap(), PRINTED);
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = Desk::start(plan(backend, Path::new(SEED_004)));
        let rules = rules(&desk);
        assert_eq!(rules["profile"]["name"], "depth_first");
        assert_eq!(rules["profile"]["numbers"]["retry_penalty_max"], 30);
        let limits = json!({
            "total": 50, "kinds": {"plan": 2, "spec": 5, "phase": 20, "code": 50}, "project": null,
            "agent": null, "agents": {}, "account": 10
        });
        assert_eq!((&rules["limits"], &rules["pollIntervalSecs"]), (&limits, &json!(1)));
        for _ in 0..3 {
            create(&desk, &json!({"type": "plan"}));
        }
        create(&desk, &json!({"type": "code"}));
        let next = |query: &str| get(&format!("/api/dispatch/next{query}")).agent("ada");
        assert_eq!(desk.send(&next("")).expect(200)["issue"]["type"], "code", "leaves come first");
        for number in [1, 2] {
            assert_eq!(desk.send(&next("")).expect(200)["issue"]["number"], number);
        }
        check_nothing(&desk, &next(""), "limit");
        let why = run(&desk, &["why", "3"]);
        let detail = "limit        2 of at most 2 of kind plan are handed out";
        assert!(why.exits(0).contains(detail), "{}", why.out);
        assert!(why.out.contains("score     40 = type 40"), "{}", why.out);
        for _ in 0..11 {
            create(&desk, &json!({"type": "code"}));
        }
        for _ in 0..10 {
            desk.send(&next("?kinds=code&provider=acme")).expect(200);
        }
        check_nothing(&desk, &next("?kinds=code&provider=acme"), "limit");
        desk.send(&next("?kinds=code&provider=other")).expect(200);
    }
}

#[test]
fn new_database_takes_the_rules_of_the_file_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    let write = |total: i64| {
        fs::write(
            &file,
            format!("poll_interval_secs = 9\n[profile]\nsignal = 51\n[limits]\ntotal = {total}\n"),
        )
        .unwrap();
    };
    write(1);
    let mut desk = Desk::start(plan(Backend::Sqlite, &file));
    let first = rules(&desk);
    assert_eq!((&first["profile"]["name"], &first["limits"]["total"]), (&json!("pipeline"), &json!(1)));
    assert_eq!(first["profile"]["numbers"]["signal"], 51);
    let disagrees = "the configured profile and limits are not those of the database";
    assert!(!desk.log().contains(disagrees), "{}", desk.log());
    assert_eq!(desk.send(&get("/api/dispatch/next")).header("retry-after"), Some("9"));
    write(2);
    desk.restart();
    assert_eq!(rules(&desk), first, "a database that has rules keeps them");
    assert!(desk.log().contains(disagrees), "{}", desk.log());
    let applied = run(&desk, &["profile", "apply", "--config", file.to_str().unwrap()]);
    assert!(applied.exits(0).contains("total               2"), "{}", applied.out);
    desk.restart();
    assert_eq!(desk.log().matches(disagrees).count(), 1, "they agree again");
}

#[test]
fn desk_without_rules_in_its_configuration_keeps_those_it_has() {
    let mut desk = Backend::Sqlite.desk();
    run(&desk, &["limits", "set", "--total", "7"]).exits(0);
    desk.restart();
    assert_eq!(rules(&desk)["limits"]["total"], 7);
    assert!(!desk.log().contains("are not those of the database"), "{}", desk.log());
    run(&desk, &["profile", "apply"])
        .fails(2, "the configuration says nothing about profile, limits or poll interval");
}

#[test]
fn limits_that_the_file_does_not_mention_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    fs::write(&file, "[limits]\ntotal = 9\n[limits.kinds]\nplan = \"none\"\n[limits.agents]\nada = 3\n")
        .unwrap();
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let words =
            ["limits", "set", "--kind", "code=5", "--kind", "plan=2", "--agent", "4", "--project", "6"];
        run(&desk, &[&words[..], &["--agent-named", "bob=1", "--agent-named", "ada=1"]].concat()).exits(0);
        run(&desk, &["profile", "apply", "--config", file.to_str().unwrap()]).exits(0);
        let expected = json!({
            "total": 9, "kinds": {"code": 5}, "project": 6, "agent": 4, "agents": {"ada": 3, "bob": 1},
            "account": null
        });
        assert_eq!(rules(&desk)["limits"], expected);
    }
}

#[test]
fn profile_is_shown_and_changed() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        let shown = run(&desk, &["profile"]);
        for line in [
            "profile   pipeline\n",
            "order     all tasks stand by it\n",
            "poll      every 1 s\n",
            "goal_bonus ",
            "each account     none\n",
        ] {
            assert!(shown.exits(0).contains(line), "{line:?} is not in\n{}", shown.out);
        }
        run(&desk, &["add", "signal", "--kind", "signal"]).exits(0);
        run(&desk, &["add", "code", "--kind", "code"]).exits(0);
        let first = || json(&desk, &["next"])["data"][0]["issue"]["title"].clone();
        assert_eq!(first(), "signal");
        let words =
            ["profile", "apply", "depth_first", "--set", "code=120", "--set", "depth_boost_per_level=-1"];
        let applied = json(&desk, &words)["data"].clone();
        let numbers = &applied["profile"]["numbers"];
        assert_eq!(
            (&numbers["code"], &numbers["depth_boost_per_level"], &numbers["plan"]),
            (&json!(120), &json!(-1), &json!(40))
        );
        wait_until(LIMIT, "the line to be ranked anew", || {
            (rules(&desk)["reranking"] == false).then_some(())
        });
        assert_eq!(first(), "code");
        let changed = json(&desk, &["profile", "apply", "--set", "code=10"])["data"].clone();
        let numbers = &changed["profile"]["numbers"];
        assert_eq!(
            (&numbers["code"], &numbers["depth_boost_per_level"]),
            (&json!(10), &json!(-1)),
            "the others stay"
        );
        let by_day = json(&desk, &["profile", "apply", "--set", "age_boost_per_day=2"])["data"].clone();
        assert_eq!(by_day["profile"]["numbers"]["age_boost_per_minute"], Value::Null);
    }
}

#[test]
fn limits_are_shown_and_changed_one_by_one() {
    let desk = Backend::Sqlite.desk();
    let words = ["limits", "set", "--total", "50", "--kind", "code=5", "--kind", "plan=2", "--project", "3"];
    let more = ["--agent", "2", "--agent-named", "ada=0", "--agent-named", "big=none", "--account", "10"];
    let table = run(&desk, &[&words[..], &more].concat());
    insta::assert_snapshot!(table.exits(0), @r"
    LIMIT         AT ONCE
    total              50
    kind code           5
    kind plan           2
    each project        3
    each agent          2
    agent ada           0
    agent big        none
    each account       10
    ");
    assert_eq!(run(&desk, &["limits"]).exits(0), table.out);
    let words = ["limits", "set", "--kind", "code=none", "--agent-named", "ada=default", "--total", "none"];
    let changed = json(&desk, &words)["data"].clone();
    let expected = json!({
        "total": null, "kinds": {"plan": 2}, "project": 3, "agent": 2, "agents": {"big": null}, "account": 10
    });
    assert_eq!(changed, expected);
}

#[test]
fn rules_are_changed_by_persons_and_with_sense() {
    let desk = Backend::Sqlite.desk();
    for (words, says) in [
        (vec!["profile", "apply", "fifo"], "NAME: expected pipeline or depth_first"),
        (vec!["profile", "apply", "--set", "cod=1"], "hint: did you mean code?"),
        (vec!["profile", "apply", "--set", "code=1001"], "--set: code: expected -1000 to 1000, got 1001"),
        (vec!["profile", "apply", "--set", "code"], "expected a name and a number"),
        (vec!["limits", "set"], "expected at least one limit"),
        (vec!["limits", "set", "--total", "-1"], "--total: expected 0 to 1000000"),
        (vec!["limits", "set", "--total", "1000001"], "--total: expected 0 to 1000000"),
        (vec!["limits", "set", "--kind", "epic=1"], "--kind: "),
        (vec!["limits", "set", "--kind", "code"], "expected a name and a number"),
        (vec!["limits", "set", "--total", "abc"], "expected a whole number or none"),
        (vec!["limits", "set", "--agent-named", "ada"], "such as ada=5"),
        (vec!["bump", "1", "--by", "abc"], "expected a whole number"),
        (vec!["queue", "--limit", "x"], "expected a whole number"),
        (
            vec!["profile", "apply", "--set", "age_boost_per_minute=2", "--set", "age_boost_per_day=2"],
            "--set: expected one of age_boost_per_day and age_boost_per_minute, not both",
        ),
        (vec!["limits", "set", "--agent-named", "two words=1"], "--agent-named: "),
    ] {
        run(&desk, &words).fails(2, says);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let url = desk.url();
    for words in
        [vec!["limits", "set", "--total", "1"], vec!["profile", "apply", "depth_first"], vec!["doctor"]]
    {
        let output = xb(elsewhere.path()).args(&words).args(["--server", &url]).output().unwrap();
        Outcome::from(output).fails(1, "hint: set EXTRABOARD_TOKEN to a token of that desk");
    }
    let output = xb(elsewhere.path()).args(["limits", "--server", &url]).output().unwrap();
    assert!(Outcome::from(output).exits(0).contains("total            none"), "to look is open");
}

#[test]
fn configuration_of_rules_is_shown_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = xb(folder.path());
    command.args(["config", "show", "--json", "--config", SEED_004]);
    command.env("EXTRABOARD_LIMITS_KINDS_PLAN", "3").env("EXTRABOARD_LIMITS_AGENTS", "ada=2, bob=0");
    let shown: Value = serde_json::from_str(Outcome::from(command.output().unwrap()).exits(0)).unwrap();
    for (key, value, origin) in [
        ("profile.name", json!("depth_first"), SEED_004),
        ("profile.code", json!(100), SEED_004),
        ("profile.signal", json!(60), "default"),
        ("profile.age_boost_per_day", Value::Null, "default"),
        ("limits.total", json!(50), SEED_004),
        ("limits.account", json!(10), SEED_004),
        ("limits.kinds.plan", json!(3), "EXTRABOARD_LIMITS_KINDS_PLAN"),
        ("limits.agents", json!({"ada": 2, "bob": 0}), "EXTRABOARD_LIMITS_AGENTS"),
        ("poll_interval_secs", json!(1), SEED_004),
    ] {
        assert_eq!(shown[key], json!({"value": value, "origin": origin}), "{key}");
    }
}

#[test]
fn bad_rules_in_a_file_are_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = format!("a: &a [{}]\nb: &b [*a, *a]\nlimits: {{agents: *b}}\n", "x, ".repeat(1000));
    for (name, text, says) in [
        ("a.toml", "[limits]\ntotal = \"many\"\n", "`limits.total` in"),
        ("b.toml", "[limits.kinds]\ncod = 5\n", "did you mean `limits.kinds.code`?"),
        ("c.toml", "[profile]\nname = \"fifo\"\n", "expected `pipeline` or `depth_first`"),
        ("d.yaml", "profile: {code: 1001}\n", "expected a whole number from -1000 to 1000"),
        ("e.yml", "concurrency: {max_loop: 5}\n", "did you mean `concurrency.max_loops`?"),
        ("f.yml", "scheduler: {poll_interval_secs: soon}\n", "`scheduler.poll_interval_secs` in"),
        ("g.yml", &bomb, "anchors and tags are not taken here"),
        ("h.yml", "a: [1\n", "is not the YAML expected: line 2"),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        for words in [vec!["serve"], vec!["list"], vec!["profile", "apply"], vec!["config", "show"]] {
            let output = xb(folder.path()).args(&words).args(["--config", file.to_str().unwrap()]).output();
            let outcome = Outcome::from(output.unwrap());
            outcome.fails(2, says);
            outcome.fails(2, file.to_str().unwrap());
        }
    }
}

#[test]
fn profile_can_be_named_at_the_start() {
    let desk = Desk::start(Plan::default().flag("--profile").flag("depth_first"));
    assert_eq!(rules(&desk)["profile"]["name"], "depth_first");
    let folder = tempfile::tempdir().unwrap();
    let output = xb(folder.path()).args(["serve", "--profile", "fifo"]).output().unwrap();
    Outcome::from(output)
        .fails(2, "`profile.name` from --profile is `fifo`: expected `pipeline` or `depth_first`");
}
