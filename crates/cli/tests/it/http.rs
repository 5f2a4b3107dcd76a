//! The HTTP contract of `docs/api.md`, against the built binary.

mod artifacts;
mod bad_input;
mod choice;
mod dashboard;
mod dispatches;
mod doctor;
mod events;
mod guard;
mod hierarchy;
mod improvement;
mod inbox;
mod instructions;
mod issues;
mod labels;
mod limits;
mod line;
mod page;
mod patches;
mod projects;
mod prompts;
mod relations;
mod reports;
mod reviews;
mod rules;
mod signals;
mod strangers;
mod templates;
mod tokens;
mod versions;
mod waiting;
mod webhooks;
mod why;

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

/// Creates a template that asks for more than the shipped ones do, with one version; returns it as it is then.
#[track_caller]
pub(crate) fn template(desk: &Desk, slug: &str, more: &Value, content: &str) -> Value {
    let mut body = json!({"slug": slug, "name": slug, "specificity": 90});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.send_as_person(post("/api/templates", &body)).expect(201);
    version(desk, slug, content);
    desk.send_as_person(get(&format!("/api/templates/{slug}"))).expect(200)["data"].clone()
}

/// Adds a version to a template; returns it.
#[track_caller]
pub(crate) fn version(desk: &Desk, slug: &str, content: &str) -> Value {
    let path = format!("/api/templates/{slug}/versions");
    desk.send_as_person(post(&path, &json!({"content": content}))).expect(201)["data"].clone()
}

/// Promotes a version, by its number.
#[track_caller]
pub(crate) fn promote(desk: &Desk, slug: &str, number: i64) -> Value {
    let path = format!("/api/templates/{slug}/versions/{number}/promote");
    desk.send_as_person(post(&path, &Value::Null)).expect(200)["data"].clone()
}

/// Returns the request for a review by a person, with the same mark for everything.
pub(crate) fn review(version: &Value, issue: &Value, mark: i64) -> Request {
    let body = json!({
        "versionId": version, "issueId": issue, "clarity": mark, "completeness": mark, "relevance": mark
    });
    post("/api/prompt-reviews", &body)
}

/// Returns the prompt an issue would get, and what it would be made by.
#[track_caller]
pub(crate) fn preview(desk: &Desk, number: &Value) -> Value {
    desk.send_as_person(get(&format!("/api/templates/preview/{number}"))).expect(200)
}

/// Returns the labels' names.
pub(crate) fn label_names(issue: &Value) -> Vec<&str> {
    issue["labels"].as_array().unwrap().iter().map(|label| label["name"].as_str().unwrap()).collect()
}

/// Returns a report by whoever holds the dispatch's token.
pub(crate) fn report(next: &Value, verb: &str, body: &Value) -> Request {
    let path = format!("/api/dispatches/{}/{verb}", next["dispatch"]["id"].as_str().unwrap());
    post(&path, body).token(next["dispatch"]["token"].as_str().unwrap())
}

/// Checks that there is nothing to hand out, and why.
#[track_caller]
pub(crate) fn check_nothing(desk: &Desk, request: &Request, reason: &str) {
    let reply = desk.send(request);
    assert_eq!((reply.status, reply.header("extraboard-reason")), (204, Some(reason)), "{request:?}");
    assert_eq!(reply.header("retry-after"), Some("1"));
}

/// Returns the numbers of a list, of issues or of places in line.
#[track_caller]
pub(crate) fn numbers(list: &Value) -> Vec<i64> {
    let number = |entry: &Value| {
        let issue = if entry["issue"].is_object() { &entry["issue"] } else { entry };
        issue["number"].as_i64().unwrap()
    };
    list["data"].as_array().unwrap().iter().map(number).collect()
}

/// Returns the names of an object's fields, sorted.
pub(crate) fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[track_caller]
pub(crate) fn show(desk: &Desk, number: &Value) -> Value {
    desk.send(&get(&format!("/api/issues/{number}"))).expect(200)["data"].clone()
}

/// A request that must be refused, and part of the sentence it is refused with.
pub(crate) type Refusal<'a> = (Request, u16, &'a str, &'a str);

pub(crate) fn bad_request(request: Request, says: &str) -> Refusal<'_> {
    (request, 400, "bad_request", says)
}

pub(crate) fn invalid(request: Request, says: &str) -> Refusal<'_> {
    (request, 422, "validation", says)
}

/// Checks that each refusal names its field in the details too.
#[track_caller]
pub(crate) fn check_fields(desk: &mut Desk, refusals: &[Refusal<'_>]) {
    for (reply, (_, _, _, says)) in check_refusals(desk, refusals).iter().zip(refusals) {
        let field = says.split(':').next().unwrap();
        let details = reply.json()["details"].clone();
        let named =
            details.as_array().is_some_and(|fields| fields.iter().any(|entry| entry["field"] == field));
        assert!(named, "{field} is not named in {details}");
    }
}

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
