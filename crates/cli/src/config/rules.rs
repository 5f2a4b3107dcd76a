//! What tasks are ranked and handed out by, as the configuration says it.

use std::collections::BTreeMap;

use extraboard_core::gate::Limits;
use extraboard_core::kind::Kind;
use extraboard_core::profile::Profile;
use extraboard_store::verbs::RulesEdit;

use super::key::{Key, LIMIT_MAX, POLL_INTERVAL_SECS_MAX};
use super::layer::{Layer, Raw, Setting};
use super::problem::ConfigProblem;
use super::resolve::{bad_value, text, value};

/// What a file writes for no limit.
const NONE: &str = "none";
/// The longest name of an agent.
const AGENT_CHARS_MAX: usize = 100;

/// Profile, limits and poll interval.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) profile: Profile,
    pub(crate) limits: Limits,
    pub(crate) poll_interval_secs: i64,
    /// What somebody said; a desk keeps to what its database says otherwise.
    pub(crate) said: RulesEdit,
    /// Which limits somebody mentioned.
    pub(crate) said_limits: Vec<Key>,
}

impl Rules {
    /// Returns a number of the profile; some do not apply to it.
    pub(crate) fn number(&self, key: &str) -> Option<i64> {
        self.profile.numbers().find(|(known, _)| *known == key).map(|(_, number)| number)
    }
}

/// Checks every key of profile, limits and poll interval.
pub(super) fn resolve(layer: &Layer) -> Result<Rules, ConfigProblem> {
    let profile = profile(layer)?;
    let limits = limits(layer)?;
    let poll_interval_secs = value(layer, Key::PollIntervalSecs, poll_interval_secs)?;
    let said_limits: Vec<Key> = Key::of_limits().filter(|key| layer.is_said(*key)).collect();
    let said = RulesEdit {
        profile: Key::of_profile().any(|key| layer.is_said(key)).then(|| profile.clone()),
        limits: (!said_limits.is_empty()).then(|| limits.clone()),
        poll_interval_secs: layer.is_said(Key::PollIntervalSecs).then_some(poll_interval_secs),
    };
    Ok(Rules { profile, limits, poll_interval_secs, said, said_limits })
}

fn profile(layer: &Layer) -> Result<Profile, ConfigProblem> {
    let mut profile = Profile::shipped(text(layer, Key::ProfileName, |text| text.parse().ok())?);
    for number in Profile::keys() {
        let key = Key::ProfileNumber(number);
        let Some(setting) = layer.get(key) else { continue };
        let Raw::Whole(value) = setting.raw else { return Err(bad_value(key, setting)) };
        profile.set(number, value).map_err(|_| bad_value(key, setting))?;
    }
    one_rate(layer)?;
    Ok(profile)
}

/// Refuses two rates at which age counts: there is one.
fn one_rate(layer: &Layer) -> Result<(), ConfigProblem> {
    let rate = |number| layer.get(Key::ProfileNumber(number));
    match (rate("age_boost_per_day"), rate("age_boost_per_minute")) {
        (Some(day), Some(minute)) => Err(ConfigProblem::Twice {
            name: minute.name.clone(),
            other: day.name.clone(),
            origin: minute.origin.clone(),
        }),
        (Some(_), None) | (None, Some(_) | None) => Ok(()),
    }
}

fn limits(layer: &Layer) -> Result<Limits, ConfigProblem> {
    let limit_of = |key| value(layer, key, limit);
    let mut kinds = BTreeMap::new();
    for kind in Kind::ALL {
        if let Some(limit) = limit_of(Key::LimitKind(*kind))? {
            kinds.insert(*kind, limit);
        }
    }
    Ok(Limits {
        total: limit_of(Key::LimitTotal)?,
        kinds,
        project: limit_of(Key::LimitProject)?,
        agent: limit_of(Key::LimitAgent)?,
        agents: value(layer, Key::LimitAgents, agents)?,
        account: limit_of(Key::LimitAccount)?,
    })
}

#[expect(clippy::option_option, reason = "a value that is no limit, and one that says none, are told apart")]
fn limit(setting: &Setting) -> Option<Option<i64>> {
    match &setting.raw {
        Raw::Whole(limit) => is_limit(*limit).then_some(Some(*limit)),
        Raw::Text(text) => (text == NONE).then_some(None),
        Raw::List(_) | Raw::Table(_) => None,
    }
}

fn agents(setting: &Setting) -> Option<BTreeMap<String, i64>> {
    let Raw::Table(table) = &setting.raw else { return None };
    let is_name = |name: &str| {
        (1..=AGENT_CHARS_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    table.iter().all(|(name, limit)| is_name(name) && is_limit(*limit)).then(|| table.clone())
}

fn is_limit(limit: i64) -> bool {
    (0..=LIMIT_MAX).contains(&limit)
}

fn poll_interval_secs(setting: &Setting) -> Option<i64> {
    let Raw::Whole(seconds) = setting.raw else { return None };
    (1..=POLL_INTERVAL_SECS_MAX).contains(&seconds).then_some(seconds)
}
