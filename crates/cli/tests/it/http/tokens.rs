//! Tokens of every scope, on a desk that is open to nobody without one.

use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::create;
use crate::harness::{Backend, Desk, Plan, Request, Stream, delete, get, post};

const LIMIT: Duration = Duration::from_secs(20);

/// Starts a desk that other machines could reach.
fn public(plan: Plan) -> Desk {
    Desk::start(plan.listen_ip("0.0.0.0"))
}

fn token(desk: &Desk, body: &Value) -> Value {
    desk.send_as_person(post("/api/tokens", body)).expect(201)["data"].clone()
}

fn secret(token: &Value) -> &str {
    token["secret"].as_str().unwrap()
}

#[test]
fn tokens_open_what_their_scope_says() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = public(backend.plan());
        let issue = json!({"title": "t", "type": "task", "status": "todo"});
        desk.send(&get("/api/issues").agent("w1")).refused(401, "unauthorized");
        let agent = token(&desk, &json!({"scope": "agent", "agent": "w1"}));
        let any = token(&desk, &json!({"scope": "agent", "name": "fleet"}));
        let viewer = token(&desk, &json!({"scope": "viewer"}));
        let admin = token(&desk, &json!({"scope": "admin", "name": "ann"}));
        let send = |request: Request, token: &Value| desk.send(&request.token(secret(token)));
        send(post("/api/issues", &issue), &viewer).refused(403, "forbidden");
        send(get("/api/dispatch/next"), &viewer).refused(403, "forbidden");
        send(get("/api/issues"), &viewer).expect(200);
        send(post("/api/issues", &issue), &agent).expect(201);
        send(get("/api/tokens"), &agent).refused(403, "forbidden");
        send(get("/api/tokens"), &viewer).refused(403, "forbidden");
        send(get("/api/dispatch/next").agent("w2"), &agent).refused(403, "forbidden");
        let next = send(get("/api/dispatch/next"), &agent).expect(200);
        assert_eq!(next["issue"]["dispatch"]["holder"], "agent:w1");
        send(post("/api/issues", &issue), &any).expect(201);
        let next = send(get("/api/dispatch/next").agent("w3"), &any).expect(200);
        assert_eq!(next["issue"]["dispatch"]["holder"], "agent:w3");
        assert_eq!(send(get("/api/tokens"), &admin).expect(200)["total"], 5);
        let told = send(get("/api/tokens"), &admin).text();
        assert!(!told.contains(secret(&agent)), "{told}");
        send(delete(&format!("/api/tokens/{}", agent["id"].as_str().unwrap())), &admin).expect(204);
        send(get("/api/issues"), &agent).refused(401, "unauthorized");
        send(delete("/api/tokens/0123456789ab"), &admin).refused(404, "not_found");
    }
}

#[test]
fn bad_tokens_are_refused() {
    let desk = Backend::Sqlite.desk();
    for (body, says) in [
        (json!({"scope": "root"}), "scope: expected"),
        (json!({"scope": "viewer", "agent": "w1"}), "agent: expected none for the scope viewer"),
        (json!({"scope": "agent", "agent": "two words"}), "agent: expected one name"),
        (
            json!({"scope": "agent", "expiresAt": "2020-01-01T00:00:00Z"}),
            "expiresAt: expected a moment that is yet",
        ),
        (json!({"scope": "agent", "name": ""}), "name: expected"),
    ] {
        let refused = desk.send_as_person(post("/api/tokens", &body)).refused(422, "validation");
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
    desk.send(&post("/api/tokens", &json!({"scope": "agent"}))).refused(401, "unauthorized");
}

#[test]
fn a_name_is_believed_where_the_operator_says_so() {
    let plan = Backend::Sqlite.plan().variable("EXTRABOARD_SERVER_TRUST_AGENT_ID", "true");
    let desk = public(plan);
    assert!(desk.log().contains("may take work under any name"), "{}", desk.log());
    let issue = json!({"title": "t", "type": "task", "status": "todo"});
    desk.send(&post("/api/issues", &issue).agent("w1")).expect(201);
    assert_eq!(desk.send(&get("/api/dispatch/next").agent("w1")).expect(200)["issue"]["title"], "t");
    desk.send(&get("/api/issues")).refused(401, "unauthorized");
}

#[test]
fn who_asks_too_often_is_told_to_wait() {
    let desk = Desk::start(Backend::Sqlite.plan().variable("EXTRABOARD_SERVER_RATE_LIMIT", "5"));
    create(&desk, &json!({"title": "t"}));
    let replies: Vec<_> = (0..30).map(|_| desk.send(&get("/api/issues").agent("eager"))).collect();
    let refused = replies.iter().find(|reply| reply.status == 429).expect("thirty at once are too many");
    refused.refused(429, "too_many_requests");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Others have their own measure.
    desk.send(&get("/api/issues").agent("calm")).expect(200);
}

#[test]
fn a_token_that_was_revoked_is_good_for_nothing_any_more() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = public(backend.plan());
        let made = token(&desk, &json!({"scope": "agent", "agent": "w1"}));
        let (api, waiting) = (desk.api(), get("/api/dispatch/next?wait=20s").token(secret(&made)).key("k"));
        // A stream from the beginning: the token's own event may get its position a moment later.
        let mut stream =
            Stream::open(&get("/api/events?after=0&type=task.created").token(secret(&made)), api);
        let waits = std::thread::spawn(move || waiting.send(api).unwrap());
        let issue = json!({"title": "seen", "type": "task", "status": "backlog"});
        desk.send_as_person(post("/api/issues", &issue)).expect(201);
        assert_eq!(stream.next().unwrap().event, "task.created");
        desk.send_as_person(delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap()))).expect(204);
        let issue = json!({"title": "wanted", "type": "task", "status": "todo"});
        let wanted = desk.send_as_person(post("/api/issues", &issue)).expect(201)["data"].clone();
        waits.join().unwrap().refused(401, "unauthorized");
        let path = format!("/api/issues/{}", wanted["number"]);
        let free = || desk.send_as_person(get(&path)).expect(200)["data"]["state"] == "queued";
        wait_until(LIMIT, "the task to be given back", || free().then_some(()));
        // What happens later than a second is not told any more.
        wait_until(LIMIT, "the stream to end", || {
            desk.send_as_person(post("/api/issues", &issue)).expect(201);
            stream.next().is_none().then_some(())
        });
    }
}

#[test]
fn two_tokens_without_names_are_two_agents() {
    let desk = public(Backend::Sqlite.plan());
    let [one, other] = [(), ()].map(|()| token(&desk, &json!({"scope": "agent"})));
    assert_ne!(one["name"], other["name"]);
    let issue = json!({"title": "t", "type": "task", "status": "todo"});
    desk.send(&post("/api/issues", &issue).token(secret(&one))).expect(201);
    let next = desk.send(&get("/api/dispatch/next").token(secret(&one)).key("1")).expect(200);
    let path = format!("/api/dispatches/{}/complete", next["dispatch"]["id"].as_str().unwrap());
    desk.send(&post(&path, &json!({})).token(secret(&other))).refused(403, "not_holder");
    assert_eq!(desk.send(&get("/api/dispatch/next").token(secret(&other)).key("1")).status, 204);
}

#[test]
fn guesses_are_counted_together() {
    let plan = Backend::Sqlite.plan().variable("EXTRABOARD_SERVER_RATE_LIMIT", "5");
    let desk = public(plan);
    let guess = |number: i32| desk.send(&get("/api/issues").token(&format!("xbt_{number}"))).status;
    assert!((0..60).any(|number| guess(number) == 429), "sixty guesses at once are too many");
}
