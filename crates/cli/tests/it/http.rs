//! The HTTP contract of `docs/api.md`, against the built binary.

mod bad_input;
mod dispatches;
mod guard;
mod issues;
mod limits;
mod patches;
mod reports;

use serde_json::{Value, json};

use crate::harness::{Desk, Reply, Request, get, post};

/// Makes one test per database of each function.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name(&mut crate::harness::Backend::Sqlite.desk()); })+
        }
        mod postgres {
            $(#[test] fn $name() { super::$name(&mut crate::harness::Backend::Postgres.desk()); })+
        }
    };
}
pub(crate) use on_both;

/// Creates an issue of a title and whatever else is said; returns it.
#[track_caller]
pub(crate) fn create(desk: &Desk, more: &Value) -> Value {
    let mut body = json!({"title": "a task", "type": "task", "status": "todo"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.send(&post("/api/issues", &body)).expect(201)["data"].clone()
}

/// Claims as an agent; returns the whole answer.
#[track_caller]
pub(crate) fn claim(desk: &Desk, agent: &str) -> Value {
    desk.send(&get("/api/dispatch/next").agent(agent)).expect(200)
}

/// Returns a report by whoever holds the dispatch's token.
pub(crate) fn report(next: &Value, verb: &str, body: &Value) -> Request {
    let path = format!("/api/dispatches/{}/{verb}", next["dispatch"]["id"].as_str().unwrap());
    post(&path, body).token(next["dispatch"]["token"].as_str().unwrap())
}

#[track_caller]
pub(crate) fn show(desk: &Desk, number: &Value) -> Value {
    desk.send(&get(&format!("/api/issues/{number}"))).expect(200)["data"].clone()
}

/// A request that must be refused, and part of the sentence it is refused with.
pub(crate) type Refusal<'a> = (Request, u16, &'a str, &'a str);

/// Checks each refusal, that it changed nothing, and that the desk goes on.
#[track_caller]
pub(crate) fn check_refusals(desk: &mut Desk, refusals: &[Refusal<'_>]) -> Vec<Reply> {
    let before = desk.issues();
    refusals
        .iter()
        .map(|(request, status, code, says)| {
            let reply = desk.send(request);
            assert_eq!(reply.status, *status, "{request:?}: {}", reply.text());
            let body = reply.refused(*status, code);
            let sentence = body["error"].as_str().unwrap();
            assert!(sentence.contains(says), "{request:?}: {sentence:?} does not say {says:?}");
            assert_eq!(desk.issues(), before, "{request:?} changed something");
            assert!(desk.is_running(), "{request:?}");
            reply
        })
        .collect()
}
