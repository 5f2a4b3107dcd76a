//! The rules all replicas rank and hand out by: profile and limits, with a version.
//!
//! Entering the line reads them under a shared lock that is held to the end of the
//! transaction; changing what ranks depend on, the profile or a project's goal,
//! takes it alone. So whatever entered by older rules has committed when the change
//! does, and the re-rank that follows finds it.

use std::collections::{BTreeMap, HashMap, HashSet};

use extraboard_core::gate::Limits;
use extraboard_core::id::ProjectNumber;
use extraboard_core::profile::{Goal, Profile, Ranking};
use extraboard_core::task::Task;
use serde_json::{Map, Value as Json, json};

use crate::error::Error;
use crate::postgres::RANK_LOCK;
use crate::tx::{Dialect, Sql, Tx, first};
use crate::value::{Row, params};

/// What the desk ranks and hands out by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Grows with every change; 0 if nobody has said anything yet.
    pub version: i64,
    /// How tasks are ranked.
    pub profile: Profile,
    /// How much may be handed out.
    pub limits: Limits,
    /// How often whoever polls should look.
    pub poll_interval_secs: i64,
}

/// The columns of the rules, in the order [`from_row`] reads them.
macro_rules! rules_columns {
    () => {
        "r.version, r.profile, r.limits, r.poll_interval_secs"
    };
}

pub(crate) use rules_columns;

/// Reads the columns of [`rules_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Rules, Error> {
    Ok(Rules {
        version: row.int()?,
        profile: read_profile(&row.text()?)?,
        limits: read_limits(&row.text()?)?,
        poll_interval_secs: row.int()?,
    })
}

/// Reads the rules.
pub(crate) async fn read<T: Tx>(tx: &mut T) -> Result<Rules, Error> {
    let row = first(tx, concat!("SELECT ", rules_columns!(), " FROM rules r").into(), params![]).await?;
    from_row(&mut row.ok_or_else(|| Error::unreadable("no rules"))?)
}

/// Keeps what ranks depend on as it is until the transaction ends.
pub(crate) async fn share_rank_lock<T: Tx>(tx: &mut T) -> Result<(), Error> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute("SELECT pg_advisory_xact_lock_shared($1)".into(), params![RANK_LOCK]).await?;
    }
    Ok(())
}

/// Waits for whatever is entering the line, and keeps more of it out.
pub(crate) async fn take_rank_lock<T: Tx>(tx: &mut T) -> Result<(), Error> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute("SELECT pg_advisory_xact_lock($1)".into(), params![RANK_LOCK]).await?;
    }
    Ok(())
}

/// What tasks of some projects are ranked by.
#[derive(Debug)]
pub(crate) struct Rankings {
    pub(crate) profile: Profile,
    with_goal: HashSet<ProjectNumber>,
    /// Where each level of the line begins.
    pub(crate) heads: HashMap<i64, i64>,
}

impl Rankings {
    /// Returns what a task is ranked by.
    pub(crate) fn of(&self, task: &Task) -> Ranking {
        Ranking { profile: self.profile.clone(), goal: self.goal(task.project) }
    }

    /// Tells whether a project has an active goal.
    pub(crate) fn goal(&self, project: Option<ProjectNumber>) -> Goal {
        match project {
            Some(project) if self.with_goal.contains(&project) => Goal::Active,
            _ => Goal::None,
        }
    }
}

const RANKINGS: Sql = Sql {
    postgres: "SELECT r.profile, \
         (SELECT string_agg(p.number::text, ',') FROM project p \
          WHERE p.number = ANY($1) AND p.goal_active = 1), \
         (SELECT string_agg(h.level || ':' || h.arrival, ',') FROM line_head h) \
       FROM rules r",
    sqlite: "SELECT r.profile, \
         (SELECT group_concat(p.number) FROM project p \
          WHERE p.number IN (SELECT value FROM json_each($1)) AND p.goal_active = 1), \
         (SELECT group_concat(h.level || ':' || h.arrival) FROM line_head h) \
       FROM rules r",
};

/// Reads what tasks of these projects are ranked by.
pub(crate) async fn rankings<T: Tx>(
    tx: &mut T,
    projects: impl IntoIterator<Item = Option<ProjectNumber>>,
) -> Result<Rankings, Error> {
    let projects: HashSet<_> = projects.into_iter().flatten().map(|project| project.0).collect();
    let row = first(tx, RANKINGS, params![projects.into_iter().collect::<Vec<_>>()]).await?;
    let mut row = row.ok_or_else(|| Error::unreadable("no rules"))?;
    let profile = read_profile(&row.text()?)?;
    let list = row.opt_text()?.unwrap_or_default();
    let with_goal = list.split(',').filter_map(|number| number.parse().ok().map(ProjectNumber)).collect();
    let heads = row.opt_text()?.unwrap_or_default();
    let heads = heads.split(',').filter_map(|head| {
        let (level, arrival) = head.split_once(':')?;
        Some((level.parse().ok()?, arrival.parse().ok()?))
    });
    Ok(Rankings { profile, with_goal, heads: heads.collect() })
}

/// Writes a profile as it is stored.
pub(crate) fn write_profile(profile: &Profile) -> String {
    let numbers: Map<String, Json> =
        profile.numbers().map(|(key, number)| (key.to_owned(), number.into())).collect();
    json!({ "name": profile.name.as_str(), "numbers": numbers }).to_string()
}

fn read_profile(text: &str) -> Result<Profile, Error> {
    let bad = || Error::unreadable(format!("the profile {text:?}"));
    let stored: Json = serde_json::from_str(text).map_err(|_| bad())?;
    let name = stored["name"].as_str().and_then(|name| name.parse().ok()).ok_or_else(bad)?;
    let mut profile = Profile::shipped(name);
    for (key, number) in stored["numbers"].as_object().ok_or_else(bad)? {
        profile.set(key, number.as_i64().ok_or_else(bad)?).map_err(|_| bad())?;
    }
    Ok(profile)
}

/// Writes limits as they are stored.
pub(crate) fn write_limits(limits: &Limits) -> String {
    let kinds: BTreeMap<_, _> = limits.kinds.iter().map(|(kind, limit)| (kind.as_str(), *limit)).collect();
    json!({
        "total": limits.total,
        "kinds": kinds,
        "project": limits.project,
        "agent": limits.agent,
        "agents": limits.agents,
        "account": limits.account,
    })
    .to_string()
}

fn read_limits(text: &str) -> Result<Limits, Error> {
    let bad = || Error::unreadable(format!("the limits {text:?}"));
    let stored: Json = serde_json::from_str(text).map_err(|_| bad())?;
    let mut limits = Limits {
        total: stored["total"].as_i64(),
        project: stored["project"].as_i64(),
        agent: stored["agent"].as_i64(),
        account: stored["account"].as_i64(),
        ..Limits::default()
    };
    for (kind, limit) in stored["kinds"].as_object().into_iter().flatten() {
        let kind = kind.parse().map_err(|_| bad())?;
        limits.kinds.insert(kind, limit.as_i64().ok_or_else(bad)?);
    }
    for (agent, limit) in stored["agents"].as_object().into_iter().flatten() {
        limits.agents.insert(agent.clone(), limit.as_i64().ok_or_else(bad)?);
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use extraboard_core::kind::Kind;
    use extraboard_core::profile::ProfileName;

    use super::*;

    #[test]
    fn a_profile_comes_back_as_it_was_written() {
        for name in ProfileName::ALL {
            let mut profile = Profile::shipped(*name);
            profile.set("code", 99).unwrap();
            assert_eq!(read_profile(&write_profile(&profile)).unwrap(), profile);
        }
    }

    #[test]
    fn limits_come_back_as_they_were_written() {
        let limits = Limits {
            total: Some(50),
            kinds: BTreeMap::from([(Kind::Plan, 2)]),
            agents: BTreeMap::from([("a".to_owned(), 0)]),
            ..Limits::default()
        };
        assert_eq!(read_limits(&write_limits(&limits)).unwrap(), limits);
        assert_eq!(read_limits("{}").unwrap(), Limits::default());
    }
}
