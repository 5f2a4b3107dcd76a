//! `xb review`, and what `xb work` tells and asks.

use super::{Outcome, json, run};
use crate::harness::{Backend, Desk, xb};

const MARKS: [&str; 6] = ["--clarity", "4", "--completeness", "5", "--relevance", "3"];

fn desk_with(titles: &[&str]) -> Desk {
    let desk = Backend::Sqlite.desk();
    for title in titles {
        run(&desk, &["add", title]).exits(0);
    }
    desk
}

fn review(desk: &Desk, more: &[&str]) -> Outcome {
    run(desk, &[&["review", "1"], &MARKS[..], more].concat())
}

#[test]
fn prompt_is_reviewed_by_its_version() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        run(&desk, &["add", "one"]).exits(0);
        let claimed = json(&desk, &["claim", "--agent", "ada"]);
        let version = claimed["meta"]["versionId"].as_str().unwrap();
        let told = review(&desk, &["--version", version, "--feedback", "too long", "--agent", "ada"]);
        assert!(told.exits(0).ends_with(&format!(" of version {version}\n")), "{told:?}");
        let page = run(&desk, &["templates", "reviews", "task-execution"]);
        assert!(page.exits(0).contains("clarity 4, completeness 5, relevance 3"), "{page:?}");
        assert!(page.out.contains("\n  too long\n") && page.err.contains("1 of 1 reviews"), "{page:?}");
        let table = run(&desk, &["prompts"]);
        let row = table.exits(0).lines().find(|line| line.starts_with("task-execution ")).unwrap();
        assert!(row.ends_with("no") && row.contains("4.0"), "{row}");
    }
}

#[test]
fn reviews_that_cannot_be_are_refused() {
    let desk = desk_with(&["one"]);
    review(&desk, &[]).fails(2, "expected --version");
    review(&desk, &["--version", "01990000-0000-7000-8000-000000000000"]).fails(3, "no version");
    let version = json(&desk, &["templates", "versions", "task-execution"])["data"][0]["id"].clone();
    let version = version.as_str().unwrap();
    let words = |id, clarity| {
        ["review", id, "--clarity", clarity, "--completeness", "5", "--relevance", "3", "--version", version]
    };
    run(&desk, &words("9", "4")).fails(3, "9");
    run(&desk, &words("1", "6")).fails(2, "1 to 5");
    run(&desk, &["review", "1", "--clarity", "4"]).fails(2, "--completeness");
}

#[test]
fn command_of_a_worker_reviews_without_naming_the_version() {
    let desk = desk_with(&["one"]);
    let script = r#""$XB" review "$EXTRABOARD_ISSUE" --clarity 2 --completeness 2 --relevance 2"#;
    let outcome: Outcome = xb(desk.data_dir())
        .env("XB", env!("CARGO_BIN_EXE_xb"))
        .args(["work", "--once", "--", "sh", "-c", script])
        .output()
        .unwrap()
        .into();
    assert!(outcome.exits(0).ends_with("#1 completed\n"), "{outcome:?}");
    let reviews = json(&desk, &["templates", "reviews", "task-execution-run"]);
    assert_eq!((&reviews["total"], &reviews["data"][0]["clarity"]), (&1.into(), &2.into()));
}

#[test]
fn prompt_of_a_worker_asks_for_no_report() {
    let desk = desk_with(&[]);
    for kind in ["signal", "hypothesis", "plan", "spec", "phase", "code", "task", "monitor"] {
        run(&desk, &["add", "t", "--kind", kind]).exits(0);
        let outcome = run(&desk, &["work", "--once", "--", "cat"]);
        let prompt = outcome.exits(0);
        assert!(prompt.contains("## How to end"), "{prompt}");
        for word in ["curl", "xbd_", "Bearer", &desk.url()] {
            assert!(!prompt.contains(word), "{kind} says {word}: {prompt}");
        }
    }
    assert_eq!(json(&desk, &["list", "--status", "done"])["total"], 8);
}
