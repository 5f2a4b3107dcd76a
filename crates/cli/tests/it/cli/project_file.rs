//! The project file: written, checked, applied, and what is meant below it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json as value};
use tempfile::TempDir;

use super::{Outcome, json, run, run_in};
use crate::harness::{Backend, Desk, xb};

/// A desk, and a repository with directories in it.
struct Place {
    desk: Desk,
    root: TempDir,
}

impl Place {
    fn new(backend: Backend) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("app/.git")).unwrap();
        fs::create_dir_all(root.path().join("app/src/deep")).unwrap();
        let config = "[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n";
        fs::write(root.path().join("app/.git/config"), config).unwrap();
        Self { desk: backend.desk(), root }
    }

    fn app(&self) -> PathBuf {
        self.root.path().join("app")
    }

    fn deep(&self) -> PathBuf {
        self.app().join("src/deep")
    }

    fn file(&self) -> PathBuf {
        self.app().join(".extraboard/project.toml")
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.app().join(".extraboard")).unwrap();
        fs::write(self.file(), text).unwrap();
    }

    /// Runs a command deep in the repository.
    fn run(&self, words: &[&str]) -> Outcome {
        run_in(&self.desk, &self.deep(), words)
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        let outcome = self.run(&[words, &["--json"]].concat());
        serde_json::from_str(outcome.exits(0)).unwrap()
    }
}

#[test]
fn file_is_written_where_the_repository_begins_and_never_twice() {
    let place = Place::new(Backend::Sqlite);
    let wrote = place.run(&["init"]);
    assert!(wrote.exits(0).contains("fill it in, then `xb project apply`"), "{wrote:?}");
    let text = fs::read_to_string(place.file()).unwrap();
    assert!(text.contains("\nproject = \"app\"\n") && text.contains("\nrepo = \"acme/app\"\n"), "{text}");
    place.run(&["init", "--project", "other"]).fails(4, "is there already");
    assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
    place.run(&["init", "--project", "other", "--force"]).exits(0);
    assert!(fs::read_to_string(place.file()).unwrap().contains("\nproject = \"other\"\n"));
    let shown = place.run(&["project", "show"]);
    assert_eq!(shown.exits(0), "project = \"other\"\nrepo = \"acme/app\"\n");
    run_in(&place.desk, place.root.path(), &["project", "show"]).fails(3, "xb init");
}

#[test]
fn file_is_applied() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let place = Place::new(backend);
        place.write(
            "project = \"pay\"\nbase = \"main\"\n[limits]\nrunning = 2\n[signals]\nstatus = \"todo\"\n",
        );
        let dry = place.run(&["project", "apply", "--dry-run"]);
        assert!(dry.exits(0).starts_with("project pay would be created\n"), "{dry:?}");
        run(&place.desk, &["projects", "show", "pay"]).fails(3, "no project pay");
        assert!(place.run(&["project", "apply"]).exits(0).starts_with("created project pay\n"));
        let project = json(&place.desk, &["projects", "show", "pay"])["data"].clone();
        assert_eq!(project["runLimit"], 2);
        let settings = value!({"base": "main", "limits": {"running": 2}, "signals": {"status": "todo"}});
        assert_eq!(project["settings"], settings);
        assert!(place.run(&["project", "apply"]).exits(0).starts_with("project pay is what "));
        let signal = ["signal", "ci", "t", "--severity", "low"];
        assert_eq!(place.json(&signal)["data"]["issue"]["status"], "todo");
        place.write("project = \"pay\"\nreviews = false\n");
        let applied = place.run(&["project", "apply"]);
        assert!(applied.exits(0).contains("  limits.running: 2 → none\n"), "{applied:?}");
        let project = json(&place.desk, &["projects", "show", "pay"])["data"].clone();
        assert_eq!((&project["runLimit"], &project["settings"]), (&Value::Null, &value!({"reviews": false})));
        assert_eq!(place.json(&signal)["data"]["issue"]["status"], "triage");
    }
}

#[test]
fn what_is_wrong_in_the_file_is_told_and_nothing_is_applied() {
    let place = Place::new(Backend::Sqlite);
    for (text, says) in [
        ("project = \"pay\"\n[signal]\nstatus = \"todo\"\n", "line 2: unknown key `signal"),
        ("project = \"pay\"\n[signals]\nstatus = \"done\"\n", "line 3: `signals.status` `done` is none of"),
        (
            "project = \"pay\"\n[limits]\nruning = 4\n",
            "line 3: unknown key `limits.runing`: did you mean `limits.running`?",
        ),
        (
            "project = \"pay\"\n[[route]]\nrun = \"a\"\npull = true\n",
            "line 2: `route[0]` must have exactly one",
        ),
        ("project = \"pay\"\nbase = 3\n", "line 2: `base`"),
        ("base = \"main\"\n", "`project` is missing"),
        ("project = \"pay\n", "line 1: not TOML"),
    ] {
        place.write(text);
        for verb in ["apply", "show"] {
            let refused = place.run(&["project", verb]);
            refused.fails(2, says);
            assert!(refused.err.contains(".extraboard/project.toml"), "{refused:?}");
        }
    }
    assert_eq!(json(&place.desk, &["projects"])["total"], 0);
}

#[test]
fn commands_mean_the_project_they_are_called_in() {
    let place = Place::new(Backend::Sqlite);
    place.write("project = \"pay\"\n");
    place.run(&["project", "apply"]).exits(0);
    run(&place.desk, &["projects", "add", "ship"]).exits(0);
    let added = place.run(&["add", "inside"]);
    assert_eq!((added.exits(0), added.err.as_str()), ("added #1: inside\n", ""));
    let said = place.run(&["add", "inside too", "-v"]);
    assert!(said.err.contains("project pay, named by ") && said.err.contains("project.toml"), "{said:?}");
    place.run(&["add", "outside", "--no-project"]).exits(0);
    place.run(&["add", "elsewhere", "--project", "ship"]).exits(0);
    let project =
        |number: i64| json(&place.desk, &["show", &number.to_string()])["data"]["projectId"].clone();
    let id = json(&place.desk, &["projects", "show", "pay"])["data"]["id"].clone();
    assert_eq!((project(1), project(2), project(3)), (id.clone(), id.clone(), Value::Null));
    assert_ne!(project(4), id);
    assert_eq!(place.json(&["list"])["total"], 2);
    assert_eq!(place.json(&["list", "--no-project"])["total"], 4);
    assert_eq!(place.json(&["list", "--project", "ship"])["total"], 1);
    assert_eq!(place.json(&["queue"])["total"], 2);
    assert_eq!(place.run(&["export"]).exits(0).lines().count(), 2);
    let named = xb(place.desk.data_dir())
        .args(["list", "--json"])
        .env("EXTRABOARD_PROJECT", "ship")
        .current_dir(place.deep())
        .output();
    let named: Value = serde_json::from_str(Outcome::from(named.unwrap()).exits(0)).unwrap();
    assert_eq!(named["data"][0]["title"], "elsewhere");
    for expected in [1, 2] {
        assert_eq!(place.json(&["claim"])["issue"]["number"], expected);
    }
    place.run(&["claim"]).fails(3, "nothing to claim");
    place.run(&["work", "--once", "--", "true"]).fails(3, "nothing to claim");
    let outside = run_in(&place.desk, place.root.path(), &["claim", "--json"]);
    let outside: Value = serde_json::from_str(outside.exits(0)).unwrap();
    assert_eq!(outside["issue"]["title"], "outside");
}

#[test]
fn imports_go_to_the_project_they_are_called_in() {
    let place = Place::new(Backend::Sqlite);
    place.write("project = \"pay\"\n");
    place.run(&["project", "apply"]).exits(0);
    fs::write(place.deep().join("TODO.md"), "- [ ] One\n").unwrap();
    place.run(&["import", "markdown", "TODO.md"]).exits(0);
    let id = json(&place.desk, &["projects", "show", "pay"])["data"]["id"].clone();
    assert_eq!(place.desk.issues()[0]["projectId"], id);
}

#[test]
fn project_the_desk_does_not_know_is_told_with_what_to_do() {
    let place = Place::new(Backend::Sqlite);
    place.write("project = \"pay\"\n");
    fs::write(place.deep().join("TODO.md"), "- [ ] One\n").unwrap();
    for words in [
        &["add", "t"][..],
        &["signal", "ci", "t", "--severity", "low"],
        &["import", "markdown", "TODO.md"],
        &["import", "markdown", "TODO.md", "--dry-run"],
        &["list"],
        &["queue"],
        &["next"],
        &["claim"],
        &["export"],
        &["work", "--once", "--", "true"],
    ] {
        let refused = place.run(words);
        refused.fails(3, "no project pay, which ");
        assert!(refused.err.contains("`xb project apply`"), "{words:?}: {refused:?}");
    }
    assert_eq!(place.desk.issues().len(), 0);
    place.run(&["add", "t", "--no-project"]).exits(0);
    place.write("project = \n");
    place.run(&["add", "t"]).fails(2, "--no-project leaves the file out");
    place.run(&["add", "t", "--no-project"]).exits(0);
}
