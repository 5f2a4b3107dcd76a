//! The things templates speak of, and the names of their fields: those of the API.
//!
//! Here it is decided, field by field, what is ours, what is a line from outside and what a
//! text from outside.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::id::TaskNumber;
use extraboard_core::label::TaskLabel;
use extraboard_core::project::{Goal, Project};
use extraboard_core::prompt::{Improved, Relative, Remark, Session};
use extraboard_core::status::Status;

use crate::input::{Input, Source, moment};
use crate::value::Value;

/// What stands outside of all blocks.
#[rustfmt::skip]
const ROOT: &[&str] = &[
    "issue", "parent", "siblings", "children", "project", "goal", "labels", "blocking", "blockedBy",
    "previousSessions", "hasFailedSessions", "comments", "door", "serverUrl", "dispatchId",
    "askForReview", "improves", "meta",
];
/// The fields of the task itself.
#[rustfmt::skip]
const ISSUE: &[&str] = &[
    "id", "number", "title", "description", "type", "status", "state", "priority", "priorityValue",
    "boost", "needs", "owner", "labels", "externalKey", "projectId", "parentId", "depth",
    "inputArtifact", "maxRetries", "attempt", "signalSource", "signalPayload", "hypothesis",
    "agentSummary", "lastError", "result", "commits", "pullRequests", "question", "answer", "createdAt",
    "updatedAt", "startedAt",
];

/// A thing with fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object<'a> {
    /// What stands outside of all blocks.
    Root(&'a Input<'a>),
    /// The task itself.
    Issue(&'a Input<'a>),
    /// A task that stands around it.
    Relative(&'a Relative),
    /// Its project.
    Project(&'a Project),
    /// That project's goal.
    Goal(&'a Goal),
    /// A label.
    Label(&'a TaskLabel),
    /// An earlier attempt, and the number of the task itself.
    Session(&'a Session, TaskNumber),
    /// A comment.
    Remark(&'a Remark),
    /// A version that is to be made better.
    Improved(&'a Improved),
    /// What the prompt is made by.
    Meta(&'a Source<'a>),
}

/// Many things.
#[derive(Clone, Copy, Debug)]
pub(crate) enum List<'a> {
    /// Tasks.
    Relatives(&'a [Relative]),
    /// Labels.
    Labels(&'a [TaskLabel]),
    /// Earlier attempts, and the number of the task itself.
    Sessions(&'a [Session], TaskNumber),
    /// Comments.
    Remarks(&'a [Remark]),
    /// Words for what a task needs.
    Needs(&'a Capabilities),
}

impl<'a> List<'a> {
    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Relatives(list) => list.len(),
            Self::Labels(list) => list.len(),
            Self::Sessions(list, _) => list.len(),
            Self::Remarks(list) => list.len(),
            Self::Needs(words) => words.words().count(),
        }
    }

    /// Returns one of them.
    pub(crate) fn get(&self, index: usize) -> Value<'a> {
        let object = match *self {
            Self::Relatives(list) => list.get(index).map(Object::Relative),
            Self::Labels(list) => list.get(index).map(Object::Label),
            Self::Sessions(list, own) => list.get(index).map(|session| Object::Session(session, own)),
            Self::Remarks(list) => list.get(index).map(Object::Remark),
            Self::Needs(words) => return Value::line(words.words().nth(index)),
        };
        object.map_or(Value::Nothing, Value::Object)
    }
}

impl<'a> Object<'a> {
    /// Returns the names of its fields. Those of the token are missing: it is to be asked for by name.
    pub(crate) const fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Root(_) => ROOT,
            Self::Issue(_) => ISSUE,
            Self::Relative(_) => {
                &["id", "number", "title", "description", "type", "status", "state", "agentSummary"]
            }
            Self::Project(_) => &["id", "name", "description", "status", "health"],
            Self::Goal(_) => {
                &["id", "title", "description", "metric", "targetValue", "currentValue", "unit", "status"]
            }
            Self::Label(_) => &["id", "name", "color"],
            Self::Session(..) => {
                &["number", "attempt", "status", "failed", "agentSummary", "error", "own", "endedAt"]
            }
            Self::Remark(_) => &["author", "authorType", "kind", "body", "createdAt"],
            Self::Improved(_) => &["slug", "version", "content"],
            Self::Meta(_) => &["templateId", "templateSlug", "versionId", "versionNumber"],
        }
    }

    /// Returns a field.
    pub(crate) fn get(&self, key: &str) -> Value<'a> {
        match *self {
            Self::Root(input) => root(input, key),
            Self::Issue(input) => issue(input, key),
            Self::Relative(relative) => of_relative(relative, key),
            Self::Project(project) => of_project(project, key),
            Self::Goal(goal) => of_goal(goal, key),
            Self::Label(label) => of_label(label, key),
            Self::Session(session, own) => of_session(session, own, key),
            Self::Remark(remark) => of_remark(remark, key),
            Self::Improved(improved) => of_improved(improved, key),
            Self::Meta(source) => meta(source, key),
        }
    }
}

fn root<'a>(input: &'a Input<'a>, key: &str) -> Value<'a> {
    let context = input.context;
    let thing = |object: Option<Object<'a>>| object.map_or(Value::Nothing, Value::Object);
    match key {
        "issue" => Value::Object(Object::Issue(input)),
        "parent" => thing(context.parent.as_ref().map(Object::Relative)),
        "project" => thing(context.project.as_ref().map(Object::Project)),
        "goal" => thing(context.goal.as_ref().map(Object::Goal)),
        "improves" => thing(context.improves.as_ref().map(Object::Improved)),
        "meta" => Value::Object(Object::Meta(input.source)),
        "siblings" => Value::List(List::Relatives(&context.siblings)),
        "children" => Value::List(List::Relatives(&context.children)),
        "blocking" => Value::List(List::Relatives(&context.blocking)),
        "blockedBy" => Value::List(List::Relatives(&context.blocked_by)),
        "labels" => Value::List(List::Labels(&context.task.labels)),
        "previousSessions" => Value::List(List::Sessions(&context.sessions, context.task.number)),
        "comments" => Value::List(List::Remarks(&context.comments)),
        "hasFailedSessions" => Value::Flag(context.has_failed_sessions),
        "askForReview" => Value::Flag(context.ask_for_review),
        "door" => Value::word(context.door.as_str()),
        "serverUrl" | "loopUrl" => Value::word(&input.url),
        "token" | "loopToken" => Value::word(&input.token),
        "dispatchId" => context.dispatch.map_or(Value::word("[id of the dispatch]"), Value::shown),
        _ => Value::Nothing,
    }
}

fn issue<'a>(input: &'a Input<'a>, key: &str) -> Value<'a> {
    let task = &input.context.task;
    match key {
        "id" => Value::shown(task.id),
        "number" => Value::number(task.number.0),
        "title" => Value::Line(&task.title),
        "description" => Value::text(task.description.as_deref(), "description"),
        "type" => Value::word(task.kind.as_str()),
        "status" => Value::word(Status::of(task.state).as_str()),
        "state" => Value::word(task.state.as_str()),
        "priority" => Value::number(task.priority.level().tracker()),
        "priorityValue" => Value::number(task.priority.points()),
        "boost" => Value::number(task.boost),
        "needs" => Value::List(List::Needs(&task.needs)),
        "owner" => Value::line(task.owner.as_deref()),
        "labels" => Value::List(List::Labels(&task.labels)),
        "externalKey" => Value::line(task.external_key.as_deref()),
        "projectId" => task.project_id.map_or(Value::Nothing, Value::shown),
        "parentId" => task.parent_id.map_or(Value::Nothing, Value::shown),
        "depth" => Value::number(task.depth),
        "inputArtifact" => Value::line(task.artifact.as_deref()),
        "maxRetries" => Value::number(task.max_retries),
        "attempt" => Value::number(task.attempt),
        "signalSource" => Value::line(task.signal_source.as_deref()),
        "signalPayload" => input.payload(),
        "hypothesis" => input.hypothesis(),
        "result" => input.result(),
        "commits" => input.commits(),
        "pullRequests" => input.pull_requests(),
        "agentSummary" => Value::text(task.agent_summary.as_deref(), "summary"),
        "lastError" => Value::text(task.last_error.as_deref(), "error"),
        "question" => Value::text(task.question.as_deref(), "question"),
        "answer" => Value::text(task.answer.as_deref(), "answer"),
        "createdAt" => moment(task.created_at),
        "updatedAt" => moment(task.updated_at),
        "startedAt" => task.started_at.map_or(Value::Nothing, moment),
        _ => Value::Nothing,
    }
}

fn of_relative<'a>(relative: &'a Relative, key: &str) -> Value<'a> {
    match key {
        "id" => Value::shown(relative.id),
        "number" => Value::number(relative.number.0),
        "title" => Value::Line(&relative.title),
        "description" => Value::text(relative.description.as_deref(), "description"),
        "type" => Value::word(relative.kind.as_str()),
        "status" => Value::word(Status::of(relative.state).as_str()),
        "state" => Value::word(relative.state.as_str()),
        "agentSummary" => Value::text(relative.agent_summary.as_deref(), "summary"),
        _ => Value::Nothing,
    }
}

fn of_project<'a>(project: &'a Project, key: &str) -> Value<'a> {
    match key {
        "id" => Value::shown(project.id),
        "name" => Value::Line(&project.name),
        "description" => Value::text(project.description.as_deref(), "description"),
        "status" => Value::word(project.status.as_str()),
        "health" => Value::word(project.health.as_str()),
        _ => Value::Nothing,
    }
}

fn of_goal<'a>(goal: &'a Goal, key: &str) -> Value<'a> {
    match key {
        "id" => Value::shown(goal.id),
        "title" => Value::Line(&goal.title),
        "description" => Value::text(goal.description.as_deref(), "description"),
        "metric" => Value::line(goal.metric.as_deref()),
        "targetValue" => measure(goal.target_value.as_deref()),
        "currentValue" => measure(goal.current_value.as_deref()),
        "unit" => Value::line(goal.unit.as_deref()),
        "status" => Value::word(goal.status.as_str()),
        _ => Value::Nothing,
    }
}

/// Reads a number that is kept as a text; what is none is from outside like any other line.
fn measure(text: Option<&str>) -> Value<'_> {
    match text.and_then(|text| serde_json::from_str(text).ok()) {
        Some(number) => Value::Number(number),
        None => Value::line(text),
    }
}

fn of_label<'a>(label: &'a TaskLabel, key: &str) -> Value<'a> {
    match key {
        "id" => Value::shown(label.id),
        "name" => Value::Line(&label.name),
        "color" => Value::Line(&label.color),
        _ => Value::Nothing,
    }
}

fn of_session<'a>(session: &'a Session, own: TaskNumber, key: &str) -> Value<'a> {
    match key {
        "number" => Value::number(session.task.0),
        "attempt" => Value::number(session.fence),
        "status" => Value::word(session.status()),
        "failed" => Value::Flag(session.has_failed()),
        "agentSummary" => Value::text(session.summary.as_deref(), "summary"),
        "error" => Value::text(session.error.as_deref(), "error"),
        "own" => Value::Flag(session.task == own),
        "endedAt" => moment(session.ended_at),
        _ => Value::Nothing,
    }
}

fn of_remark<'a>(remark: &'a Remark, key: &str) -> Value<'a> {
    match key {
        "author" => Value::Line(&remark.author),
        "authorType" => Value::word(remark.author_type.as_str()),
        "kind" => Value::word(remark.kind.as_str()),
        "body" => Value::text(Some(&remark.body), "comment"),
        "createdAt" => moment(remark.created_at),
        _ => Value::Nothing,
    }
}

fn of_improved<'a>(improved: &'a Improved, key: &str) -> Value<'a> {
    match key {
        // Letters, digits and dashes: it may stand in an address.
        "slug" => Value::word(&improved.slug),
        "version" => Value::number(improved.number),
        "content" => Value::text(Some(&improved.content), "template"),
        _ => Value::Nothing,
    }
}

fn meta<'a>(source: &'a Source<'a>, key: &str) -> Value<'a> {
    match key {
        "templateId" => Value::shown(source.template),
        "templateSlug" => Value::Line(source.slug),
        "versionId" => Value::shown(source.version),
        "versionNumber" => Value::number(source.number),
        _ => Value::Nothing,
    }
}
