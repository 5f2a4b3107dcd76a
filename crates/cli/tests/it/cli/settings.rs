//! Databases that cannot be used, and where a setting comes from.

use std::fs;
use std::path::Path;
use std::process::Command;

use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::process::free_port;
use serde_json::Value;

use super::{Outcome, run};
use crate::harness::{Desk, Plan, Request, get, xb};

/// Returns a start that would take free ports, should it get so far.
fn serve(data_dir: &Path) -> Command {
    let mut command = xb(data_dir);
    command.args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    command
}

fn check(command: &mut Command, code: i32, says: &[&str]) -> Outcome {
    let outcome = Outcome::from(command.output().unwrap());
    for said in says {
        outcome.fails(code, said);
    }
    outcome
}

#[test]
fn database_urls_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/desk.db");
    let directory = folder.path().join("folder");
    fs::create_dir(&directory).unwrap();
    let no_database = folder.path().join("text.db");
    fs::write(&no_database, "this is no database ".repeat(500)).unwrap();
    for (url, says) in [
        (missing.to_str().unwrap(), "does not exist"),
        (&format!("sqlite:{}", missing.display()), "does not exist"),
        (directory.to_str().unwrap(), "directory"),
        (no_database.to_str().unwrap(), "text.db"),
        ("mysql://host/desk", "expected a path, `sqlite:PATH` or `postgres://"),
        ("sqlite:", "expected a path"),
        ("sqlite::memory:", "expected a path"),
    ] {
        check(serve(folder.path()).args(["--db", url]), 2, &[says]);
    }
    assert!(!folder.path().join("missing").exists());
    assert_eq!(fs::read_to_string(&no_database).unwrap(), "this is no database ".repeat(500));
}

#[test]
fn postgres_that_does_not_answer_is_told_without_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = format!("postgres://ada:hunter2@127.0.0.1:{}/desk", free_port());
    let no_database = fresh_postgres_url().replace("/xb_", "/nope_");
    let malformed = "postgres://ada:hunter2@127.0.0.1:notaport/desk";
    for (url, says) in
        [(nobody.as_str(), "Connection refused"), (&no_database, "does not exist"), (malformed, "port")]
    {
        let flag = check(serve(folder.path()).args(["--db", url]), 2, &["xb: ", says]);
        let variable = check(serve(folder.path()).env("EXTRABOARD_DATABASE_URL", url), 2, &["xb: ", says]);
        for outcome in [flag, variable] {
            assert!(!outcome.err.contains("hunter2"), "{}", outcome.err);
        }
    }
    assert!(!folder.path().join("desk.json").exists());
}

#[test]
fn password_is_shown_nowhere() {
    let plain = fresh_postgres_url();
    // The private server trusts everybody: any password will do.
    let url = plain.replacen("postgres@", "postgres:hunter2@", 1);
    assert_ne!(plain, url);
    let desk = Desk::start(Plan::default().db(&url).flag("-vv"));
    run(&desk, &["add", "t"]).exits(0);
    let file = fs::read_to_string(desk.data_dir().join("desk.json")).unwrap();
    let texts = [desk.log(), file, run(&desk, &["status"]).out, run(&desk, &["status", "--json"]).out];
    for text in texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
    let shown = xb(desk.data_dir()).args(["config", "show"]).env("EXTRABOARD_DATABASE_URL", &url).output();
    let outcome = Outcome::from(shown.unwrap());
    assert!(outcome.exits(0).contains("postgres://postgres:***@127.0.0.1"), "{}", outcome.out);
}

#[test]
fn unknown_keys_and_bad_values_are_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("extraboard.toml");
    for (text, says) in [
        ("[server]\nlisten_on = \"127.0.0.1:1\"\n", "unknown key `server.listen_on`"),
        ("[server]\nlisten_on = \"127.0.0.1:1\"\n", "did you mean `server.listen`?"),
        ("[lease]\npull_secs = 10\n", "did you mean `leases.pull_secs`?"),
        ("[leases]\npull_secs = 9\n", "expected a whole number of seconds from 10 to 86400"),
        ("[leases]\npull_secs = \"10\"\n", "expected a whole number of seconds"),
        ("[log]\nlevel = \"loud\"\n", "expected `off`, `error`, `warn`"),
        ("not toml", "is not TOML: line 1"),
    ] {
        fs::write(&file, text).unwrap();
        check(&mut serve(folder.path()), 2, &[says, file.to_str().unwrap()]);
        check(xb(folder.path()).arg("list"), 2, &[says]);
    }
    fs::remove_file(&file).unwrap();
    check(
        serve(folder.path()).env("EXTRABOARD_SERVER_LISTN", "x"),
        2,
        &["did you mean EXTRABOARD_SERVER_LISTEN?"],
    );
    check(
        serve(folder.path()).args(["--config", "/nowhere.toml"]),
        2,
        &["cannot read config file /nowhere.toml"],
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn flag_wins_over_variable_over_file_over_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    let shown = |variables: &[(&str, &str)], words: &[&str]| -> Value {
        let mut command = xb(folder.path());
        command.args(["config", "show", "--json"]).args(words).envs(variables.iter().copied());
        serde_json::from_str(Outcome::from(command.output().unwrap()).exits(0)).unwrap()
    };
    fs::write(&file, "[log]\nlevel = \"warn\"\n").unwrap();
    let config = ["--config", file.to_str().unwrap()];
    let variable = [("EXTRABOARD_LOG_LEVEL", "error")];
    let flag = ["--config", file.to_str().unwrap(), "-v"];
    for (value, expected) in [
        (shown(&[], &[]), ("info", "default")),
        (shown(&[], &config), ("warn", file.to_str().unwrap())),
        (shown(&variable, &config), ("error", "EXTRABOARD_LOG_LEVEL")),
        (shown(&variable, &flag), ("debug", "-v")),
    ] {
        let setting = &value["log.level"];
        assert_eq!((setting["value"].as_str().unwrap(), setting["origin"].as_str().unwrap()), expected);
    }
}

#[test]
fn settings_of_the_file_act_and_flags_win() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    fs::write(
        &file,
        "database.url = \"own.db\"\nserver.listen = \"127.0.0.1:1\"\nleases.pull_secs = 77\nserver.hosts = [\"desk.example\"]\n",
    )
    .unwrap();
    let desk = Desk::start(Plan::default().flag("--config").flag(file.to_str().unwrap()));
    assert!(folder.path().join("own.db").exists(), "a path in a file starts at the file's folder");
    desk.send(&get("/api/status").header("host", "desk.example")).expect(200);
    crate::http::create(&desk, &serde_json::json!({}));
    assert_eq!(crate::http::claim(&desk, "ada")["dispatch"]["leaseSeconds"], 77);
}

#[test]
fn secrets_of_webhooks_are_shown_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    fs::write(&file, "webhooks.sentry_secret = \"sentry-hunter2\"\n").unwrap();
    let config = ["--config", file.to_str().unwrap()];
    for words in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "-v"]] {
        let output = xb(folder.path())
            .args(words)
            .args(config)
            .env("EXTRABOARD_WEBHOOKS_GITHUB_SECRET", "github-hunter2")
            .output();
        let outcome = Outcome::from(output.unwrap());
        let shown = outcome.exits(0);
        assert!(!shown.contains("hunter2") && !outcome.err.contains("hunter2"), "{outcome:?}");
        let line = |key: &str| shown.lines().find(|line| line.contains(key)).unwrap_or_default().to_owned();
        if words.len() == 2 {
            assert!(line("webhooks.github_secret").contains(" set "), "{shown}");
            assert!(line("webhooks.sentry_secret").contains(" set "), "{shown}");
            assert!(line("webhooks.posthog_secret").contains(" none "), "{shown}");
        }
    }
    let desk = Desk::start(
        Plan::default().variable("EXTRABOARD_WEBHOOKS_GITHUB_SECRET", "github-hunter2").flag("-vv"),
    );
    let hook =
        Request::new("POST", "/api/signals/github").raw("{}").header("x-hub-signature-256", "sha256=00");
    desk.send(&hook).refused(401, "unauthorized");
    assert!(!desk.log().contains("hunter2"), "{}", desk.log());
}
