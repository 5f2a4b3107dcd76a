//! `PUT /api/rules`: change how issues are ranked, and how much is handed out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::rules::{LimitsPut, ProfilePut, Rules, RulesPut};
use extraboard_core::gate::Limits;
use extraboard_core::kind::Kind;
use extraboard_core::profile::Profile;
use extraboard_store::verbs::{RulesChange, RulesEdit, RulesRead};

use super::rules_get::shown;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Admin, Body, Nothing, Params};
use crate::guard::check_agent_name;
use crate::validate::Problems;

/// The limit of an agent that has none though others have: more than can ever be handed out.
pub(super) const UNLIMITED: i64 = i64::MAX;
/// The largest limit.
const LIMIT_MAX: i64 = 1_000_000;
/// The most agents that may have limits of their own.
const AGENTS_MAX: usize = 1_000;
/// The longest interval whoever polls may be told: a day.
const POLL_INTERVAL_SECS_MAX: i64 = 24 * 60 * 60;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Params(Nothing {}): Params<Nothing>,
    Body(body): Body<RulesPut>,
) -> Result<Json<One<Rules>>, ApiError> {
    let edit = edit(&body)?;
    let change = RulesChange { ctx: app.desk.ctx(caller), edit, if_version: body.if_version };
    let changed = app.desk.write(change).await?;
    // Asked before the nudge: a small line is ranked anew faster than this can be read.
    let (_, reranking) = app.desk.read(RulesRead).await?;
    app.desk.nudge();
    Ok(Json(One { data: Rules { reranking, ..shown(changed) } }))
}

fn edit(body: &RulesPut) -> Result<RulesEdit, ApiError> {
    let mut problems = Problems::default();
    if let Some(secs) = body.poll_interval_secs {
        problems.range("pollIntervalSecs", secs, 1..=POLL_INTERVAL_SECS_MAX);
    }
    let edit = RulesEdit {
        profile: body.profile.as_ref().and_then(|put| profile(&mut problems, put)),
        limits: body.limits.as_ref().map(|put| limits(&mut problems, put)),
        poll_interval_secs: body.poll_interval_secs,
    };
    problems.check()?;
    Ok(edit)
}

/// Reads a shipped profile with some of its numbers changed.
fn profile(problems: &mut Problems, put: &ProfilePut) -> Option<Profile> {
    let mut profile = Profile::shipped(problems.word("profile.name", &put.name)?);
    // One of them would silently replace the other.
    if put.numbers.contains_key("age_boost_per_day") && put.numbers.contains_key("age_boost_per_minute") {
        problems.add("profile.numbers", "expected age_boost_per_day or age_boost_per_minute, got both");
    }
    for (key, number) in &put.numbers {
        if let Err(error) = profile.set(key, *number) {
            problems.add("profile.numbers", error.to_string());
        }
    }
    Some(profile)
}

fn limits(problems: &mut Problems, put: &LimitsPut) -> Limits {
    for (field, limit) in [
        ("limits.total", put.total),
        ("limits.project", put.project),
        ("limits.agent", put.agent),
        ("limits.account", put.account),
    ] {
        if let Some(limit) = limit {
            problems.range(field, limit, 0..=LIMIT_MAX);
        }
    }
    Limits {
        total: put.total,
        kinds: kinds(problems, &put.kinds),
        project: put.project,
        agent: put.agent,
        agents: agents(problems, &put.agents),
        account: put.account,
    }
}

/// Reads limits by kind; there is no general one, so null says nothing.
fn kinds(problems: &mut Problems, put: &BTreeMap<String, Option<i64>>) -> BTreeMap<Kind, i64> {
    let mut limits = BTreeMap::new();
    for (word, limit) in put {
        let kind = problems.word("limits.kinds", word);
        if let Some(limit) = limit {
            problems.range(&format!("limits.kinds.{word}"), *limit, 0..=LIMIT_MAX);
            limits.extend(kind.map(|kind| (kind, *limit)));
        }
    }
    limits
}

/// Reads limits by agent; null frees one from the limit that all others have.
fn agents(problems: &mut Problems, put: &BTreeMap<String, Option<i64>>) -> BTreeMap<String, i64> {
    if put.len() > AGENTS_MAX {
        problems.add("limits.agents", format!("expected at most {AGENTS_MAX} agents, got {}", put.len()));
        return BTreeMap::new();
    }
    for (agent, limit) in put {
        if let Err(message) = check_agent_name(agent) {
            problems.add("limits.agents", format!("{message}, got {agent:?}"));
        }
        if let Some(limit) = limit {
            problems.range(&format!("limits.agents.{agent}"), *limit, 0..=LIMIT_MAX);
        }
    }
    put.iter().map(|(agent, limit)| (agent.clone(), limit.unwrap_or(UNLIMITED))).collect()
}

#[cfg(test)]
mod tests {
    use extraboard_core::profile::ProfileName;
    use extraboard_store::verbs;
    use serde_json::{Value, json};

    use super::*;

    fn read(body: Value) -> Result<RulesEdit, String> {
        edit(&serde_json::from_value(body).unwrap()).map_err(|error| match error {
            ApiError::Invalid(fields) => {
                let told = fields.into_iter().map(|field| format!("{}: {}", field.field, field.message));
                told.collect::<Vec<_>>().join("; ")
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn what_is_absent_stays() {
        assert_eq!(read(json!({})).unwrap(), RulesEdit::default());
        let edit = read(json!({"pollIntervalSecs": 5})).unwrap();
        assert_eq!(edit, RulesEdit { poll_interval_secs: Some(5), ..RulesEdit::default() });
    }

    #[test]
    fn a_profile_starts_from_the_shipped_one() {
        let edit = read(json!({"profile": {"name": "depth_first", "numbers": {"code": 90}}})).unwrap();
        let mut expected = Profile::shipped(ProfileName::DepthFirst);
        expected.set("code", 90).unwrap();
        assert_eq!(edit.profile, Some(expected));
    }

    #[test]
    fn rules_come_back_as_they_were_put() {
        let body = json!({
            "limits": {
                "total": 0, "kinds": {"code": 4}, "project": null, "agent": 1,
                "agents": {"big": null, "small": 2}, "account": 1_000_000
            },
            "profile": {"name": "pipeline"}, "pollIntervalSecs": 3600
        });
        let edit = read(body.clone()).unwrap();
        assert_eq!(edit.limits.as_ref().unwrap().agents["big"], UNLIMITED);
        let rules = shown(verbs::Rules {
            version: 1,
            profile: edit.profile.unwrap(),
            limits: edit.limits.unwrap(),
            poll_interval_secs: edit.poll_interval_secs.unwrap(),
        });
        let rules = serde_json::to_value(rules).unwrap();
        assert_eq!(rules["limits"], body["limits"]);
        assert_eq!(
            (&rules["pollIntervalSecs"], &rules["profile"]["name"]),
            (&json!(3600), &json!("pipeline"))
        );
    }

    #[test]
    fn bad_rules_are_named() {
        for (body, expected) in [
            (json!({"pollIntervalSecs": 0}), "pollIntervalSecs: expected 1 to 86400, got 0"),
            (json!({"profile": {"name": "lifo"}}), "profile.name: expected a profile: one of"),
            (
                json!({"profile": {"name": "pipeline", "numbers": {"plam": 1}}}),
                "profile.numbers: a profile has no number \"plam\"",
            ),
            (
                json!({"profile": {"name": "pipeline", "numbers": {"plan": 1001}}}),
                "profile.numbers: plan: expected -1000 to 1000, got 1001",
            ),
            (
                json!({"profile": {"name": "pipeline", "numbers":
                    {"age_boost_per_day": 1, "age_boost_per_minute": 1}}}),
                "profile.numbers: expected age_boost_per_day or age_boost_per_minute, got both",
            ),
            (json!({"limits": {"total": -1}}), "limits.total: expected 0 to 1000000, got -1"),
            (json!({"limits": {"kinds": {"coed": 1}}}), "limits.kinds: expected a type"),
            (json!({"limits": {"kinds": {"code": 1_000_001}}}), "limits.kinds.code: expected 0 to 1000000"),
            (json!({"limits": {"agents": {"two words": 1}}}), "limits.agents: expected one name"),
        ] {
            let told = read(body.clone()).unwrap_err();
            assert!(told.starts_with(expected), "{body}: {told}");
        }
    }
}
