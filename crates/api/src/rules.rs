//! The rules of the desk: how issues are ranked, how much is handed out at once, how often to ask.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::present;

/// What `GET|PUT /api/rules` answers under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// Grows with every change.
    pub version: i64,
    pub profile: Profile,
    #[serde(default)]
    pub limits: Limits,
    /// How long a claimer that got nothing should wait.
    pub poll_interval_secs: i64,
    /// Whether waiting issues are still being put in the order of these rules.
    #[serde(default)]
    pub reranking: bool,
}

/// What a score is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The shipped profile that the numbers started from.
    pub name: String,
    /// Without those that do not apply.
    #[serde(default)]
    pub numbers: BTreeMap<String, i64>,
}

/// How much may be handed out at once; null is without limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Altogether.
    pub total: Option<i64>,
    /// Of issues of one type.
    pub kinds: BTreeMap<String, Option<i64>>,
    /// Of each project that has no limit of its own.
    pub project: Option<i64>,
    /// To each agent that has no limit of its own.
    pub agent: Option<i64>,
    /// To particular agents, by name.
    pub agents: BTreeMap<String, Option<i64>>,
    /// On each provider account.
    pub account: Option<i64>,
}

/// The body of `PUT /api/rules`: what is absent stays, what is there replaces that part whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RulesPut {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfilePut>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsPut>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub poll_interval_secs: Option<i64>,
    /// Refuses the change if the rules are not those of this version any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_version: Option<i64>,
}

/// The profile to rank by from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfilePut {
    /// The shipped profile to start from.
    pub name: String,
    /// The numbers to change in it.
    #[serde(default)]
    pub numbers: BTreeMap<String, i64>,
}

/// The limits to keep from now on; what is absent or null is without limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LimitsPut {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    pub kinds: BTreeMap<String, Option<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<i64>,
    pub agents: BTreeMap<String, Option<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<i64>,
}

/// Serves to change one limit: the others have to be sent along.
impl From<Limits> for LimitsPut {
    fn from(limits: Limits) -> Self {
        Self {
            total: limits.total,
            kinds: limits.kinds,
            project: limits.project,
            agent: limits.agent,
            agents: limits.agents,
            account: limits.account,
        }
    }
}

/// Serves to change one number: the others have to be sent along.
impl From<Profile> for ProfilePut {
    fn from(profile: Profile) -> Self {
        Self { name: profile.name, numbers: profile.numbers }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules_json() -> Value {
        json!({
            "version": 3,
            "profile": {"name": "pipeline", "numbers": {"goal_bonus": 20}},
            "limits": {
                "total": 10, "kinds": {"code": 4}, "project": null, "agent": 1, "agents": {"big": null},
                "account": null
            },
            "pollIntervalSecs": 1, "reranking": false
        })
    }

    #[test]
    fn rules_read_and_write_as_documented() {
        let rules: Rules = serde_json::from_value(rules_json()).unwrap();
        assert_eq!(rules.limits.agents["big"], None);
        assert_eq!(serde_json::to_value(&rules).unwrap(), rules_json());
    }

    #[test]
    fn rules_with_limits_of_a_newer_server_still_read() {
        let mut newer = rules_json();
        newer["limits"] = json!({"total": 10, "cost": 5});
        let rules: Rules = serde_json::from_value(newer).unwrap();
        assert_eq!(rules.limits, Limits { total: Some(10), ..Limits::default() });
    }

    #[test]
    fn rules_that_were_read_can_be_put_back() {
        let rules: Rules = serde_json::from_value(rules_json()).unwrap();
        let put = RulesPut {
            profile: Some(rules.profile.into()),
            limits: Some(rules.limits.into()),
            if_version: Some(rules.version),
            ..RulesPut::default()
        };
        let wire = json!({
            "profile": {"name": "pipeline", "numbers": {"goal_bonus": 20}},
            "limits": {"total": 10, "kinds": {"code": 4}, "agent": 1, "agents": {"big": null}},
            "ifVersion": 3
        });
        assert_eq!(serde_json::to_value(&put).unwrap(), wire);
        assert_eq!(serde_json::from_value::<RulesPut>(wire).unwrap(), put);
    }

    #[test]
    fn limits_may_be_absent_or_null() {
        let put: LimitsPut = serde_json::from_str(r#"{"total": null, "kinds": {"code": null}}"#).unwrap();
        assert_eq!((put.total, put.project, put.kinds["code"]), (None, None, None));
    }

    #[test]
    fn a_part_that_is_named_must_be_there() {
        for part in ["profile", "limits", "pollIntervalSecs"] {
            let body = format!(r#"{{"{part}": null}}"#);
            assert!(serde_json::from_str::<RulesPut>(&body).is_err(), "{part}");
        }
    }

    #[test]
    fn every_part_refuses_unknown_fields() {
        for body in [
            r#"{"version": 3}"#,
            r#"{"limits": {"agnet": 1}}"#,
            r#"{"profile": {"name": "pipeline", "goal_bonus": 1}}"#,
            r#"{"profile": {"numbers": {}}}"#,
        ] {
            assert!(serde_json::from_str::<RulesPut>(body).is_err(), "{body}");
        }
    }
}
