//! What a desk writes to standard error while it runs.

use serde_json::Value;

use crate::harness::{Backend, Desk, Plan, get};

/// Returns the log of a desk that was asked for its status.
fn log_of(plan: Plan) -> String {
    let desk = Desk::start(plan);
    desk.send_as_person(get("/api/status")).expect(200);
    desk.log()
}

#[test]
fn requests_are_logged_when_asked_for_and_never_in_color_to_a_file() {
    let quiet = log_of(Plan::default());
    assert!(!quiet.contains("/api/status"), "{quiet}");
    for flag in ["-v", "-vv"] {
        let log = log_of(Plan::default().flag(flag));
        assert!(log.contains("GET /api/status"), "{log}");
        assert!(!log.contains('\u{1b}'), "{log:?}");
    }
}

#[test]
fn database_driver_is_quiet() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let log = log_of(backend.plan());
        assert!(!log.contains("sqlx"), "{log}");
    }
}

#[test]
fn json_log_is_json_to_the_last_line() {
    let plan = Plan::default().up().flag("--demo").listen_ip("0.0.0.0");
    let log = log_of(plan.variable("EXTRABOARD_LOG_FORMAT", "json").flag("-v"));
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |text: &str| {
        let said = |event: &&Value| event["fields"]["message"].as_str().is_some_and(|it| it.contains(text));
        events.iter().find(said).unwrap_or_else(|| panic!("{text} is missing in\n{log}"))
    };
    let running = find("is running");
    assert!(running["fields"]["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{running}");
    find("sample tasks were added");
    find("every caller needs a token");
}

#[test]
fn start_beyond_loopback_says_what_that_takes() {
    for (ip, says) in [("0.0.0.0", true), ("127.0.0.1", false)] {
        let log = log_of(Plan::default().listen_ip(ip));
        for text in ["every caller needs a token", "`server.hosts`"] {
            assert_eq!(log.contains(text), says, "{log}");
        }
    }
}
