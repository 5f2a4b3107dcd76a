//! The tools: one set for both transports.
//!
//! Descriptions are written for the model that reads them: when to call, what comes back, what to do next.

mod desk;
mod params;
mod review;
mod work;

use std::sync::{Arc, LazyLock};

use extraboard_api::client::Client;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::reply::{Refusal, Reply};
use crate::session::Session;

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Call<'s> {
    pub(crate) session: &'s Arc<Session>,
    /// Speaks for the caller.
    pub(crate) client: Client,
    /// Cancelled when the client does not want the answer any more.
    pub(crate) canceled: CancellationToken,
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let mut tools = work_tools();
    tools.extend(end_tools());
    tools.extend(desk_tools());
    tools
});

/// Returns all tools.
pub(crate) fn list() -> &'static [Tool] {
    &TOOLS
}

/// Returns whether there is a tool of that name.
pub(crate) fn is_known(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

/// Calls a tool.
pub(crate) async fn call(
    call: &Call<'_>,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<Reply, Refusal> {
    match name {
        "claim" => work::claim(call, parse(arguments)?).await,
        "heartbeat" => work::heartbeat(call, parse(arguments)?).await,
        "progress" => work::progress(call, parse(arguments)?).await,
        "review" => review::review(call, parse(arguments)?).await,
        "complete" => work::complete(call, parse(arguments)?).await,
        "fail" => work::fail(call, parse(arguments)?).await,
        "release" => work::release(call, parse(arguments)?).await,
        "ask" => work::ask(call, parse(arguments)?).await,
        "create" => desk::create(call, parse(arguments)?).await,
        "relate" => desk::relate(call, parse(arguments)?).await,
        "signal" => desk::signal(call, parse(arguments)?).await,
        "queue" => desk::queue(call, parse(arguments)?).await,
        "why" => desk::why(call, parse(arguments)?).await,
        "comment" => desk::comment(call, parse(arguments)?).await,
        "inbox" => desk::inbox(call, parse(arguments)?).await,
        other => Err(Refusal::bad_parameter(format!("there is no tool `{other}`"))),
    }
}

fn parse<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| Refusal::bad_parameters(&error))
}

/// Returns the tools for what one does with work until it ends.
fn work_tools() -> Vec<Tool> {
    vec![
        tool::<params::Claim>(
            "claim",
            "Take work",
            "Take the next task from the desk. Call it when you are free and want something to do. It answers \
             with the task's prompt and a dispatch, which this session then holds, or with `claimed: false` and \
             the reason why there is nothing (with waitSeconds it waits that long for something to come). After \
             a claim: do what the prompt says; call heartbeat at least every half of leaseSeconds; end with \
             exactly one of complete, fail, release or ask. Every tool result lists orders: obey `order: stop` \
             by ending the work and calling release. You may claim again while you hold something, but then name \
             the dispatch in reports.",
            CHANGES,
        ),
        tool::<params::Heartbeat>(
            "heartbeat",
            "Say that you are still at it",
            "Say that you still work on the task you hold: it renews the lease and answers with the order. Call \
             it at least every half of leaseSeconds, and before long steps. If the order is `stop`, end the work \
             and call release.",
            REPEATABLE,
        ),
        tool::<params::ProgressReport>(
            "progress",
            "Say how far you are",
            "Tell people how far the task you hold has come; it is a heartbeat too. Call it after each step that \
             is worth telling. It replaces what was said before.",
            REPEATABLE,
        ),
        tool::<params::Review>(
            "review",
            "Rate the prompt",
            "Rate the prompt of the task you hold (not the task, nor your work): prompts that do badly are \
             rewritten. Call it once, when the prompt asks to be rated or kept you from working well, and before \
             complete, fail, release or ask: afterwards it is too late. Be honest, and say in feedback what would \
             have helped. It ends nothing; go on and report as usual. A prompt that no template made cannot be \
             rated.",
            REPEATABLE,
        ),
    ]
}

/// Returns the tools that end work: one of them is called, once.
fn end_tools() -> Vec<Tool> {
    vec![
        tool::<params::Complete>(
            "complete",
            "Hand in finished work",
            "Say that the task you hold is done, and hand in what came of it. Call it once, only when the work is \
             really done and checked; say in agentSummary what you did. The session then does not hold it any \
             more: claim the next, or stop.",
            REPEATABLE,
        ),
        tool::<params::Fail>(
            "fail",
            "Say that it went wrong",
            "Say that the task you hold went wrong, and how. `class` decides what the desk does next; with \
             `retryable: false` nobody tries again. Call it instead of complete when you cannot do what was \
             asked. Use release if you merely cannot do it now, ask if a person's answer would help.",
            REPEATABLE,
        ),
        tool::<params::Release>(
            "release",
            "Give it back",
            "Give the task you hold back as it was: somebody else gets it, and it costs the task nothing. Call it \
             when the order is `stop`, or when you cannot go on for reasons that lie with you.",
            REPEATABLE,
        ),
        tool::<params::Ask>(
            "ask",
            "Ask a person",
            "Ask a person something you cannot decide or find out. It ends your work on the task: it is blocked \
             until somebody answers, and then handed out again with question and answer in its prompt. Ask all \
             you need to know at once, with what you found and what you suggest.",
            REPEATABLE,
        ),
    ]
}

/// Returns the tools that look at the desk, or add to it.
fn desk_tools() -> Vec<Tool> {
    vec![
        tool::<params::Create>(
            "create",
            "Add a task",
            "Add a task (an issue) to the desk, for you or others to do later. Call it when you find work that is \
             not part of your task, or to split work up. Without `status` a person looks at it first (triage); \
             `todo` puts it in line at once. With `externalKey` it is added once only, however often you call. \
             Answers with its number.",
            CHANGES,
        ),
        tool::<params::Relate>(
            "relate",
            "Relate two tasks",
            "Relate two tasks: one `blocks` the other, is `blocked_by` it, is `related` or a `duplicate`. A task \
             that is blocked is handed out only when its blockers are done. A relation that is there already is \
             answered again.",
            REPEATABLE,
        ),
        tool::<params::Signal>(
            "signal",
            "Say that something happened",
            "Tell the desk that something happened in the world that somebody should look into: a build that \
             failed, an error rate that rose, a user's report. The desk keeps it and makes a task of the type \
             signal of it, for triage unless the project says otherwise. Call it for what you saw; use create if \
             you know what is to be done, fail if it is your own task that went wrong. Each call makes a new \
             task, so tell a thing once. Answers with the task's number.",
            CHANGES,
        ),
        tool::<params::Queue>(
            "queue",
            "Look at the line",
            "List what would be handed out to you, in that order, without taking it. With `all` it lists \
             everything in line, with the gates that keep it from you.",
            LOOKS,
        ),
        tool::<params::Why>(
            "why",
            "Why does it wait?",
            "Say why a task runs, waits or never will, and what would start it. Call it when a task you expect is \
             not handed out. Answers with a verdict, what is in its way, and what would change that.",
            LOOKS,
        ),
        tool::<params::Comment>(
            "comment",
            "Talk about a task",
            "Write a comment on a task, or read what was said about it if you leave `body` out. Without `issue` \
             it is about the task you hold. Comments do not stop the work; use ask if you need an answer to go on.",
            CHANGES,
        ),
        tool::<params::Inbox>(
            "inbox",
            "What waits for a person",
            "List what waits for a person: questions that agents asked, tasks that are blocked or were given up. \
             Call it to tell the user about them; only a person can answer (`xb answer`).",
            LOOKS,
        ),
    ]
}

/// What calling a tool does to the desk.
#[derive(Clone, Copy)]
struct Effect {
    read_only: bool,
    idempotent: bool,
}

const LOOKS: Effect = Effect { read_only: true, idempotent: true };
const REPEATABLE: Effect = Effect { read_only: false, idempotent: true };
const CHANGES: Effect = Effect { read_only: false, idempotent: false };

fn tool<P: JsonSchema + 'static>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(effect.read_only)
        .idempotent(effect.idempotent)
        .destructive(false)
        .open_world(false);
    Tool::new(name, description, input_schema::<P>()).with_title(title).with_annotations(annotations)
}

/// Returns the schema of a tool's parameters, in the plain form that all clients understand.
fn input_schema<P: JsonSchema + 'static>() -> JsonObject {
    let mut schema = Value::from(schemars::schema_for!(P));
    plain(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    schema
}

/// Drops Rust's number formats and defaults of null, at which some clients stumble.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(is_rust_format) {
                object.remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_rust_format(format: &Value) -> bool {
    matches!(format.as_str(), Some("int64" | "uint64" | "double" | "uint32" | "int32" | "float" | "uint"))
}
