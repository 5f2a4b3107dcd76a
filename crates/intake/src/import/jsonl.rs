//! Our own format: one JSON object a line, with the fields of an exported issue; only `title` is required.
//!
//! What people write by hand is read too: labels and comments as plain texts, other issues by `id`. A field
//! nobody knows is named, so that a misspelt one is not silently nothing.

mod terms;

use serde_json::{Map, Value};

use super::draft::{Draft, Remark, Status};
use super::gather::Gather;
use super::links::{Link, Says};
use super::records::{self, Record};
use super::value::{name, text, word};
use super::{ImportError, Outcome, key, priority};
use crate::text::short_line;

/// What is read.
const FIELDS: &[&str] = &[
    "key",
    "externalKey",
    "id",
    "title",
    "description",
    "type",
    "status",
    "priority",
    "priorityValue",
    "labels",
    "parent",
    "blockedBy",
    "related",
    "comments",
    "owner",
    "needs",
    "boost",
    "doors",
    "maxRetries",
    "notBefore",
    "inputArtifact",
    "gatedByParent",
    "signalSource",
    "signalPayload",
    "hypothesis",
];
/// What an export says for people and another desk gives anew.
const PASSED_OVER: &[&str] = &["number", "project", "state", "createdAt", "updatedAt", "completedAt", "url"];
/// The desk's types.
const KINDS: &[&str] = &["signal", "hypothesis", "plan", "spec", "phase", "code", "task", "monitor"];
/// The longest piece of a file that a problem shows, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Reads issues.
pub(super) fn read(text: &str, namespace: Option<&str>, gather: &mut Gather) -> Result<(), ImportError> {
    let mut names = Vec::new();
    for record in records::read(text, gather)? {
        let Value::Object(fields) = &record.value else { continue };
        let key = key_of(fields, namespace, record.text);
        let mut reader = Reader { fields, key: &key, line: record.line, gather: &mut *gather };
        reader.check_names();
        let draft = reader.draft(&record);
        let links = reader.links();
        for alias in ["key", "externalKey", "id"].iter().filter_map(|field| word(fields.get(*field)?)) {
            names.push((alias, key.clone()));
        }
        gather.add(draft, links)?;
    }
    // Keys are known by now, so that no `id` stands for what another line calls its key.
    for (alias, key) in names {
        gather.name(alias, &key);
    }
    Ok(())
}

/// Returns the key of a line: the one it names, or one made of its id, or of the whole line.
fn key_of(fields: &Map<String, Value>, namespace: Option<&str>, line: &str) -> String {
    let named = ["key", "externalKey"].iter().find_map(|field| word(fields.get(*field)?));
    let named = named.map(|name| key::fit(&name)).filter(|key| !key.is_empty());
    let by_id = || Some(key::of("jsonl", namespace, &word(fields.get("id")?)?));
    named.or_else(by_id).unwrap_or_else(|| key::of("jsonl", None, &key::digest(line)))
}

/// Reads the fields of one line, and says what does not fit.
struct Reader<'a> {
    fields: &'a Map<String, Value>,
    key: &'a str,
    line: usize,
    gather: &'a mut Gather,
}

impl Reader<'_> {
    fn draft(&mut self, record: &Record<'_>) -> Draft {
        let title = text(&record.value, &["title"]).unwrap_or_default();
        let mut draft = Draft::new(self.key.to_owned(), title, self.line);
        draft.description = self.text("description");
        draft.kind = self.kind();
        draft.status = self.status();
        draft.priority = self.priority();
        draft.labels = self.list("labels", "texts", |value| name(value).map(str::to_owned));
        if let Some(said) = self.value("comments").cloned() {
            draft.comments = self.remarks(&said);
        }
        draft.owner = self.text("owner");
        draft.needs = self.list("needs", "texts", |value| value.as_str().map(str::to_owned));
        draft.grounds = self.grounds();
        draft.terms = self.terms();
        draft.status = self.held_back(draft.status, &draft.terms);
        draft
    }

    /// Returns what people said, and below it what was said to that.
    fn remarks(&mut self, said: &Value) -> Vec<Remark> {
        let expected = "a list of texts or {\"author\", \"body\", \"replies\"}";
        let Value::Array(values) = said else {
            self.misfit("comments", said, expected);
            return Vec::new();
        };
        let mut found = Vec::new();
        for value in values {
            let replies = value.get("replies").filter(|replies| !replies.is_null());
            let replies = replies.map(|replies| self.remarks(replies)).unwrap_or_default();
            if let Some(remark) = remark(value) {
                found.push(Remark { replies, ..remark });
            } else {
                self.misfit("comments", value, expected);
                found.extend(replies);
            }
        }
        found
    }

    fn links(&mut self) -> Vec<Link> {
        let mut found: Vec<(Says, String)> = Vec::new();
        if let Some(value) = self.value("parent").cloned() {
            match word(&value) {
                Some(parent) => found.push((Says::Parent, parent)),
                None => self.misfit("parent", &value, "a key"),
            }
        }
        for (field, says) in [("blockedBy", Says::BlockedBy), ("related", Says::Related)] {
            found.extend(self.list(field, "keys", word).into_iter().map(|other| (says, other)));
        }
        let from = |(says, to)| Link { from: self.key.to_owned(), says, to };
        found.into_iter().map(from).collect()
    }

    /// Returns a field that is there; null stands for one that is not.
    fn value(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn text(&mut self, field: &str) -> Option<String> {
        match self.value(field)?.clone() {
            Value::String(text) => Some(text),
            value => {
                self.misfit(field, &value, "a text");
                None
            }
        }
    }

    fn list<T>(&mut self, field: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let values = match self.value(field).cloned() {
            None => return Vec::new(),
            Some(Value::Array(values)) => values,
            Some(value) => {
                self.misfit(field, &value, &format!("a list of {expected}"));
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for value in &values {
            match read(value) {
                Some(item) => found.push(item),
                None => self.misfit(field, value, &format!("a list of {expected}")),
            }
        }
        found
    }

    fn kind(&mut self) -> Option<String> {
        let kind = self.text("type")?;
        if KINDS.contains(&kind.as_str()) {
            return Some(kind);
        }
        self.misfit("type", &Value::String(kind), &format!("one of {}", KINDS.join(", ")));
        None
    }

    fn status(&mut self) -> Status {
        let Some(word) = self.text("status") else { return Status::Triage };
        match word.as_str() {
            "triage" => Status::Triage,
            "backlog" => Status::Backlog,
            "todo" => Status::Todo,
            "done" => Status::Done,
            "canceled" | "cancelled" => Status::Canceled,
            "in_progress" | "in_review" | "blocked" | "failed" => {
                self.say(&format!("is `{word}` there; it is read as todo, as nobody holds it here"));
                Status::Todo
            }
            _ => {
                let expected = "triage, backlog, todo, done or canceled";
                self.misfit("status", &Value::String(word), expected);
                Status::Triage
            }
        }
    }

    /// Returns the points, else those of the level.
    fn priority(&mut self) -> Option<i64> {
        if let Some(value) = self.value("priorityValue").cloned() {
            let points = value.as_i64().filter(|points| (1..=100).contains(points));
            if points.is_none() {
                self.misfit("priorityValue", &value, "1 to 100");
            }
            return points;
        }
        let value = self.value("priority")?.clone();
        let points = match &value {
            Value::String(word) => priority::from_word(&word.to_lowercase()),
            other => other.as_i64().and_then(priority::from_level),
        };
        if points.is_none() {
            self.misfit("priority", &value, "0 none, 1 urgent, 2 high, 3 medium or 4 low");
        }
        points
    }

    fn check_names(&mut self) {
        let is_unknown =
            |name: &&String| !FIELDS.contains(&name.as_str()) && !PASSED_OVER.contains(&name.as_str());
        let unknown: Vec<String> = self
            .fields
            .keys()
            .filter(is_unknown)
            .map(|name| format!("`{}`", short_line(name, SHOWN_CHARS_MAX)))
            .collect();
        if !unknown.is_empty() {
            let expected = FIELDS.join(", ");
            self.say(&format!("has fields nobody knows: {}; expected {expected}", unknown.join(", ")));
        }
    }

    fn misfit(&mut self, field: &str, value: &Value, expected: &str) {
        let shown = short_line(&value.to_string(), SHOWN_CHARS_MAX);
        self.say(&format!("has {shown} for `{field}`, which was left out: expected {expected}"));
    }

    fn say(&mut self, message: &str) {
        let message = format!("`{}` {message}", self.key);
        self.gather.problem(self.line, Outcome::Changed, message);
    }
}

fn remark(value: &Value) -> Option<Remark> {
    if let Some(body) = value.as_str() {
        return Some(Remark::new(None, body.to_owned()));
    }
    let author = text(value, &["author", "authorName"]).map(str::to_owned);
    Some(Remark::new(author, text(value, &["body"])?.to_owned()))
}
