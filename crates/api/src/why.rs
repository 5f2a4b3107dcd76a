//! Why an issue runs, waits or never will, and what would change that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claimer::ClaimerQuery;
use crate::dispatch::Breakdown;
use crate::issue::IssueBrief;

/// The query of `GET /api/issues/:id/why`; with nothing set it asks for anyone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WhyQuery {
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
    /// The name of the agent to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl WhyQuery {
    /// Returns what the query says about the claimer, but for its name.
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

impl From<ClaimerQuery> for WhyQuery {
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
            agent: None,
        }
    }
}

/// What `GET /api/issues/:id/why` answers under `data`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    pub issue: IssueBrief,
    /// Who the answer is for; null if for anyone.
    pub claimer: Option<WhyClaimer>,
    /// `running`, `next`, `waiting`, `held`, `blocked` or `impossible`.
    pub verdict: String,
    pub score: Option<i64>,
    pub breakdown: Option<Breakdown>,
    /// Its place in line, 1 the first; null where it does not stand in line.
    pub position: Option<i64>,
    /// Whether it is further back than `position` says.
    #[serde(default)]
    pub position_capped: bool,
    /// All that stands in its way.
    #[serde(default)]
    pub gates: Vec<WhyGate>,
    /// What would start it.
    pub change: Option<String>,
    /// The last events of the issue, newest first.
    #[serde(default)]
    pub decisions: Vec<Decision>,
    /// The position of the newest event when this was answered.
    pub pos: i64,
}

/// The claimer an answer is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyClaimer {
    pub name: String,
    pub door: String,
    #[serde(default)]
    pub capabilities: Vec<String>,
    pub owner: Option<String>,
    pub provider: Option<String>,
    pub account: Option<String>,
    pub project_id: Option<String>,
    /// The only types of issues it takes; any if there are none.
    #[serde(default)]
    pub kinds: Vec<String>,
}

/// One thing between an issue and its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyGate {
    /// A word for programs.
    pub gate: String,
    /// A sentence for people.
    pub detail: String,
    /// When it goes by itself, where that is known.
    pub until: Option<String>,
    /// What would take it away.
    pub change: Option<String>,
}

/// One event of the issue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Null until the event has its place among all.
    pub pos: Option<i64>,
    #[serde(rename = "type")]
    pub kind: String,
    pub actor: Option<String>,
    pub at: String,
    #[serde(default)]
    pub data: Value,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claimer::tests::full_query;
    use crate::issue::tests::brief_json;

    #[test]
    fn an_answer_reads_and_writes_as_documented() {
        let wire = json!({
            "issue": brief_json(),
            "claimer": {
                "name": "agent:a", "door": "pull", "capabilities": ["rust"], "owner": null,
                "provider": "anthropic", "account": "team", "projectId": null, "kinds": []
            },
            "verdict": "waiting", "score": 70, "breakdown": {
                "priorityWeight": 50, "boost": 0, "typeBonus": 20, "goalBonus": 0, "ageBonus": 0,
                "patience": 0, "depthBonus": 0, "retryPenalty": 0
            },
            "position": 2, "positionCapped": false,
            "gates": [{"gate": "behind", "detail": "1 is ahead of it", "until": null, "change": "wait"}],
            "change": "wait",
            "decisions": [
                {"pos": null, "type": "task.queued", "actor": "person:admin", "at": "2026-01-01T00:00:00Z", "data": {}}
            ],
            "pos": 12
        });
        let why: Why = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&why).unwrap(), wire);
    }

    #[test]
    fn an_answer_for_anyone_about_what_does_not_stand_in_line_still_reads() {
        let wire = json!({
            "issue": brief_json(), "claimer": null, "verdict": "impossible", "score": null,
            "breakdown": null, "position": null, "change": null, "pos": 12
        });
        let why: Why = serde_json::from_value(wire).unwrap();
        assert_eq!((why.claimer, why.position, why.gates), (None, None, Vec::new()));
    }

    #[test]
    fn a_query_holds_all_a_claimer_says() {
        let query = WhyQuery { agent: Some("a".to_owned()), ..full_query().into() };
        assert_eq!(query.claimer(), full_query());
        assert_eq!(serde_json::to_value(&query).unwrap()["agent"], "a");
        serde_json::from_str::<WhyQuery>(r#"{"limit": 1}"#).unwrap_err();
    }
}
