//! A desk that answers as it is told and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long a test waits for something to happen before it gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// One request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Such as `POST /api/dispatch/next?wait=5s`.
    pub(crate) line: String,
    pub(crate) token: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) body: Value,
}

/// What to answer instead of the usual.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Json(u16, Value),
    /// 204, with a reason.
    Nothing(&'static str),
    /// No answer at all.
    Never,
}

#[derive(Debug, Default)]
struct Script {
    /// By the beginning of a request's line, used up in order.
    once: Vec<(String, VecDeque<Answer>)>,
    always: Vec<(String, Answer)>,
    claims: i64,
    lease_secs: i64,
}

/// The fake desk; it is gone with the test's runtime.
#[derive(Debug, Clone)]
pub(crate) struct FakeDesk {
    pub(crate) url: String,
    script: Arc<Mutex<Script>>,
    seen: watch::Sender<Vec<Seen>>,
}

impl FakeDesk {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let script = Script { lease_secs: 3600, ..Script::default() };
        let desk = Self { url, script: Arc::new(Mutex::new(script)), seen: watch::Sender::new(Vec::new()) };
        let router = Router::new().fallback(answer).with_state(desk.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        desk
    }

    /// Hands out dispatches with leases of this length.
    pub(crate) fn lease(&self, secs: i64) {
        self.script.lock().unwrap().lease_secs = secs;
    }

    /// Answers the next request whose line begins so.
    pub(crate) fn once(&self, line: &str, answer: Answer) {
        let mut script = self.script.lock().unwrap();
        match script.once.iter_mut().find(|(known, _)| known == line) {
            Some((_, answers)) => answers.push_back(answer),
            None => script.once.push((line.to_owned(), VecDeque::from([answer]))),
        }
    }

    /// Answers all requests whose line begins so.
    pub(crate) fn always(&self, line: &str, answer: Answer) {
        self.script.lock().unwrap().always.push((line.to_owned(), answer));
    }

    /// Returns the requests whose line begins so.
    pub(crate) fn seen(&self, line: &str) -> Vec<Seen> {
        self.seen.borrow().iter().filter(|seen| seen.line.starts_with(line)).cloned().collect()
    }

    /// Waits until there were so many requests whose line begins so.
    pub(crate) async fn wait_for(&self, line: &str, count: usize) -> Vec<Seen> {
        let mut seen = self.seen.subscribe();
        let enough = |all: &Vec<Seen>| all.iter().filter(|seen| seen.line.starts_with(line)).count() >= count;
        let waiting = tokio::time::timeout(PATIENCE, seen.wait_for(enough)).await;
        assert!(waiting.is_ok(), "{line} did not come {count} times: {:?}", self.seen.borrow());
        self.seen(line)
    }

    fn choose(&self, line: &str) -> Answer {
        let mut script = self.script.lock().unwrap();
        let once = script.once.iter_mut().find(|(known, _)| line.starts_with(known));
        if let Some(answer) = once.and_then(|(_, answers)| answers.pop_front()) {
            return answer;
        }
        if let Some((_, answer)) = script.always.iter().find(|(known, _)| line.starts_with(known)) {
            return answer.clone();
        }
        usual(&mut script, line)
    }
}

/// What a desk would say on a good day. The nth claim hands out dispatch `d<n>` of issue 40 + n.
fn usual(script: &mut Script, line: &str) -> Answer {
    let parts: Vec<&str> = line.split([' ', '/', '?']).filter(|part| !part.is_empty()).collect();
    match *parts {
        ["POST", "api", "dispatch", "next", ..] => {
            script.claims += 1;
            let (n, lease) = (script.claims, script.lease_secs);
            Answer::Json(200, next(n, lease, &meta()))
        }
        ["POST", "api", "dispatches", id, report] => {
            let number = 40 + id.trim_start_matches('d').parse::<i64>().unwrap_or(0);
            let (status, lease) = match report {
                "heartbeat" => ("in_progress", Some(script.lease_secs)),
                "complete" => ("done", None),
                "fail" | "release" => ("todo", None),
                _ => ("blocked", None),
            };
            Answer::Json(200, reply("continue", None, lease, &issue(number, status)))
        }
        ["GET", "api", "dispatches", id, "prompt"] => {
            Answer::Json(200, json!({"data": {"dispatchId": id, "number": 41, "prompt": "# Do it"}}))
        }
        ["GET", "api", "dispatch", "queue", ..] => {
            let entry = json!({"issue": issue(9, "todo"), "score": 72, "breakdown": {}});
            Answer::Json(200, json!({"data": [entry], "total": 1}))
        }
        ["GET", "api", "issues", number] => {
            Answer::Json(200, json!({"data": issue(number.parse().unwrap_or(0), "todo")}))
        }
        ["POST", "api", "prompt-reviews"] => Answer::Json(
            201,
            json!({"data": {
                "id": "r1", "versionId": "v2", "issueId": "uuid-41", "clarity": 4, "completeness": 5,
                "relevance": 3, "feedback": null, "authorType": "agent", "authorName": "curly",
                "createdAt": "2026-01-01T00:00:00Z"
            }}),
        ),
        ["POST", "api", "issues"] => Answer::Json(201, json!({"data": issue(77, "triage")})),
        _ => Answer::Json(404, json!({"error": "There is no such thing.", "code": "not_found"})),
    }
}

/// Returns the answer to a claim: dispatch `d<n>` of issue 40 + n.
pub(crate) fn next(n: i64, lease_secs: i64, meta: &Value) -> Value {
    json!({
        "issue": issue(40 + n, "in_progress"), "prompt": format!("Do task {}.", 40 + n), "meta": meta,
        "dispatch": {"id": format!("d{n}"), "attempt": 1, "fence": 1, "token": format!("xbd_{n}"),
                     "leaseSeconds": lease_secs}
    })
}

/// Returns what prompts are made by.
fn meta() -> Value {
    json!({
        "templateSlug": "task-execution", "templateId": "t1", "versionId": "v2", "versionNumber": 2,
        "reviewUrl": "POST /api/prompt-reviews"
    })
}

/// Returns the answer to a report.
pub(crate) fn reply(order: &str, reason: Option<&str>, lease: Option<i64>, issue: &Value) -> Value {
    json!({"order": order, "reason": reason, "leaseSeconds": lease, "issue": issue})
}

/// Returns an issue as every route shows it.
pub(crate) fn issue(number: i64, status: &str) -> Value {
    json!({
        "id": format!("uuid-{number}"), "number": number, "title": format!("Task {number}"), "description": null,
        "type": "code", "status": status, "state": status, "priority": 3, "priorityValue": 50, "maxRetries": 3,
        "attempt": 1, "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
    })
}

async fn answer(State(desk): State<FakeDesk>, request: Request) -> Response<Body> {
    let line = format!("{} {}", request.method(), request.uri());
    let headers = request.headers().clone();
    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let seen = Seen {
        line: line.clone(),
        token: header(&headers, "authorization").map(|text| text.replace("Bearer ", "")),
        agent: header(&headers, "x-agent-id"),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    desk.seen.send_modify(|all| all.push(seen));
    let response = Response::builder().header("content-type", "application/json");
    match desk.choose(&line) {
        Answer::Json(status, body) => response.status(status).body(Body::from(body.to_string())).unwrap(),
        Answer::Nothing(reason) => {
            response.status(204).header("extraboard-reason", reason).body(Body::empty()).unwrap()
        }
        Answer::Never => std::future::pending().await,
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned())
}
