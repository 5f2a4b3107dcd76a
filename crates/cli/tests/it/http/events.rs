//! The stream of events.

use std::thread;

use serde_json::{Value, json};

use super::{claim, create, on_both, report};
use crate::harness::{Desk, Dice, Plan, Stream, get, post};

on_both!(
    events_come_as_they_happen_and_in_the_documented_shape,
    a_reader_resumes_where_it_was,
    readers_hear_only_what_they_ask_for,
    a_place_that_is_gone_is_a_reset,
    bad_questions_are_refused,
    a_reader_that_comes_and_goes_sees_every_event_once,
    a_desk_that_stops_ends_its_streams,
);

fn from(pos: i64) -> String {
    format!("/api/events?after={pos}")
}

/// Waits until so many events are told: a little after what they tell of.
fn wait_told(desk: &Desk, count: usize) {
    let mut stream = Stream::open(&get(&from(0)), desk.api());
    for _ in 0..count {
        stream.next().unwrap();
    }
}

/// Returns what has happened.
fn all(desk: &Desk, path: &str) -> Vec<Value> {
    let mut stream = Stream::open(&get(&format!("{path}&follow=false")), desk.api());
    std::iter::from_fn(|| stream.next()).map(|frame| frame.data).collect()
}

fn events_come_as_they_happen_and_in_the_documented_shape(desk: &mut Desk) {
    create(desk, &json!({"title": "before"}));
    wait_told(desk, 1);
    let mut stream = Stream::open(&get("/api/events"), desk.api());
    let issue = create(desk, &json!({"title": "after"}));
    let frame = stream.next().unwrap();
    assert_eq!((frame.event.as_str(), frame.data["pos"].as_i64()), ("task.created", Some(frame.pos())));
    assert_eq!((&frame.data["type"], &frame.data["taskId"]), (&json!("task.created"), &issue["id"]));
    assert_eq!((&frame.data["number"], &frame.data["actor"]), (&issue["number"], &json!("anonymous")));
    assert_eq!((&frame.data["title"], &frame.data["dispatchId"]), (&json!("after"), &Value::Null));
    let next = claim(desk, "ada");
    let frame = stream.next().unwrap();
    assert_eq!(
        (frame.event.as_str(), &frame.data["dispatchId"]),
        ("dispatch.opened", &next["dispatch"]["id"])
    );
    assert_eq!(frame.data["actor"], "agent:ada");
    desk.send(&report(&next, "complete", &json!({}))).expect(200);
    assert_eq!(stream.next().unwrap().event, "dispatch.closed");
}

fn a_reader_resumes_where_it_was(desk: &mut Desk) {
    for title in ["one", "two", "three"] {
        create(desk, &json!({"title": title}));
    }
    wait_told(desk, 3);
    let told = all(desk, &from(0));
    assert_eq!(told.len(), 3);
    assert_eq!(all(desk, &from(1)), told[1..]);
    // A browser that comes back asks for the same address, and says in a header how far it came.
    let mut stream = Stream::open(&get(&from(0)).header("last-event-id", "2"), desk.api());
    assert_eq!(stream.next().unwrap().data, told[2]);
}

fn readers_hear_only_what_they_ask_for(desk: &mut Desk) {
    let project = json!({"name": "apollo"});
    desk.send(&post("/api/projects", &project)).expect(201);
    create(desk, &json!({"title": "in", "projectId": "apollo"}));
    let out = create(desk, &json!({"title": "out"}));
    claim(desk, "ada");
    wait_told(desk, 4);
    let types = |path: &str| -> Vec<String> {
        all(desk, path).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&format!("{}&task={}", from(0), out["number"])), ["task.created"]);
    let of_project = types(&format!("{}&project=apollo", from(0)));
    assert_eq!(of_project, ["project.created", "task.created", "dispatch.opened"]);
    assert_eq!(types(&format!("{}&type=dispatch.opened", from(0))), ["dispatch.opened"]);
    assert_eq!(types(&format!("{}&type=dispatch.opened,project.created", from(0))).len(), 2);
}

fn a_place_that_is_gone_is_a_reset(desk: &mut Desk) {
    create(desk, &json!({"title": "one"}));
    wait_told(desk, 1);
    let mut stream = Stream::open(&get(&from(999)), desk.api());
    let reset = stream.next().unwrap();
    assert_eq!((reset.event.as_str(), &reset.data), ("reset", &json!({"pos": 1, "oldest": 1})));
    assert_eq!(reset.pos(), 1);
    create(desk, &json!({"title": "two"}));
    assert_eq!(stream.next().unwrap().pos(), 2);
}

fn bad_questions_are_refused(desk: &mut Desk) {
    for (request, says) in [
        (get("/api/events?after=-1"), "after: expected a position"),
        (get("/api/events").header("last-event-id", "x"), "Last-Event-ID: expected a position"),
        (get("/api/events?type=task.eaten"), "type: expected"),
        (get("/api/events?project=none"), "project: there is no project"),
        (get("/api/events?task=x"), "task: expected an issue's uuid or number"),
    ] {
        let body = desk.send(&request).refused(422, "validation");
        assert!(body["error"].as_str().unwrap().contains(says), "{body}");
    }
    desk.send(&get("/api/events?since=1")).refused(400, "bad_request");
    desk.send(&get("/api/events?task=77")).refused(404, "not_found");
    desk.send(&get("/api/events").header("origin", "http://evil.example")).refused(403, "cross_site");
}

const EVENTS: i64 = 300;

fn a_reader_that_comes_and_goes_sees_every_event_once(desk: &mut Desk) {
    let seen = thread::scope(|scope| {
        let api = desk.api();
        let reader = scope.spawn(move || {
            let mut dice = Dice::of_this_run();
            let mut seen: Vec<i64> = Vec::new();
            while seen.last() != Some(&EVENTS) {
                let last = seen.last().copied().unwrap_or(0);
                let mut stream =
                    Stream::open(&get("/api/events").header("last-event-id", last.to_string()), api);
                for _ in 0..dice.roll(20) {
                    match stream.next() {
                        Some(frame) => seen.push(frame.pos()),
                        None => break,
                    }
                    if seen.last() == Some(&EVENTS) {
                        break;
                    }
                }
            }
            seen
        });
        for writer in 0..3 {
            let desk = &*desk;
            scope.spawn(move || {
                for count in 0..EVENTS / 3 {
                    create(desk, &json!({"title": format!("{writer} {count}")}));
                }
            });
        }
        reader.join().unwrap()
    });
    assert_eq!(seen, (1..=EVENTS).collect::<Vec<_>>());
}

fn a_desk_that_stops_ends_its_streams(desk: &mut Desk) {
    let mut stream = Stream::open(&get("/api/events"), desk.api());
    let api = desk.api();
    let waits = thread::spawn(move || get("/api/dispatch/next?wait=60s").send(api));
    create(desk, &json!({"title": "seen", "status": "backlog"}));
    assert_eq!(stream.next().unwrap().event, "task.created");
    assert!(desk.terminate().success());
    assert_eq!(stream.next(), None);
    if let Ok(reply) = waits.join().unwrap() {
        assert_eq!(reply.status, 204);
    }
}

#[test]
fn a_reader_at_one_desk_hears_what_happens_at_another() {
    let url = extraboard_testkit::database::fresh_postgres_url();
    let desks = [(), ()].map(|()| Desk::start(Plan::default().db(&url)));
    let mut stream = Stream::open(&get("/api/events"), desks[0].api());
    create(&desks[1], &json!({"title": "there"}));
    assert_eq!(stream.next().unwrap().data["title"], "there");
}
