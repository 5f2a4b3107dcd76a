//! Issues of GitHub, as `gh issue list --json …` prints them and as its REST API answers.
//!
//! Both spell the fields differently (`stateReason`, `state_reason`), so each is looked for under either
//! name. Assignees are people and not owners of agents: they are put into words at the end of the
//! description, beside the address.

mod body;
mod repository;

use serde_json::Value;

use super::draft::{Draft, Remark, Status};
use super::gather::Gather;
use super::links::{Link, Says};
use super::records::{self, Record};
use super::tally::Tally;
use super::value::{list, name, text};
use super::{ImportError, Outcome, priority};
use repository::Repository;

/// Where `gh` lists other issues.
const FIELDS_OF_LINKS: &[(&str, Says)] =
    &[("blockedBy", Says::BlockedBy), ("blocking", Says::Blocks), ("subIssues", Says::Lists)];

/// Reads issues.
pub(super) fn read(text: &str, namespace: Option<&str>, gather: &mut Gather) -> Result<(), ImportError> {
    let named = match namespace {
        Some(word) => {
            let bad = || ImportError::BadRepository(word.to_owned());
            Some(Repository::parse(word).ok_or_else(bad)?)
        }
        None => None,
    };
    let mut pulls = Tally::default();
    let mut silent = Tally::default();
    let records = records::read(text, gather)?;
    // One issue without its repository costs only itself; where none has one, it was not exported.
    let is_told = named.is_some() || records.iter().any(|record| repository_of(&record.value).is_some());
    for record in records {
        let (line, value) = (record.line, &record.value);
        let Some(number) = value.get("number").and_then(Value::as_u64) else {
            let message = "is not an issue: expected at least `number` and `title`".to_owned();
            gather.problem(line, Outcome::LeftOut, message);
            continue;
        };
        if is_pull_request(value) {
            pulls.count(line, format!("#{number}"));
            continue;
        }
        let Some(repository) = repository_of(value).or_else(|| named.clone()) else {
            if !is_told {
                return Err(ImportError::RepositoryUnknown { line, number });
            }
            let message =
                format!("#{number} does not say its repository: expected `url`, or --repo owner/name");
            gather.problem(line, Outcome::LeftOut, message);
            continue;
        };
        if value.get("comments").and_then(Value::as_u64).is_some_and(|count| count > 0) {
            silent.count(line, format!("#{number}"));
        }
        let draft = draft(&record, &repository.key(number), gather);
        let links = links(&record, &draft.key, &repository, gather);
        gather.add(draft, links)?;
    }
    pulls.say(gather, Outcome::LeftOut, "pull requests are not issues");
    silent.say(
        gather,
        Outcome::Changed,
        "comments are counted but not held (`gh … --json comments` has them)",
    );
    Ok(())
}

fn is_pull_request(value: &Value) -> bool {
    let is_marked = value.get("pull_request").is_some_and(|mark| !mark.is_null());
    let says_so = value.get("isPullRequest").and_then(Value::as_bool).unwrap_or_default();
    is_marked || says_so || text(value, &["html_url", "url"]).is_some_and(|url| url.contains("/pull/"))
}

fn repository_of(value: &Value) -> Option<Repository> {
    let addresses = ["html_url", "url", "repository_url"];
    let found = addresses.into_iter().find_map(|name| Repository::of_address(text(value, &[name])?));
    let found = found.map(|(repository, _)| repository);
    found.or_else(|| Repository::parse(text(value.get("repository")?, &["full_name", "nameWithOwner"])?))
}

fn draft(record: &Record<'_>, key: &str, gather: &mut Gather) -> Draft {
    let value = &record.value;
    let mut draft = Draft::new(key.to_owned(), text(value, &["title"]).unwrap_or_default(), record.line);
    draft.description = Some(description(value));
    draft.kind = Some("task".to_owned());
    draft.status = status(value).unwrap_or_else(|word| {
        let message = format!("`{key}` is `{word}`: expected open or closed; it is read as open");
        gather.problem(record.line, Outcome::Changed, message);
        Status::Triage
    });
    draft.labels = labels(value);
    draft.priority = draft.labels.iter().filter_map(|label| priority::from_label(label)).max();
    let comments = list(value, "comments").iter();
    draft.comments = comments.filter_map(remark).collect();
    draft
}

/// Returns the body, and below it where the issue comes from.
fn description(value: &Value) -> String {
    let body = text(value, &["body"]).unwrap_or_default().trim_end();
    let mut facts = Vec::new();
    if let Some(address) = text(value, &["html_url", "url"]) {
        facts.push(format!("From {address}"));
    }
    if let Some(author) = login(value, "author").or_else(|| login(value, "user")) {
        facts.push(format!("opened by {author}"));
    }
    let assignees: Vec<&str> =
        list(value, "assignees").iter().filter_map(|each| text(each, &["login"])).collect();
    if !assignees.is_empty() {
        facts.push(format!("assigned to {}", assignees.join(", ")));
    }
    match (body.is_empty(), facts.is_empty()) {
        (_, true) => body.to_owned(),
        (true, false) => format!("({})", facts.join(", ")),
        (false, false) => format!("{body}\n\n({})", facts.join(", ")),
    }
}

fn login<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    text(value.get(field)?, &["login"])
}

fn status(value: &Value) -> Result<Status, String> {
    let state = text(value, &["state"]).map(str::to_lowercase);
    let is_closed = value.get("closed").and_then(Value::as_bool).unwrap_or_default();
    let reason = text(value, &["state_reason", "stateReason"]).map(str::to_lowercase);
    match state.as_deref() {
        Some("closed") => {}
        None if is_closed => {}
        Some("open") | None => return Ok(Status::Triage),
        Some(other) => return Err(other.to_owned()),
    }
    Ok(match reason.as_deref() {
        Some("not_planned" | "duplicate") => Status::Canceled,
        _ => Status::Done,
    })
}

/// Returns the labels, and as further ones the type and the milestone.
fn labels(value: &Value) -> Vec<String> {
    let mut labels: Vec<String> = list(value, "labels").iter().filter_map(name).map(str::to_owned).collect();
    let kind = ["issueType", "type"].iter().find_map(|field| name(value.get(field)?));
    let kind = kind.map(str::to_lowercase).filter(|kind| kind != "task");
    labels.extend(kind);
    let milestone = value.get("milestone").and_then(|milestone| text(milestone, &["title"]));
    labels.extend(milestone.map(|title| format!("milestone: {title}")));
    labels
}

fn remark(value: &Value) -> Option<Remark> {
    let author = login(value, "author").or_else(|| login(value, "user")).map(str::to_owned);
    Some(Remark::new(author, text(value, &["body"])?.to_owned()))
}

/// Returns what GitHub knows about other issues, and what the body says.
fn links(record: &Record<'_>, key: &str, repository: &Repository, gather: &mut Gather) -> Vec<Link> {
    let value = &record.value;
    let mut found: Vec<(Says, String)> = Vec::new();
    let parent = value.get("parent").and_then(|parent| key_of(parent, repository));
    let parent = parent.or_else(|| repository::key_of_address(text(value, &["parent_issue_url"])?));
    found.extend(parent.map(|parent| (Says::Parent, parent)));
    for (field, says) in FIELDS_OF_LINKS {
        let others = list(value, field);
        found.extend(others.iter().filter_map(|other| Some((*says, key_of(other, repository)?))));
        let count = value.get(field).and_then(|page| page.get("totalCount")?.as_u64()).unwrap_or_default();
        if usize::try_from(count).is_ok_and(|count| count > others.len()) {
            let held = others.len();
            let message = format!("`{key}`: of {count} `{field}` the file holds {held}");
            gather.problem(record.line, Outcome::Changed, message);
        }
    }
    found.extend(body::mentions(text(value, &["body"]).unwrap_or_default(), repository));
    found.into_iter().map(|(says, to)| Link { from: key.to_owned(), says, to }).collect()
}

/// Returns the key of an issue that another shows in short.
fn key_of(value: &Value, repository: &Repository) -> Option<String> {
    let by_address = text(value, &["html_url", "url"]).and_then(repository::key_of_address);
    by_address.or_else(|| Some(repository.key(value.get("number")?.as_u64()?)))
}
