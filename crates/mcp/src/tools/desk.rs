//! Looking at the desk, and adding to it.

use std::fmt::Write;

use extraboard_api::client::Imported;
use extraboard_api::comment::{Comment, CommentCreate};
use extraboard_api::dispatch::{QueueEntry, QueueQuery};
use extraboard_api::inbox::InboxQuery;
use extraboard_api::issue::IssueCreate;
use extraboard_api::relation::RelationCreate;
use extraboard_api::signal::{SignalCreate, SignalCreated};
use extraboard_api::why::{Why, WhyQuery};
use serde_json::{Value, json};

use super::work::brief;
use super::{Call, params};
use crate::outside::{self, line};
use crate::reply::{Refusal, Reply};
use crate::session::Which;

/// How many places in line are listed unless the call says otherwise: a model reads all of them.
const QUEUE_LIMIT: i64 = 20;

pub(super) async fn create(call: &Call<'_>, params: params::Create) -> Result<Reply, Refusal> {
    let create = IssueCreate {
        title: params.title,
        kind: params.kind,
        description: params.description,
        status: params.status,
        priority: params.priority,
        priority_value: params.priority_value,
        doors: params.doors,
        max_retries: params.max_retries,
        not_before: params.not_before,
        signal_source: params.signal_source,
        signal_payload: params.signal_payload,
        hypothesis: params.hypothesis,
        project_id: params.project,
        parent_id: params.parent,
        gated_by_parent: params.gated_by_parent,
        boost: params.boost,
        needs: params.needs,
        owner: params.owner,
        input_artifact: params.input_artifact,
        blocked_by: params.blocked_by,
        label_ids: params.labels,
        external_key: params.external_key,
    };
    let answer = call.client.issue_import(&create).await;
    let (issue, imported) = answer.map_err(|error| Refusal::of(&error))?;
    let done = match imported {
        Imported::Created => "Created",
        Imported::Known => {
            "Nothing was created or changed, because there is one with that externalKey already:"
        }
    };
    let (title, status) = (line(&issue.title), line(&issue.status));
    let text = format!("{done} #{}, “{title}”; its status is {status}.", issue.number);
    let created = imported == Imported::Created;
    Ok(Reply::new(text, json!({"issue": brief(&issue), "created": created})))
}

pub(super) async fn signal(call: &Call<'_>, params: params::Signal) -> Result<Reply, Refusal> {
    let create = SignalCreate {
        source: params.source,
        source_id: None,
        kind: params.kind,
        severity: params.severity,
        payload: Value::Object(params.payload),
        project_id: params.project,
    };
    let taken = call.client.signal_create(&create, None).await.map_err(|error| Refusal::of(&error))?;
    let SignalCreated { signal, issue } = taken;
    let (title, status) = (line(&issue.title), line(&issue.status));
    let text =
        format!("The desk took it in and made #{} of it, “{title}”; its status is {status}.", issue.number);
    // The payload is left out: the model has just written it.
    let signal =
        json!({"id": signal.id, "source": signal.source, "type": signal.kind, "severity": signal.severity});
    Ok(Reply::new(text, json!({"signal": signal, "issue": brief(&issue)})))
}

pub(super) async fn relate(call: &Call<'_>, params: params::Relate) -> Result<Reply, Refusal> {
    let create = RelationCreate { kind: params.kind, related_issue_id: params.to };
    let relation = call.client.relation_create(params.issue.as_str(), &create).await;
    let relation = relation.map_err(|error| Refusal::of(&error))?;
    let (issue, kind) = (line(params.issue.as_str()), line(&relation.kind));
    let text = format!("Issue {issue} {kind} #{}.", relation.related.number);
    Ok(Reply::new(text, json!({"relation": relation})))
}

pub(super) async fn queue(call: &Call<'_>, params: params::Queue) -> Result<Reply, Refusal> {
    let claimer = super::work::with_defaults(params.claimer(), call.session.claimer());
    let limit = Some(params.limit.unwrap_or(QUEUE_LIMIT));
    let query = QueueQuery { limit, offset: params.offset, all: params.all, ..claimer.into() };
    let queue = call.client.queue(&query).await.map_err(|error| Refusal::of(&error))?;
    let more = if queue.total_capped { "or more " } else { "" };
    let mut text = format!("{} {more}in line, {} listed.", queue.total, queue.data.len());
    for entry in &queue.data {
        let (number, title, kind) = (entry.issue.number, line(&entry.issue.title), line(&entry.issue.kind));
        let _ = write!(text, "\n- #{number} “{title}” ({kind}, score {})", entry.score);
        for gate in &entry.gates {
            let _ = write!(text, "; {}: {}", line(&gate.gate), line(&gate.detail));
        }
    }
    let entries: Vec<Value> = queue.data.iter().map(place).collect();
    let data = json!({"entries": entries, "total": queue.total, "totalCapped": queue.total_capped});
    Ok(Reply::new(text, data))
}

/// Returns a place in line in short.
fn place(entry: &QueueEntry) -> Value {
    let mut place = brief(&entry.issue);
    place["score"] = json!(entry.score);
    place["priority"] = json!(entry.issue.priority);
    place["projectId"] = json!(entry.issue.project_id);
    place["needs"] = json!(entry.issue.needs);
    place["gates"] = json!(entry.gates);
    place
}

pub(super) async fn why(call: &Call<'_>, params: params::Why) -> Result<Reply, Refusal> {
    let query = WhyQuery { agent: params.agent.clone(), ..params.claimer().into() };
    let why = call.client.issue_why(params.issue.as_str(), &query).await;
    let why = why.map_err(|error| Refusal::of(&error))?;
    Ok(Reply::new(explain(&why), &why))
}

fn explain(why: &Why) -> String {
    let mut text = format!("#{}, “{}”: {}.", why.issue.number, line(&why.issue.title), line(&why.verdict));
    if let Some(position) = why.position {
        let _ = write!(text, " It is number {position} in line.");
    }
    for gate in &why.gates {
        let _ = write!(text, "\n- {}: {}", line(&gate.gate), line(&gate.detail));
        if let Some(until) = &gate.until {
            let _ = write!(text, " (until {})", line(until));
        }
    }
    if let Some(change) = &why.change {
        let _ = write!(text, "\nWhat would start it: {}.", line(change));
    }
    text
}

pub(super) async fn comment(call: &Call<'_>, params: params::Comment) -> Result<Reply, Refusal> {
    let issue = match params.issue {
        Some(issue) => issue.0,
        None => call.session.ticket(&Which::default())?.issue_id,
    };
    let Some(body) = params.body else {
        let comments = call.client.comment_list(&issue).await.map_err(|error| Refusal::of(&error))?;
        let mut text = format!("{} comments.", comments.total);
        for comment in &comments.data {
            tell(&mut text, comment, 0);
        }
        return Ok(Reply::new(text, json!({"comments": comments.data, "total": comments.total})));
    };
    let create = CommentCreate { body, parent_id: params.reply_to, ..CommentCreate::default() };
    let comment = call.client.comment_create(&issue, &create).await.map_err(|error| Refusal::of(&error))?;
    Ok(Reply::new(format!("Said it, as comment {}.", line(&comment.id)), json!({"comment": comment})))
}

/// Tells a comment and what replies to it.
fn tell(text: &mut String, comment: &Comment, depth: usize) {
    let [author, kind, at] =
        [&comment.author_name, &comment.kind, &comment.created_at].map(|word| line(word));
    let body = outside::text(&comment.body, "comment");
    let _ = write!(text, "\n{:depth$}- {author} ({kind}, {at}):{body}", "");
    for reply in &comment.replies {
        tell(text, reply, depth + 2);
    }
}

pub(super) async fn inbox(call: &Call<'_>, params: params::Inbox) -> Result<Reply, Refusal> {
    let kind = params.kinds.map(|kinds| kinds.join(","));
    let query = InboxQuery { kind, limit: params.limit, offset: params.offset };
    let items = call.client.inbox_list(&query).await.map_err(|error| Refusal::of(&error))?;
    let mut text = format!("{} wait for a person.", items.total);
    for item in &items.data {
        let said = outside::text(item.text.as_deref().unwrap_or_default(), "what was said");
        let _ = write!(text, "\n- #{} “{}” ({}){said}", item.number, line(&item.title), line(&item.kind));
    }
    Ok(Reply::new(text, json!({"items": items.data, "total": items.total})))
}
