//! Who may come in, what is not there, and what is no HTTP at all.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{check_refusals, claim, create, report};
use crate::harness::{Backend, Desk, Plan, Request, delete, get, patch, post};

#[test]
fn wrong_host_and_other_origins_are_refused() {
    let mut desk = Backend::Sqlite.desk();
    create(&desk, &json!({}));
    let next = || get("/api/dispatch/next");
    let hosts = ["evil.example", "localhost.evil.example", "10.0.0.1", ""];
    let hosts = hosts.map(|host| (next().header("host", host), 403, "forbidden_host", ""));
    let own = format!("http://{}", desk.api());
    let pages = [
        next().header("sec-fetch-site", "cross-site"),
        next().header("sec-fetch-site", "same-site"),
        next().header("origin", "http://evil.example"),
        next().header("origin", "null"),
        next().header("origin", "http://127.0.0.1:1"),
        next().header("origin", &own).header("sec-fetch-site", "cross-site"),
        post("/api/issues", &json!({"title": "t", "type": "task"})).header("origin", "http://evil.example"),
        delete("/api/issues/1").header("origin", "http://evil.example"),
    ];
    let pages = pages.map(|request| (request, 403, "cross_site", ""));
    check_refusals(&mut desk, &hosts.into_iter().chain(pages).collect::<Vec<_>>());
    let port = desk.api().port();
    for host in [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        "LOCALHOST".to_owned(),
        "[::1]:1".to_owned(),
    ] {
        desk.send(&get("/api/status").header("host", &host)).expect(200);
    }
    desk.send(&get("/api/status").header("origin", &own).header("sec-fetch-site", "same-origin")).expect(200);
}

#[test]
fn names_of_a_server_can_be_configured() {
    let desk =
        Desk::start(Plan::default().variable("EXTRABOARD_SERVER_HOSTS", "desk.example,other.example:81"));
    for host in ["desk.example", "desk.example:8600", "DESK.example", "other.example:81"] {
        desk.send(&get("/api/status").header("host", host)).expect(200);
    }
    for host in ["evil.example", "other.example:82"] {
        desk.send(&get("/api/status").header("host", host)).refused(403, "forbidden_host");
    }
}

#[test]
fn token_that_is_sent_must_be_valid() {
    let mut desk = Backend::Sqlite.desk();
    create(&desk, &json!({}));
    create(&desk, &json!({}));
    let next = claim(&desk, "ada");
    let genuine = next["dispatch"]["token"].as_str().unwrap();
    let forged = format!("{}0", &genuine[..genuine.len() - 1]);
    let other_fence = genuine.replacen("_1_", "_2_", 1);
    let forged = if forged == genuine { genuine.replacen("xbd_0", "xbd_1", 1) } else { forged };
    let values = ["Bearer xba_nope", "Bearer ", "Bearer", "Basic YTpi", "xba_nope", "Bearer \u{e9}", ""];
    let mut requests: Vec<Request> =
        values.iter().map(|value| get("/api/dispatch/next").header("authorization", value)).collect();
    requests.push(get("/api/dispatch/next").token(&forged));
    requests.push(report(&next, "complete", &Value::Null).token(&forged));
    requests.push(report(&next, "complete", &Value::Null).token(&other_fence));
    let refusals: Vec<_> = requests.into_iter().map(|request| (request, 401, "unauthorized", "")).collect();
    check_refusals(&mut desk, &refusals);
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
}

#[test]
fn server_beyond_loopback_wants_tokens() {
    let mut desk = Desk::start(Plan::default().listen_ip("0.0.0.0"));
    let body = json!({"title": "t", "type": "task", "status": "todo"});
    check_refusals(
        &mut desk,
        &[
            (get("/api/issues"), 401, "unauthorized", "token"),
            (get("/api/status"), 401, "unauthorized", "token"),
            (get("/api/dispatch/next"), 401, "unauthorized", "token"),
            (get("/api/dispatch/next").agent("ada"), 401, "unauthorized", "token"),
            (post("/api/issues", &body).agent("ada"), 401, "unauthorized", "token"),
            (get("/api/nope"), 401, "unauthorized", "token"),
            (get("/api/issues").token("xba_nope"), 401, "unauthorized", "not valid"),
            (get("/api/issues").header("host", "evil.example"), 403, "forbidden_host", ""),
        ],
    );
    desk.send_as_person(post("/api/issues", &body)).expect(201);
    let next = desk.send_as_person(get("/api/dispatch/next")).expect(200);
    assert_eq!(next["issue"]["dispatch"]["holder"], "person:admin");
    desk.send(&report(&next, "complete", &Value::Null)).expect(200);
}

#[test]
fn dispatch_token_beyond_loopback_is_good_for_its_own_dispatch_alone() {
    let desk = Desk::start(Plan::default().listen_ip("0.0.0.0"));
    let body = json!({"title": "t", "type": "task", "status": "todo"});
    for _ in 0..2 {
        desk.send_as_person(post("/api/issues", &body)).expect(201);
    }
    let next = desk.send_as_person(get("/api/dispatch/next")).expect(200);
    let token = next["dispatch"]["token"].as_str().unwrap();
    let before = desk.issues();
    for request in [
        get("/api/dispatch/next"),
        post("/api/issues", &body),
        patch("/api/issues/2", &json!({"title": "not mine"})),
        post("/api/issues/2/park", &Value::Null),
        delete("/api/issues/2"),
    ] {
        let reply = desk.send(&request.clone().token(token));
        assert!(matches!(reply.status, 401 | 403), "{request:?}: {} {}", reply.status, reply.text());
        assert_eq!(desk.issues(), before, "{request:?}");
    }
    desk.send(&patch("/api/issues/1", &json!({"status": "done"})).token(token)).expect(200);
}

#[test]
fn unknown_routes_and_methods_are_answered_in_json() {
    let mut desk = Backend::Sqlite.desk();
    create(&desk, &json!({}));
    let request = Request::new;
    let mut refusals = Vec::new();
    for path in [
        "/",
        "/api",
        "/api/nope",
        "/api/issues/1/explode",
        "/api/issues/1/complete",
        "/api/dispatch",
        "/health",
    ] {
        refusals.push((request("POST", path), 404, "not_found", ""));
    }
    for (method, path) in [
        ("DELETE", "/api/issues"),
        ("PUT", "/api/issues/1"),
        ("POST", "/api/issues/1"),
        ("GET", "/api/issues/1/admit"),
        ("POST", "/api/dispatch/queue"),
        ("DELETE", "/api/dispatch/next"),
        ("GET", "/api/dispatches/1/complete"),
        ("POST", "/api/status"),
        ("BREW", "/api/status"),
    ] {
        refusals.push((request(method, path), 405, "method_not_allowed", method));
    }
    for reply in check_refusals(&mut desk, &refusals) {
        let allow = reply.header("allow");
        assert_eq!(allow.is_some(), reply.status == 405, "a 405 says what is allowed: {}", reply.text());
    }
}

#[test]
fn health_and_metrics_have_a_port_of_their_own() {
    let desk = Backend::Sqlite.desk();
    create(&desk, &json!({}));
    let health = get("/health").send(desk.metrics()).unwrap();
    assert_eq!(health.expect(200), json!({"status": "ok"}));
    let numbers = get("/metrics").send(desk.metrics()).unwrap();
    assert_eq!(numbers.status, 200);
    let text = numbers.text();
    for line in [
        "extraboard_line_tasks 1",
        "extraboard_tasks{state=\"queued\"} 1",
        "extraboard_dispatches_unclosed 0",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    desk.send(&get("/metrics")).refused(404, "not_found");
}

#[test]
fn bytes_that_are_no_requests_do_no_harm() {
    let mut desk = Backend::Sqlite.desk();
    let line = "x".repeat(100_000);
    for bytes in [
        b"GARBAGE\r\n\r\n".to_vec(),
        b"\0\xff\xfe\r\n\r\n".to_vec(),
        b"POST /api/issues HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{".to_vec(),
        b"POST /api/issues HTTP/1.1\r\nhost: localhost\r\ncontent-length: nonsense\r\n\r\n{}".to_vec(),
        b"POST /api/issues HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        format!("GET /{line} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {line}{line}{line}{line}{line}\r\n\r\n")
            .into_bytes(),
        Vec::new(),
    ] {
        let mut stream = TcpStream::connect(desk.api()).unwrap();
        // Whether it listens to the end is its own affair.
        let _ = stream.write_all(&bytes);
        drop(stream);
        desk.send(&get("/api/status")).expect(200);
        assert!(desk.is_running());
    }
    assert_eq!(desk.issues().len(), 0);
}
