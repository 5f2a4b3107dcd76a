//! The `issues.jsonl` of beads: one issue a line, with what it depends on.
//!
//! The texts beads keeps apart (design, acceptance criteria, notes) become sections of the description, and
//! what a draft has no field for is put into words below them. The type becomes a label unless it is `task`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::draft::{Draft, Remark, Status};
use super::gather::Gather;
use super::links::{Link, Says};
use super::records::{self, Record};
use super::tally::Tally;
use super::value::{list, name, text, word};
use super::{ImportError, Outcome, key, priority};

/// Types that are no work but the machinery of beads.
const NO_WORK: &[&str] = &["message", "gate", "event"];
/// How a reason to close begins where the work was not done.
const NOT_DONE: &[&str] = &[
    "abandoned",
    "canceled",
    "cancelled",
    "duplicate of",
    "not planned",
    "obsolete",
    "superseded",
    "won't fix",
    "wontfix",
];
const SECTIONS: &[(&str, &str)] =
    &[("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes")];
const FACTS: &[(&str, &str)] = &[
    ("created_by", "created by"),
    ("assignee", "assigned to"),
    ("external_ref", "also known as"),
    ("due_at", "due"),
    ("defer_until", "deferred until"),
    ("close_reason", "closed because"),
];

/// Reads issues.
pub(super) fn read(text: &str, namespace: Option<&str>, gather: &mut Gather) -> Result<(), ImportError> {
    let mut left_out: BTreeMap<String, Tally> = BTreeMap::new();
    for record in records::read(text, gather)? {
        let id = record.value.get("id").and_then(word);
        if let Some(why) = objection(&record.value) {
            let name = id.unwrap_or_else(|| format!("line {}", record.line));
            left_out.entry(why).or_default().count(record.line, name);
            continue;
        }
        let Some(id) = id else {
            let message = "is not an issue: expected at least `id` and `title`".to_owned();
            gather.problem(record.line, Outcome::LeftOut, message);
            continue;
        };
        let key_of = |id: &str| key::of("beads", namespace, id);
        let draft = draft(&record, &id, key_of(&id), gather);
        let links = links(&record, &id, &key_of, gather);
        gather.add(draft, links)?;
    }
    for (why, tally) in left_out {
        tally.say(gather, Outcome::LeftOut, &why);
    }
    Ok(())
}

/// Says why a line is no issue to be worked on.
fn objection(value: &Value) -> Option<String> {
    let is_set = |field: &str| value.get(field).and_then(Value::as_bool).unwrap_or_default();
    let kind = text(value, &["issue_type"]).unwrap_or_default();
    if let Some(other) = text(value, &["_type"]).filter(|word| *word != "issue") {
        return Some(format!("what is of the kind `{other}` is not read, only issues are"));
    }
    if NO_WORK.contains(&kind) {
        return Some(format!("what is of the type `{kind}` is not work"));
    }
    if text(value, &["status"]) == Some("tombstone") {
        return Some("these were deleted there".to_owned());
    }
    let mark = ["ephemeral", "is_template"].into_iter().find(|mark| is_set(mark))?;
    Some(format!("what is marked `{mark}` is not work to be kept"))
}

fn draft(record: &Record<'_>, id: &str, key: String, gather: &mut Gather) -> Draft {
    let value = &record.value;
    let mut draft = Draft::new(key, text(value, &["title"]).unwrap_or_default(), record.line);
    let mut change = |message: String| {
        gather.problem(record.line, Outcome::Changed, format!("`{id}` {message}"));
    };
    draft.description = Some(description(value, id));
    draft.kind = Some("task".to_owned());
    draft.status = status(value, &mut change);
    // Older versions do not write a priority of 0, and beads reads none as 0.
    let number = value.get("priority").filter(|number| !number.is_null());
    draft.priority = number.map_or(Some(0), Value::as_i64).and_then(priority::from_p);
    if let (None, Some(number)) = (draft.priority, number) {
        change(format!("has the priority {number}, which was left out: expected 0 to 4"));
    }
    draft.labels = list(value, "labels").iter().filter_map(name).map(str::to_owned).collect();
    draft.labels.extend(text(value, &["issue_type"]).filter(|kind| *kind != "task").map(str::to_owned));
    let comments = list(value, "comments").iter();
    draft.comments = comments.filter_map(remark).collect();
    draft
}

fn status(value: &Value, change: &mut impl FnMut(String)) -> Status {
    match text(value, &["status"]).unwrap_or("open") {
        "open" | "blocked" => Status::Triage,
        "deferred" | "pinned" => Status::Backlog,
        "closed" => closed(text(value, &["close_reason"]).unwrap_or_default()),
        word @ ("in_progress" | "hooked") => {
            change(format!("is `{word}` there; it is read as open, as nobody holds it here"));
            Status::Triage
        }
        word => {
            change(format!(
                "is `{word}` there; it is read as open: expected open, in_progress, blocked, deferred or closed"
            ));
            Status::Triage
        }
    }
}

fn closed(reason: &str) -> Status {
    let reason = reason.trim().to_lowercase();
    let is_not_done = NOT_DONE.iter().any(|start| reason.starts_with(start));
    if is_not_done { Status::Canceled } else { Status::Done }
}

fn description(value: &Value, id: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(text(value, &["description"]).map(|text| text.trim_end().to_owned()));
    for (field, heading) in SECTIONS {
        parts.extend(text(value, &[field]).map(|text| format!("## {heading}\n\n{}", text.trim_end())));
    }
    let mut facts = vec![format!("From beads {id}")];
    for (field, words) in FACTS {
        facts.extend(text(value, &[field]).map(|text| format!("{words} {}", text.trim())));
    }
    if let Some(minutes) = value.get("estimated_minutes").and_then(Value::as_u64) {
        facts.push(format!("estimated at {minutes} minutes"));
    }
    parts.push(format!("({})", facts.join(", ")));
    parts.join("\n\n")
}

fn remark(value: &Value) -> Option<Remark> {
    let body = text(value, &["text", "body"])?.to_owned();
    Some(Remark::new(text(value, &["author"]).map(str::to_owned), body))
}

/// Returns what an issue depends on; `bd list --json` names the fields a little differently.
fn links(record: &Record<'_>, id: &str, key_of: &impl Fn(&str) -> String, gather: &mut Gather) -> Vec<Link> {
    let parent = record.value.get("parent").and_then(word);
    let link = |parent: String| Link { from: key_of(id), says: Says::Parent, to: key_of(&parent) };
    let mut links: Vec<Link> = parent.map(link).into_iter().collect();
    for dependency in list(&record.value, "dependencies") {
        let other = ["depends_on_id", "id"].iter().find_map(|name| word(dependency.get(name)?));
        let Some(other) = other else {
            let message = format!("`{id}` has a dependency without `depends_on_id`, which was left out");
            gather.problem(record.line, Outcome::Changed, message);
            continue;
        };
        let from = dependency.get("issue_id").and_then(word).unwrap_or_else(|| id.to_owned());
        let kind = text(dependency, &["type", "dependency_type"]).unwrap_or("blocks");
        let (says, loss) = meaning(kind);
        if let Some(loss) = loss {
            let message = format!("`{id}` depends on `{other}` by `{kind}`, which {loss}");
            gather.problem(record.line, Outcome::Changed, message);
        }
        if let Some(says) = says {
            links.push(Link { from: key_of(&from), says, to: key_of(&other) });
        }
    }
    links
}

/// Returns what a kind of dependency means here, and what is lost by that.
fn meaning(kind: &str) -> (Option<Says>, Option<&'static str>) {
    match kind {
        "blocks" | "waits-for" => (Some(Says::BlockedBy), None),
        "parent-child" => (Some(Says::Parent), None),
        "related" | "relates-to" | "discovered-from" => (Some(Says::Related), None),
        "authored-by" | "assigned-to" | "approved-by" | "attests" => {
            (None, Some("is about a person and was left out"))
        }
        "conditional-blocks" => (Some(Says::Related), Some("does not exist here and was read as related")),
        _ => (Some(Says::Related), Some("was read as related")),
    }
}
