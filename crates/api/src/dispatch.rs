//! Taking work and reporting on it: the claim's answer, the queue, the four reports and their reply.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claimer::ClaimerQuery;
use crate::issue::Issue;
use crate::work::{Commit, PullRequest};

/// What a claim hands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    pub issue: Issue,
    pub prompt: Option<String>,
    /// What the prompt was made by; null where no template matches.
    pub meta: Option<DispatchMeta>,
    pub dispatch: DispatchTicket,
}

/// What a prompt was made by, and where to say what one thinks of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchMeta {
    pub template_slug: String,
    pub template_id: String,
    pub version_id: String,
    pub version_number: i64,
    /// The method and the path.
    pub review_url: String,
}

/// What the holder of a dispatch needs to report on it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchTicket {
    pub id: String,
    pub attempt: i64,
    pub fence: i64,
    /// The bearer token that speaks for this dispatch and nothing else.
    pub token: String,
    pub lease_seconds: i64,
}

/// Shows everything but the token, which must not reach a log.
impl fmt::Debug for DispatchTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchTicket")
            .field("id", &self.id)
            .field("attempt", &self.attempt)
            .field("fence", &self.fence)
            .field("lease_seconds", &self.lease_seconds)
            .finish_non_exhaustive()
    }
}

/// The query of `GET /api/dispatch/queue`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct QueueQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// A comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<String>,
    /// A comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The door it takes work by: pull, the default, for whoever reports itself, run for whoever starts an
    /// agent and reports for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Whether to list what this claimer would not get, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

impl QueueQuery {
    /// Returns what the query says about the claimer.
    pub fn claimer(&self) -> ClaimerQuery {
        ClaimerQuery {
            project_id: self.project_id.clone(),
            kinds: self.kinds.clone(),
            capabilities: self.capabilities.clone(),
            owner: self.owner.clone(),
            adapter: self.adapter.clone(),
            door: self.door.clone(),
            provider: self.provider.clone(),
            account: self.account.clone(),
        }
    }
}

impl From<ClaimerQuery> for QueueQuery {
    fn from(claimer: ClaimerQuery) -> Self {
        Self {
            project_id: claimer.project_id,
            kinds: claimer.kinds,
            capabilities: claimer.capabilities,
            owner: claimer.owner,
            adapter: claimer.adapter,
            door: claimer.door,
            provider: claimer.provider,
            account: claimer.account,
            ..Self::default()
        }
    }
}

/// What would be handed out, in that order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Queue {
    pub data: Vec<QueueEntry>,
    pub total: i64,
    /// Whether there are more than `total` says.
    #[serde(default)]
    pub total_capped: bool,
}

/// One place in the line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueEntry {
    pub issue: Issue,
    pub score: i64,
    pub breakdown: Breakdown,
    /// What keeps the claimer from it; always empty unless `all` was asked for.
    #[serde(default)]
    pub gates: Vec<QueueGate>,
}

/// One closed gate between the claimer and an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueGate {
    /// A word for programs.
    pub gate: String,
    /// A sentence for people.
    pub detail: String,
    /// When it opens by itself, where that is known.
    pub until: Option<String>,
}

/// The terms that add up to a score.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Breakdown {
    pub priority_weight: i64,
    /// What an operator added.
    pub boost: i64,
    pub type_bonus: i64,
    pub goal_bonus: i64,
    pub age_bonus: i64,
    /// For waiting longer than age counts.
    pub patience: i64,
    pub depth_bonus: i64,
    /// For failed attempts; never positive.
    pub retry_penalty: i64,
}

/// Tokens spent since the last report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Tokens {
    pub input: i64,
    pub output: i64,
}

/// The body of `POST /api/dispatches/:id/heartbeat`.
///
/// The reports repeat these three fields: serde cannot flatten a type into one that refuses unknown fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Heartbeat {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// The body of `POST /api/dispatches/:id/complete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Complete {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<Vec<Commit>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_requests: Option<Vec<PullRequest>>,
}

/// The body of `POST /api/dispatches/:id/fail`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Fail {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// The body of `POST /api/dispatches/:id/ask`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Ask {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// What `GET /api/dispatches/:id/prompt` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchPrompt {
    pub dispatch_id: String,
    pub number: i64,
    pub prompt: Option<String>,
}

/// The body of `POST /api/dispatches/:id/release`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Release {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// What every report is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportReply {
    /// `continue` or `stop`.
    pub order: String,
    /// Why to stop.
    pub reason: Option<String>,
    /// How long the renewed lease lasts; null where none is left to renew.
    pub lease_seconds: Option<i64>,
    pub issue: Issue,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claimer::tests::full_query;
    use crate::issue::tests::issue_json;

    #[test]
    fn a_claim_says_what_its_prompt_was_made_by() {
        let mut wire = json!({
            "issue": issue_json(), "prompt": "Do it.",
            "meta": {
                "templateSlug": "any", "templateId": "0199t", "versionId": "0199v", "versionNumber": 2,
                "reviewUrl": "POST /api/prompt-reviews"
            },
            "dispatch": {"id": "0199d", "attempt": 1, "fence": 1, "token": "xbd_s", "leaseSeconds": 60}
        });
        let next: Next = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&next).unwrap(), wire);
        wire["meta"] = json!(null);
        assert_eq!(serde_json::from_value::<Next>(wire).unwrap().meta, None);
    }

    #[test]
    fn an_entry_reads_and_writes_as_documented() {
        let wire = json!({
            "issue": issue_json(), "score": 66,
            "breakdown": {
                "priorityWeight": 50, "boost": 5, "typeBonus": 20, "goalBonus": 0, "ageBonus": 1,
                "patience": 0, "depthBonus": 0, "retryPenalty": -10
            },
            "gates": [{"gate": "limit", "detail": "4 of at most 4 are handed out", "until": null}]
        });
        let entry: QueueEntry = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&entry).unwrap(), wire);
    }

    #[test]
    fn an_entry_of_an_older_server_still_reads() {
        let wire = json!({"issue": issue_json(), "score": 50, "breakdown": {"priorityWeight": 50}});
        let entry: QueueEntry = serde_json::from_value(wire).unwrap();
        assert_eq!((entry.gates, entry.breakdown.retry_penalty), (Vec::new(), 0));
    }

    #[test]
    fn a_queue_query_holds_all_a_claimer_says() {
        let query = QueueQuery { all: Some(true), ..full_query().into() };
        assert_eq!(query.claimer(), full_query());
        serde_json::from_str::<QueueQuery>(r#"{"agent": "a"}"#).unwrap_err();
    }

    #[test]
    fn every_report_may_be_empty() {
        serde_json::from_str::<Heartbeat>("{}").unwrap();
        serde_json::from_str::<Complete>("{}").unwrap();
        serde_json::from_str::<Fail>("{}").unwrap();
        serde_json::from_str::<Release>("{}").unwrap();
    }

    #[test]
    fn a_fail_uses_the_documented_names() {
        let fail = Fail {
            cost_usd: Some(0.5),
            tokens: Some(Tokens { input: 1, output: 2 }),
            retryable: Some(false),
            retry_after: Some(30),
            ..Fail::default()
        };
        let wire = json!({
            "costUsd": 0.5, "tokens": {"input": 1, "output": 2}, "retryable": false, "retryAfter": 30
        });
        assert_eq!(serde_json::to_value(&fail).unwrap(), wire);
        assert_eq!(serde_json::from_value::<Fail>(wire).unwrap(), fail);
    }

    #[test]
    fn a_report_refuses_unknown_fields() {
        serde_json::from_str::<Heartbeat>(r#"{"cost": 1}"#).unwrap_err();
        serde_json::from_str::<Complete>(r#"{"tokens": {"in": 1}}"#).unwrap_err();
    }
}
