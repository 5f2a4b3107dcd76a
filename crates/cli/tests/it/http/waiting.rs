//! Claims that wait for work.

use std::thread;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::json;

use super::{check_nothing, create, on_both, show};
use crate::harness::{Desk, Plan, get};

on_both!(
    a_claim_waits_for_work_and_gets_it,
    a_wait_ends_with_a_reason,
    bad_waits_are_refused,
    whoever_waits_and_goes_takes_nothing_with_them,
    as_many_as_there_are_tasks_are_served,
);

const WAITERS: usize = 8;
const GIVEN_BACK_LIMIT: Duration = Duration::from_secs(10);

fn a_claim_waits_for_work_and_gets_it(desk: &mut Desk) {
    let api = desk.api();
    let waits = thread::spawn(move || get("/api/dispatch/next?wait=15s").agent("ada").send(api).unwrap());
    let issue = create(desk, &json!({"title": "awaited"}));
    let next = waits.join().unwrap().expect(200);
    assert_eq!((&next["issue"]["number"], &next["issue"]["state"]), (&issue["number"], &json!("running")));
}

fn a_wait_ends_with_a_reason(desk: &mut Desk) {
    check_nothing(desk, &get("/api/dispatch/next?wait=50ms"), "empty");
    create(desk, &json!({"title": "later", "notBefore": "2099-01-01T00:00:00Z"}));
    check_nothing(desk, &get("/api/dispatch/next?wait=50ms"), "not_before");
    check_nothing(desk, &get("/api/dispatch/next?wait=0"), "not_before");
}

fn bad_waits_are_refused(desk: &mut Desk) {
    for wait in ["61s", "2m", "soon", "-1s", "1.5s", "", "99999999999999999999"] {
        let body = desk.send(&get(&format!("/api/dispatch/next?wait={wait}"))).refused(422, "validation");
        assert!(body["error"].as_str().unwrap().contains("wait: expected a time such as 30s"), "{body}");
    }
    desk.send(&get("/api/dispatch/queue?wait=1s")).refused(400, "bad_request");
}

fn whoever_waits_and_goes_takes_nothing_with_them(desk: &mut Desk) {
    for _ in 0..WAITERS {
        get("/api/dispatch/next?wait=60s").send_and_leave(desk.api());
    }
    let issue = create(desk, &json!({"title": "wanted"}));
    let free = |desk: &Desk| show(desk, &issue["number"])["state"] == "queued";
    wait_until(GIVEN_BACK_LIMIT, "the task to be free", || free(desk).then_some(()));
    let next = desk.send(&get("/api/dispatch/next?wait=5s").agent("ada")).expect(200);
    assert_eq!(next["issue"]["number"], issue["number"]);
}

fn as_many_as_there_are_tasks_are_served(desk: &mut Desk) {
    let replies: Vec<u16> = thread::scope(|scope| {
        let api = desk.api();
        let waits: Vec<_> = (0..WAITERS)
            .map(|_| scope.spawn(move || get("/api/dispatch/next?wait=3s").send(api).unwrap().status))
            .collect();
        for count in 0..WAITERS / 2 {
            create(desk, &json!({"title": format!("task {count}")}));
        }
        waits.into_iter().map(|wait| wait.join().unwrap()).collect()
    });
    assert_eq!(replies.iter().filter(|status| **status == 200).count(), WAITERS / 2, "{replies:?}");
    assert_eq!(replies.iter().filter(|status| **status == 204).count(), WAITERS / 2, "{replies:?}");
}

#[test]
fn work_added_at_one_desk_reaches_who_waits_at_another() {
    let url = extraboard_testkit::database::fresh_postgres_url();
    let desks = [(), ()].map(|()| Desk::start(Plan::default().db(&url)));
    let api = desks[0].api();
    let waits = thread::spawn(move || get("/api/dispatch/next?wait=15s").send(api).unwrap());
    create(&desks[1], &json!({"title": "from there"}));
    assert_eq!(waits.join().unwrap().expect(200)["issue"]["title"], "from there");
}
