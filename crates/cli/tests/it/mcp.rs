//! MCP against a desk that runs: by standard input, and by HTTP. The official client is at work in the crate's own
//! tests; here it is the messages themselves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use crate::harness::{Backend, Desk, Reply, get, post, xb};

const LIMIT: Duration = Duration::from_secs(10);
const VERSION: &str = "2025-06-18";

fn desk_with_a_task(backend: Backend) -> Desk {
    let desk = backend.desk();
    let body = json!({"title": "Lay the track", "type": "task", "status": "todo"});
    desk.send(&post("/api/issues", &body)).expect(201);
    desk
}

fn state(desk: &Desk) -> Value {
    desk.send(&get("/api/issues/1")).expect(200)["data"]["state"].clone()
}

fn initialize() -> Value {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn call(id: i64, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// A session as an agent has it: a process of ours, and a pipe each way.
struct Session {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start(desk: &Desk) -> Self {
        let mut process = xb(desk.data_dir())
            .args(["mcp", "--agent", "ada"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut session = Self { process, stdin, stdout };
        let hello = session.ask(&initialize());
        assert_eq!(hello["result"]["serverInfo"]["name"], "extraboard");
        session.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its answer; whatever else is said meanwhile is passed over.
    fn ask(&mut self, request: &Value) -> Value {
        self.tell(request);
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the session ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == request["id"] {
                return message;
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // One that has ended needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_session_takes_work_and_finishes_it() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = desk_with_a_task(backend);
        let mut session = Session::start(&desk);
        let listed = session.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let tools: Vec<_> =
            listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        for tool in [
            "claim",
            "heartbeat",
            "progress",
            "complete",
            "fail",
            "release",
            "ask",
            "create",
            "relate",
            "queue",
            "why",
            "comment",
            "inbox",
        ] {
            assert!(tools.contains(&&json!(tool)), "{tool} is not in {tools:?}");
        }
        let claimed = session.ask(&call(2, "claim", &json!({})));
        assert!(claimed.to_string().contains("Lay the track"), "{claimed}");
        assert_eq!(state(&desk), "running");
        assert_eq!(desk.send(&get("/api/issues/1")).expect(200)["data"]["dispatch"]["holder"], "agent:ada");
        let done = session.ask(&call(3, "complete", &json!({"agentSummary": "Laid."})));
        assert_ne!(done["result"]["isError"], json!(true), "{done}");
        assert_eq!(state(&desk), "done");
    }
}

#[test]
fn a_session_whose_terminal_is_closed_gives_its_task_back() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = desk_with_a_task(backend);
        let mut session = Session::start(&desk);
        session.ask(&call(1, "claim", &json!({})));
        assert_eq!(state(&desk), "running");
        session.stdin = None;
        wait_until(LIMIT, "the task to be given back", || (state(&desk) == "queued").then_some(()));
        assert!(session.process.wait().unwrap().success());
        let issue = desk.send(&get("/api/issues/1")).expect(200)["data"].clone();
        assert_eq!((&issue["counters"]["lost"], &issue["dispatch"]), (&json!(0), &Value::Null));
    }
}

/// Sends a message of an HTTP session.
fn send(desk: &Desk, session: Option<&str>, message: &Value) -> Reply {
    let request = post("/mcp", message).agent("ada").header("accept", "application/json, text/event-stream");
    let request = match session {
        Some(session) => request.header("mcp-session-id", session).header("mcp-protocol-version", VERSION),
        None => request,
    };
    request.send_and_read(desk.api()).expect("an answer")
}

#[test]
fn a_session_over_http_is_whoever_asks() {
    let desk = desk_with_a_task(Backend::Sqlite);
    let hello = send(&desk, None, &initialize());
    assert_eq!(hello.status, 200, "{}", hello.text());
    let session = hello.header("mcp-session-id").expect("a session").to_owned();
    send(&desk, Some(&session), &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let claimed = send(&desk, Some(&session), &call(1, "claim", &json!({})));
    assert!(claimed.text().contains("Lay the track"), "{}", claimed.text());
    assert_eq!(desk.send(&get("/api/issues/1")).expect(200)["data"]["dispatch"]["holder"], "agent:ada");
    let foreign = post("/mcp", &initialize()).header("origin", "http://evil.example");
    desk.send(&foreign).refused(403, "cross_site");
}

#[test]
fn a_desk_that_stops_takes_back_what_its_sessions_hold() {
    let mut desk = desk_with_a_task(Backend::Sqlite);
    let hello = send(&desk, None, &initialize());
    let session = hello.header("mcp-session-id").expect("a session").to_owned();
    send(&desk, Some(&session), &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    send(&desk, Some(&session), &call(1, "claim", &json!({})));
    assert_eq!(state(&desk), "running");
    assert!(desk.terminate().success());
    desk.restart();
    assert_eq!(state(&desk), "queued");
}
