//! The doctor on the command line.

use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::postgres::Binaries;
use serde_json::json;

use super::{json, run};
use crate::harness::{Backend, Desk, Plan};

#[test]
fn healthy_desk_is_told_so() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        for words in [vec!["add", "one"], vec!["add", "two", "--blocked-by", "1"], vec!["claim"]] {
            run(&desk, &words).exits(0);
        }
        for words in [&["doctor"][..], &["doctor", "--repair"]] {
            let healthy = run(&desk, words);
            assert_eq!(healthy.exits(0), "");
            assert_eq!(healthy.err, "2 tasks checked, 0 differences\n");
        }
        assert_eq!(json(&desk, &["doctor"])["data"], json!({"checked": 2, "differences": []}));
    }
}

#[test]
fn what_was_spoilt_is_told_and_repaired_if_asked() {
    let url = fresh_postgres_url();
    let desk = Desk::start(Plan::default().db(&url));
    run(&desk, &["add", "one"]).exits(0);
    run(&desk, &["add", "two", "--blocked-by", "1"]).exits(0);
    let spoil = "UPDATE task SET open_blockers = 7 WHERE number = 2; DELETE FROM line WHERE task = 1;";
    Binaries::find().unwrap().psql(&url, spoil).unwrap();
    let found = run(&desk, &["doctor"]);
    let lines: Vec<&str> = found.exits(1).lines().collect();
    assert!(lines[0].starts_with("#1: place in line: found nowhere, expected line "), "{lines:?}");
    assert_eq!(lines[1], "#2: number of open blockers: found 7, expected 1");
    assert!(found.err.contains("2 differences were found and not repaired"), "{}", found.err);
    assert!(found.err.contains("hint: repair with `xb doctor --repair`"), "{}", found.err);
    let repaired = run(&desk, &["doctor", "--repair"]);
    assert_eq!(repaired.exits(0).matches("(repaired)").count(), 2, "{}", repaired.out);
    assert_eq!(run(&desk, &["doctor"]).exits(0), "");
    assert_eq!(json(&desk, &["claim"])["issue"]["number"], 1);
}

#[test]
fn one_is_told_as_one() {
    let url = fresh_postgres_url();
    let desk = Desk::start(Plan::default().db(&url));
    run(&desk, &["add", "one"]).exits(0);
    assert_eq!(run(&desk, &["doctor"]).err, "1 task checked, 0 differences\n");
    Binaries::find().unwrap().psql(&url, "DELETE FROM line WHERE task = 1;").unwrap();
    let found = run(&desk, &["doctor"]);
    assert_eq!(found.exits(1).lines().count(), 1, "{}", found.out);
    assert!(found.err.starts_with("1 task checked, 1 difference\n"), "{}", found.err);
    assert!(found.err.contains("1 difference was found and not repaired\n"), "{}", found.err);
}

#[test]
fn doctor_goes_on_beyond_one_page() {
    let url = fresh_postgres_url();
    let desk = Desk::start(Plan::default().db(&url));
    run(&desk, &["add", "one", "--state", "backlog"]).exits(0);
    let columns = "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns \
         WHERE table_name = 'task' AND column_name NOT IN ('number', 'id')";
    let copy = format!(
        "DO $$ DECLARE c text; BEGIN c := ({columns}); \
         EXECUTE format('INSERT INTO task (number, id, %s) SELECT n, gen_random_uuid()::text, %s \
         FROM task t, generate_series(2, 1203) n WHERE t.number = 1', c, c); END $$;"
    );
    Binaries::find().unwrap().psql(&url, &copy).unwrap();
    assert_eq!(json(&desk, &["doctor"])["data"]["checked"], 1203);
}
