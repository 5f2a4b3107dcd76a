//! From the desk's words to the surface's.

pub(crate) mod goal;
pub(crate) mod label;
pub(crate) mod project;
pub(crate) mod template;

use extraboard_api::dispatch::{Breakdown, DispatchTicket};
use extraboard_api::issue::{Counters, Issue, IssueBrief, IssueDispatch};
use extraboard_api::relation::Relation;
use extraboard_core::clock::Timestamp;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::id::TaskId;
use extraboard_core::profile::Score;
use extraboard_core::reason::Reason;
use extraboard_core::status::Status;
use extraboard_core::task::Task;
use extraboard_store::verbs::{Event, Related};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tokens::ServerKey;

/// Shows a task as an issue.
pub(crate) fn issue(task: Task, dispatch: Option<&Dispatch>) -> Issue {
    Issue {
        boost: task.boost,
        needs: task.needs.words().map(str::to_owned).collect(),
        depth: task.depth,
        gated_by_parent: task.gated_by_parent,
        open_blockers: task.open_blockers,
        held: task.is_held(),
        owner: task.owner,
        labels: task.labels.into_iter().map(label::on_issue).collect(),
        external_key: task.external_key,
        input_artifact: task.artifact,
        artifact_present: task.artifact_present,
        id: task.id.to_string(),
        number: task.number.0,
        status: Status::of(task.state).as_str().to_owned(),
        state: task.state.as_str().to_owned(),
        title: task.title,
        description: task.description,
        kind: task.kind.as_str().to_owned(),
        priority: task.priority.level().tracker(),
        priority_value: task.priority.points(),
        doors: task.doors.iter().map(|door| door.as_str().to_owned()).collect(),
        max_retries: task.max_retries,
        signal_source: task.signal_source,
        signal_payload: json(task.signal_payload.as_deref()),
        hypothesis: json(task.hypothesis.as_deref()),
        agent_summary: task.agent_summary,
        last_error: task.last_error,
        result: json(task.result.as_deref()),
        commits: list(task.commits.as_deref()),
        pull_requests: list(task.pull_requests.as_deref()),
        question: task.question,
        answer: task.answer,
        attempt: task.attempt,
        counters: Counters {
            crash: task.counters.crash,
            unavailable: task.counters.unavailable,
            retry: task.counters.retry,
            lost: task.counters.lost,
        },
        not_before: task.not_before.map(time),
        queued_at: task.queued_at.map(time),
        started_at: task.started_at.map(time),
        completed_at: task.completed_at.map(time),
        created_at: time(task.created_at),
        updated_at: time(task.updated_at),
        parent_id: task.parent_id.map(|id| id.to_string()),
        project_id: task.project_id.map(|id| id.to_string()),
        dispatch: dispatch.filter(|dispatch| task.dispatch == Some(dispatch.id)).map(issue_dispatch),
    }
}

fn issue_dispatch(dispatch: &Dispatch) -> IssueDispatch {
    IssueDispatch {
        id: dispatch.id.to_string(),
        attempt: dispatch.attempt,
        fence: dispatch.fence.0,
        holder: dispatch.holder.clone(),
        door: dispatch.door.as_str().to_owned(),
        phase: dispatch.phase.as_str().to_owned(),
        reason: dispatch.phase.reason().map(|reason| reason.as_str().to_owned()),
        lease_until: Some(time(dispatch.lease_until)),
        started_at: Some(time(dispatch.started_at)),
        heartbeat_at: Some(time(dispatch.heartbeat_at)),
        progress: json(dispatch.progress.as_deref()),
    }
}

/// Shows a task in short, as another one's relative.
pub(crate) fn brief(task: &Task) -> IssueBrief {
    IssueBrief {
        id: task.id.to_string(),
        number: task.number.0,
        title: task.title.clone(),
        kind: task.kind.as_str().to_owned(),
        status: Status::of(task.state).as_str().to_owned(),
        state: task.state.as_str().to_owned(),
    }
}

/// Shows a relation as the task at one end of it sees it.
pub(crate) fn relation(seen_from: TaskId, related: &Related) -> Relation {
    Relation {
        id: related.relation.id.to_string(),
        kind: related.relation_type.as_str().to_owned(),
        issue_id: seen_from.to_string(),
        related_issue_id: related.other.id.to_string(),
        related: brief(&related.other),
        created_at: time(related.relation.created_at),
    }
}

/// Shows the parts of a score.
pub(crate) fn breakdown(score: &Score) -> Breakdown {
    Breakdown {
        priority_weight: score.priority_weight,
        boost: score.boost,
        type_bonus: score.type_bonus,
        goal_bonus: score.goal_bonus,
        age_bonus: score.age_bonus,
        patience: score.patience,
        depth_bonus: score.depth_bonus,
        retry_penalty: score.retry_penalty,
    }
}

/// Returns a dispatch's prompt as its holder gets it: with its token.
pub(crate) fn prompt(key: &ServerKey, dispatch: &Dispatch) -> Option<String> {
    let prompt = dispatch.prompt.as_deref()?;
    Some(extraboard_prompts::with_token(prompt, dispatch.id, &key.token(dispatch)))
}

/// Makes what a new holder needs.
pub(crate) fn ticket(key: &ServerKey, dispatch: &Dispatch) -> DispatchTicket {
    DispatchTicket {
        id: dispatch.id.to_string(),
        attempt: dispatch.attempt,
        fence: dispatch.fence.0,
        token: key.token(dispatch),
        lease_seconds: dispatch.lease.as_secs(),
    }
}

/// Shows an event; what it is made of goes before what else it tells.
pub(crate) fn event(event: &Event) -> extraboard_api::event::Event {
    const OWN: [&str; 7] = ["pos", "type", "taskId", "number", "dispatchId", "actor", "at"];
    let mut data = match serde_json::from_str(&event.data) {
        Ok(Value::Object(data)) => data,
        _ => serde_json::Map::new(),
    };
    data.retain(|key, _| !OWN.contains(&key.as_str()));
    extraboard_api::event::Event {
        pos: event.pos.0,
        event_type: event.event_type.as_str().to_owned(),
        task_id: event.task_id.map(|id| id.to_string()),
        number: event.task.map(|number| number.0),
        dispatch_id: event.dispatch.map(|id| id.to_string()),
        actor: event.actor.clone(),
        at: time(event.at),
        data,
    }
}

/// What a holder is told to do.
pub(crate) fn order(dispatch: &Dispatch) -> (&'static str, Option<Reason>) {
    match dispatch.phase {
        Phase::Open => ("continue", None),
        Phase::Ending(reason) => ("stop", Some(reason)),
        Phase::Closed { reason, .. } => ("stop", reason),
    }
}

/// Writes a moment as RFC 3339.
pub(crate) fn time(at: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(at.as_micros()) {
        Ok(moment) => moment.to_string(),
        // Beyond the year 9999: still sorted, and nobody's plan.
        Err(_) => format!("+{}us", at.as_micros()),
    }
}

/// Reads a list that was checked when it was stored.
fn list<T: DeserializeOwned>(text: Option<&str>) -> Vec<T> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Reads JSON that was checked when it was stored.
pub(crate) fn json(text: Option<&str>) -> Option<Value> {
    text.and_then(|text| serde_json::from_str(text).ok())
}
