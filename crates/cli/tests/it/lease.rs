//! A desk that was away for longer than a lease: holders get a whole lease to be heard again.

use std::time::Duration;

use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::postgres::Binaries;
use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use crate::harness::{Desk, Plan, get};
use crate::http::{claim, create, report, show};

const LEASE_SECS: &str = "10";
const LIMIT: Duration = Duration::from_secs(30);

/// Makes every lease one that ended an hour ago, as if the desk had been away since.
const AGE: &str =
    "UPDATE dispatch SET lease_until = lease_until - 3600000000, heartbeat_at = heartbeat_at - 3600000000";

#[test]
fn desk_back_after_a_long_absence_hears_holders_before_it_gives_their_work_away() {
    let url = fresh_postgres_url();
    let mut desk = Desk::start(Plan::default().db(&url).variable("EXTRABOARD_LEASES_PULL_SECS", LEASE_SECS));
    create(&desk, &json!({}));
    create(&desk, &json!({}));
    let (heard, silent) = (claim(&desk, "ada"), claim(&desk, "bob"));
    desk.kill_9();
    Binaries::find().unwrap().psql(&url, AGE).unwrap();
    desk.restart();
    let beat = || desk.send(&report(&heard, "heartbeat", &Value::Null)).expect(200);
    assert_eq!(beat()["order"], "continue");
    assert_eq!(desk.send(&get("/api/dispatch/next")).status, 204, "the silent one has its grace");
    let lost = wait_until(LIMIT, "the silent one's lease to end", || {
        assert_eq!(beat()["order"], "continue");
        Some(show(&desk, &silent["issue"]["number"])).filter(|issue| issue["state"] == "queued")
    });
    assert_eq!(lost["counters"]["lost"], 1);
    let late = desk.send(&report(&silent, "heartbeat", &Value::Null)).refused(409, "stale_dispatch");
    assert_eq!(late["order"], "stop");
    let done = desk.send(&report(&silent, "complete", &json!({"result": "late"}))).expect(200);
    assert_eq!(done["issue"]["state"], "done", "nobody has claimed it since");
    assert_eq!(desk.send(&report(&heard, "complete", &Value::Null)).expect(200)["issue"]["state"], "done");
}
