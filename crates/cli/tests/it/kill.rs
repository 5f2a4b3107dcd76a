//! Desks and databases killed at random moments, while clients keep a log of what was acknowledged.

mod client;
mod ledger;

use std::thread;
use std::time::Duration;

use extraboard_testkit::postgres::PrivatePostgres;
use extraboard_testkit::process::wait_until;
use serde_json::json;

use self::client::{Client, Op};
use self::ledger::Ledger;
use crate::harness::{Backend, Desk, Dice, Plan, get, post};

const CLIENT_COUNT: usize = 8;
const ROUND_COUNT: usize = 12;
/// A round lasts at least this many acknowledged calls.
const CALLS_MIN: u64 = 20;
/// And up to so many more, as the dice fall.
const CALLS_SPREAD: u64 = 300;
const RECOVERY_LIMIT: Duration = Duration::from_secs(30);

#[test]
fn killed_desk_on_sqlite_loses_nothing_and_does_nothing_twice() {
    survive(&mut Backend::Sqlite.desk(), |desk, _| {
        desk.kill_9();
        desk.restart();
    });
}

#[test]
fn killed_desk_on_postgres_loses_nothing_and_does_nothing_twice() {
    survive(&mut Backend::Postgres.desk(), |desk, _| {
        desk.kill_9();
        desk.restart();
    });
}

#[test]
fn stopped_desk_finishes_what_it_answers() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        survive(&mut Desk::start(backend.plan().up()), |desk, _| {
            assert!(desk.terminate().success(), "{}", desk.log());
            desk.restart();
        });
    }
}

#[test]
fn killed_postgres_loses_nothing_and_the_desk_finds_it_again() {
    let mut postgres = PrivatePostgres::start().unwrap();
    postgres.create_database("desk").unwrap();
    let mut desk = Desk::start(Plan::default().db(&postgres.url("desk")));
    survive(&mut desk, |desk, dice| {
        let desk_dies_too = dice.roll(3) == 0;
        postgres.kill_9().unwrap();
        if desk_dies_too {
            desk.kill_9();
        }
        postgres.restart().unwrap();
        if desk_dies_too {
            desk.restart();
        }
        desk.wait_healthy();
    });
}

#[test]
fn desk_without_its_database_says_so_and_recovers() {
    let mut postgres = PrivatePostgres::start().unwrap();
    postgres.create_database("desk").unwrap();
    let mut desk = Desk::start(Plan::default().db(&postgres.url("desk")));
    postgres.kill_9().unwrap();
    let health = wait_until(RECOVERY_LIMIT, "the desk to notice", || {
        get("/health").send(desk.metrics()).ok().filter(|reply| reply.status != 200)
    });
    assert_eq!(health.expect(503)["status"], "unavailable");
    let create = post("/api/issues", &json!({"title": "lost", "type": "task"}));
    thread::scope(|scope| {
        for request in [create.clone(), get("/api/dispatch/next"), get("/api/issues"), get("/api/status")] {
            let desk = &desk;
            scope.spawn(move || desk.send(&request).refused(503, "unavailable"));
        }
    });
    assert!(desk.is_running());
    postgres.restart().unwrap();
    desk.wait_healthy();
    assert_eq!(desk.issues().len(), 0);
    desk.send(&create).expect(201);
}

/// Strikes again and again while clients work, and compares the desk with their log each time.
fn survive(desk: &mut Desk, mut strike: impl FnMut(&mut Desk, &mut Dice)) {
    let mut dice = Dice::of_this_run();
    let ledger = Ledger::default();
    let unanswered: Vec<(Client<'_>, Op)> = thread::scope(|scope| {
        let _end = ledger.end_on_drop();
        let work = |number| {
            let client = Client::new(number, desk.api(), &ledger, &dice);
            scope.spawn(move || client.work())
        };
        let clients: Vec<_> = (0..CLIENT_COUNT).map(work).collect();
        for _ in 0..ROUND_COUNT {
            ledger.wait_for_more(CALLS_MIN + dice.roll(CALLS_SPREAD));
            strike(desk, &mut dice);
            ledger.check(desk);
        }
        ledger.forbid_repeats();
        ledger.wait_for_more(CALLS_MIN + dice.roll(CALLS_SPREAD));
        desk.kill_9();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    desk.restart();
    ledger.check_unanswered(&ledger.check(desk), &unanswered);
    finish(desk, &ledger, unanswered);
}

/// Repeats what was not answered, works off the rest, and looks at the whole once more.
fn finish(desk: &Desk, ledger: &Ledger, unanswered: Vec<(Client<'_>, Op)>) {
    ledger.reopen();
    thread::scope(|scope| {
        for (client, op) in unanswered {
            scope.spawn(move || client.drain(op));
        }
    });
    let issues = ledger.check(desk);
    let status = desk.send(&get("/api/status")).expect(200);
    assert_eq!(status["data"]["line"], 0);
    assert_eq!(status["data"]["unclosed"], 0);
    assert_eq!(status["data"]["states"], json!({"done": issues.len()}));
    let log = desk.log();
    let trouble: Vec<&str> =
        log.lines().filter(|line| line.contains("ERROR") || line.contains("panicked")).collect();
    assert!(trouble.is_empty(), "{trouble:#?}");
    println!("{} tasks, {} answered calls", issues.len(), ledger.answer_count());
}
