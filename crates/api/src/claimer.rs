//! What a claimer says about itself and about the work it wants: as a query, and as the body of a claim.
//!
//! The queries of `queue` and `why` repeat these fields, because serde cannot flatten a type into one that
//! refuses unknown fields; both give them back as a [`ClaimerQuery`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a claimer says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ClaimerQuery {
    /// The only project to take work of, by uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The only types of issues to take: a comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<String>,
    /// What the claimer can do: a comma list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// Who the claimer works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What the claimer is run by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The door it takes work by: pull, the default, for whoever reports itself, run for whoever starts an
    /// agent and reports for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    /// Whose models it works with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which account with that provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// The query of `GET|POST /api/dispatch/next`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NextQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<String>,
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
    /// How long to wait for work if there is none, such as `30s`; at most a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
}

impl NextQuery {
    /// Returns what the query says about the claimer.
    pub fn claimer(self) -> ClaimerQuery {
        ClaimerQuery {
            project_id: self.project_id,
            kinds: self.kinds,
            capabilities: self.capabilities,
            owner: self.owner,
            adapter: self.adapter,
            door: self.door,
            provider: self.provider,
            account: self.account,
        }
    }
}

impl From<ClaimerQuery> for NextQuery {
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
            wait: None,
        }
    }
}

/// The body of `POST /api/dispatch/next`: what the query says, with lists for comma lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NextBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
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
}

/// Takes the comma lists apart; an empty word stays one, for the desk to refuse.
impl From<ClaimerQuery> for NextBody {
    fn from(query: ClaimerQuery) -> Self {
        let words = |list: String| list.split(',').map(|word| word.trim().to_owned()).collect();
        Self {
            project_id: query.project_id,
            kinds: query.kinds.map(words),
            capabilities: query.capabilities.map(words),
            owner: query.owner,
            adapter: query.adapter,
            door: query.door,
            provider: query.provider,
            account: query.account,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a query in which every field is set.
    pub(crate) fn full_query() -> ClaimerQuery {
        ClaimerQuery {
            project_id: Some("apollo".to_owned()),
            kinds: Some("code, task".to_owned()),
            capabilities: Some("rust,gpu".to_owned()),
            owner: Some("ann".to_owned()),
            adapter: Some("claude".to_owned()),
            door: Some("run".to_owned()),
            provider: Some("anthropic".to_owned()),
            account: Some("team".to_owned()),
        }
    }

    #[test]
    fn a_body_says_in_lists_what_a_query_says_with_commas() {
        let wire = json!({
            "projectId": "apollo", "kinds": ["code", "task"], "capabilities": ["rust", "gpu"],
            "owner": "ann", "adapter": "claude", "door": "run", "provider": "anthropic", "account": "team"
        });
        let body = NextBody::from(full_query());
        assert_eq!(serde_json::to_value(&body).unwrap(), wire);
        assert_eq!(serde_json::from_value::<NextBody>(wire).unwrap(), body);
    }

    #[test]
    fn a_claimer_need_not_say_anything() {
        assert_eq!(NextBody::from(ClaimerQuery::default()), NextBody::default());
        assert_eq!(serde_json::from_str::<NextBody>("{}").unwrap(), NextBody::default());
        assert_eq!(serde_json::to_value(ClaimerQuery::default()).unwrap(), json!({}));
    }

    #[test]
    fn a_claimer_refuses_unknown_fields() {
        serde_json::from_str::<ClaimerQuery>(r#"{"project": "apollo"}"#).unwrap_err();
        serde_json::from_str::<NextBody>(r#"{"agent": "a"}"#).unwrap_err();
        serde_json::from_str::<NextBody>(r#"{"kinds": "code,task"}"#).unwrap_err();
    }
}
