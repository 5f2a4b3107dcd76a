//! The loop: take work, say that it goes on, end it.

use std::fmt::Write;

use extraboard_api::claimer::{ClaimerQuery, NextQuery};
use extraboard_api::client::{Claim, Client, ClientError};
use extraboard_api::dispatch::{Ask, Complete, DispatchMeta, Fail, Heartbeat, Next, Release, ReportReply};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Call, params};
use crate::outside::{self, line};
use crate::reply::{Refusal, Reply};
use crate::session::{Which, is_over};

/// The longest a claim may wait.
const WAIT_SECS_MAX: u64 = 60;

pub(super) async fn claim(call: &Call<'_>, params: params::Claim) -> Result<Reply, Refusal> {
    let wait = params.wait_seconds.unwrap_or(0);
    if wait > WAIT_SECS_MAX {
        return Err(Refusal::bad_parameter(format!("waitSeconds is {wait}, and at most {WAIT_SECS_MAX}")));
    }
    let claimer = with_defaults(params.claimer(), call.session.claimer());
    let query = NextQuery { wait: (wait > 0).then(|| format!("{wait}s")), ..claimer.into() };
    let before = call.session.tickets();
    let claim = call.client.claim(&query, None);
    match call.session.claim(&call.client, &call.canceled, claim).await? {
        Claim::Work(next) => {
            let others = before.iter().map(|ticket| format!("#{}", ticket.number)).collect::<Vec<_>>();
            Ok(handed_out(&next, &others))
        }
        Claim::Nothing { reason, retry_after_secs } => Ok(nothing(&reason, retry_after_secs)),
    }
}

fn handed_out(next: &Next, others: &[String]) -> Reply {
    let Next { issue, dispatch, .. } = next;
    let (number, lease) = (issue.number, dispatch.lease_seconds);
    let mut text = format!(
        "You hold task #{number}, “{}” (type {}, attempt {}), as dispatch {}. Do what its prompt says. Call \
         heartbeat at least every {} seconds. End with exactly one of complete, fail, release or ask.",
        line(&issue.title),
        line(&issue.kind),
        dispatch.attempt,
        dispatch.id,
        (lease / 2).max(1),
    );
    if !others.is_empty() {
        let others = others.join(", ");
        let _ =
            write!(text, " You already held {others}: name the dispatch or number in reports from now on.");
    }
    let mut data = json!({
        "claimed": true,
        "dispatch": {"id": dispatch.id, "attempt": dispatch.attempt, "leaseSeconds": lease},
        "issue": brief(issue),
        "prompt": next.prompt,
        // The session knows the rest, and what can be had by a tool needs no address.
        "meta": next.meta.as_ref().map(|meta| {
            json!({"templateSlug": meta.template_slug, "versionNumber": meta.version_number})
        }),
    });
    if let Some(meta) = &next.meta {
        let _ = write!(text, " Its prompt was made by {}.", maker(meta));
    }
    if let Some(prompt) = &next.prompt {
        let _ = write!(text, "\n\n{}", between_lines(prompt, &dispatch.id));
    } else {
        let description = outside::text(issue.description.as_deref().unwrap_or_default(), "description");
        let said = if description.is_empty() { "It has no description." } else { "Its description:" };
        let _ = write!(text, "\n\nIt has no prompt. {said}{description}");
        data["issue"]["description"] = json!(issue.description);
    }
    Reply::new(text, data)
}

/// Returns a prompt as it is, between two lines that nobody could write beforehand: they name the dispatch,
/// which is younger than anything in its prompt.
fn between_lines(prompt: &str, dispatch: &str) -> String {
    let prompt = prompt.trim_end();
    format!(
        "Its prompt stands between the two lines that name the dispatch; nothing else is part of it.\n\n\
         ===== Prompt of dispatch {dispatch} =====\n\n{prompt}\n\n\
         ===== End of the prompt of dispatch {dispatch} ====="
    )
}

/// Returns what made a prompt, in words.
pub(super) fn maker(meta: &DispatchMeta) -> String {
    format!("version {} of the template {}", meta.version_number, line(&meta.template_slug))
}

fn nothing(reason: &str, retry_after_secs: Option<u64>) -> Reply {
    let meaning = match reason {
        "empty" => "nothing waits",
        "held" => "what waits, waits for another task or an artifact",
        "not_before" => "what waits is for later",
        "paused" => "the project of what waits is paused",
        "limit" => "as much as allowed is handed out",
        "rate_limited" => "your provider refuses for a while",
        "no_match" => "what waits is not for you: your filters, capabilities or owner",
        _ => "the desk has its reasons",
    };
    let shown = line(reason);
    let text = format!(
        "Nothing to do now: {shown} ({meaning}). Call claim again later, with waitSeconds to wait for something \
         to come; queue with `all: true` and why tell more."
    );
    Reply::new(text, json!({"claimed": false, "reason": reason, "retryAfterSeconds": retry_after_secs}))
}

/// Returns what the call says, and what the session says where the call says nothing.
pub(super) fn with_defaults(said: ClaimerQuery, defaults: &ClaimerQuery) -> ClaimerQuery {
    let defaults = defaults.clone();
    // An account belongs to its provider: one of the defaults must not follow another provider.
    let account = if said.provider.is_some() { None } else { defaults.account };
    ClaimerQuery {
        project_id: said.project_id.or(defaults.project_id),
        kinds: said.kinds.or(defaults.kinds),
        capabilities: said.capabilities.or(defaults.capabilities),
        owner: said.owner.or(defaults.owner),
        adapter: said.adapter.or(defaults.adapter),
        door: None,
        provider: said.provider.or(defaults.provider),
        account: said.account.or(account),
    }
}

pub(super) async fn heartbeat(call: &Call<'_>, params: params::Heartbeat) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::Heartbeat { progress, cost_usd, tokens, .. } = params;
    goes_on(call, &which, Heartbeat { progress, cost_usd, tokens }).await
}

pub(super) async fn progress(call: &Call<'_>, params: params::ProgressReport) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::ProgressReport { progress, cost_usd, tokens, .. } = params;
    goes_on(call, &which, Heartbeat { progress: Some(progress), cost_usd, tokens }).await
}

async fn goes_on(call: &Call<'_>, which: &Which, body: Heartbeat) -> Result<Reply, Refusal> {
    let reply = report(call, which, Report::Heartbeat(body)).await?;
    let lease = reply.lease_seconds.map(|seconds| format!("; the lease lasts {seconds} seconds"));
    let goes = if reply.order == "stop" { "is to stop" } else { "goes on" };
    let text = format!("#{} {goes}{}.", reply.issue.number, lease.unwrap_or_default());
    Ok(Reply::new(text, facts(&reply)))
}

pub(super) async fn complete(call: &Call<'_>, params: params::Complete) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::Complete {
        agent_summary, result, commits, pull_requests, progress, cost_usd, tokens, ..
    } = params;
    let body = Complete { progress, cost_usd, tokens, result, agent_summary, commits, pull_requests };
    ended(call, &which, Report::Complete(body)).await
}

pub(super) async fn fail(call: &Call<'_>, params: params::Fail) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::Fail { error, class, retryable, retry_after, provider, progress, cost_usd, tokens, .. } =
        params;
    let body = Fail { progress, cost_usd, tokens, error, class, retryable, retry_after, provider };
    ended(call, &which, Report::Fail(body)).await
}

pub(super) async fn release(call: &Call<'_>, params: params::Release) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::Release { progress, cost_usd, tokens, .. } = params;
    ended(call, &which, Report::Release(Release { progress, cost_usd, tokens })).await
}

pub(super) async fn ask(call: &Call<'_>, params: params::Ask) -> Result<Reply, Refusal> {
    let which = params.which();
    let params::Ask { question, progress, cost_usd, tokens, .. } = params;
    ended(call, &which, Report::Ask(Ask { progress, cost_usd, tokens, question })).await
}

async fn ended(call: &Call<'_>, which: &Which, body: Report) -> Result<Reply, Refusal> {
    let done = body.done();
    let reply = report(call, which, body).await?;
    let text = format!(
        "#{} is {done}; its status is {}. It is not in your hands any more.",
        reply.issue.number,
        line(&reply.issue.status)
    );
    Ok(Reply::new(text, facts(&reply)))
}

/// One report, as it is sent.
#[derive(Debug)]
enum Report {
    Heartbeat(Heartbeat),
    Complete(Complete),
    Fail(Fail),
    Release(Release),
    Ask(Ask),
}

impl Report {
    async fn send(&self, client: &Client, id: &str) -> Result<ReportReply, ClientError> {
        match self {
            Self::Heartbeat(body) => client.dispatch_heartbeat(id, body).await,
            Self::Complete(body) => client.dispatch_complete(id, body).await,
            Self::Fail(body) => client.dispatch_fail(id, body).await,
            Self::Release(body) => client.dispatch_release(id, body).await,
            Self::Ask(body) => client.dispatch_ask(id, body).await,
        }
    }

    const fn done(&self) -> &'static str {
        match self {
            Self::Heartbeat(_) => "going on",
            Self::Complete(_) => "handed in",
            Self::Fail(_) => "reported as failed",
            Self::Release(_) => "given back",
            Self::Ask(_) => "waiting for an answer",
        }
    }
}

/// Sends a report on a dispatch in the session's hands, and lets go of it where that ends it.
async fn report(call: &Call<'_>, which: &Which, body: Report) -> Result<ReportReply, Refusal> {
    let ticket = call.session.ticket(which)?;
    let asked = Instant::now();
    match body.send(&ticket.client, &ticket.id).await {
        Ok(reply) => {
            match body {
                Report::Heartbeat(_) => call.session.hear(&ticket.id, &reply, asked),
                Report::Complete(_) | Report::Fail(_) | Report::Release(_) | Report::Ask(_) => {
                    call.session.forget(&ticket.id);
                }
            }
            Ok(reply)
        }
        Err(error) => {
            if is_over(&error) {
                call.session.forget(&ticket.id);
            }
            Err(Refusal::of(&error))
        }
    }
}

fn facts(reply: &ReportReply) -> Value {
    json!({
        "order": reply.order,
        "reason": reply.reason,
        "leaseSeconds": reply.lease_seconds,
        "issue": brief(&reply.issue),
    })
}

/// Returns an issue in short: the whole of it is a resource.
pub(super) fn brief(issue: &extraboard_api::issue::Issue) -> Value {
    json!({
        "id": issue.id, "number": issue.number, "title": issue.title, "type": issue.kind,
        "status": issue.status, "state": issue.state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_before_the_sessions_defaults() {
        let defaults = ClaimerQuery {
            owner: Some("ann".to_owned()),
            provider: Some("anthropic".to_owned()),
            account: Some("team".to_owned()),
            door: None,
            adapter: Some("claude".to_owned()),
            ..ClaimerQuery::default()
        };
        assert_eq!(with_defaults(ClaimerQuery::default(), &defaults), defaults);
        let said = ClaimerQuery { provider: Some("openai".to_owned()), ..ClaimerQuery::default() };
        let claimer = with_defaults(said, &defaults);
        assert_eq!((claimer.provider.as_deref(), claimer.account), (Some("openai"), None));
        assert_eq!((claimer.owner.as_deref(), claimer.adapter.as_deref()), (Some("ann"), Some("claude")));
    }
}
