//! What a claim goes by: the rules and the state of every gate, read under the claim lock.

use std::collections::HashMap;

use extraboard_core::clock::Timestamp;
use extraboard_core::gate::{Account, AccountGate, Conditions, Limits, ProjectGate, Usage, Used};
use extraboard_core::id::ProjectNumber;
use extraboard_core::kind::Kind;
use extraboard_core::profile::Profile;

use crate::error::Error;
use crate::rules::{self, rules_columns};
use crate::tx::{Tx, first};
use crate::value::params;

/// The rules and the state of the gates, all of one moment.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// How tasks are ranked.
    pub(crate) profile: Profile,
    /// What gates depend on.
    pub(crate) conditions: Conditions,
    /// How the line is sorted.
    pub(crate) levels: Levels,
    /// Where the line begins, if it has one order and anything in it.
    pub(crate) head: Option<i64>,
    /// Whether timers are due.
    pub(crate) due: bool,
    /// Which templates there are.
    pub(crate) epoch: String,
}

/// How the line is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    /// In one order.
    One,
    /// Level by level: age is capped, or a re-rank is under way.
    Many,
}

/// Most of what could close a gate usually is not there: one statement tells.
const FLAGS: &str = concat!(
    "SELECT ",
    rules_columns!(),
    ", CASE WHEN EXISTS (SELECT 1 FROM timer WHERE due_at <= $1) THEN 1 ELSE 0 END, \
       CASE WHEN EXISTS (SELECT 1 FROM rerank) THEN 1 ELSE 0 END, \
       CASE WHEN EXISTS (SELECT 1 FROM project WHERE deleted_at IS NULL \
         AND (status IN ('paused','canceled') OR run_limit IS NOT NULL)) THEN 1 ELSE 0 END, \
       CASE WHEN EXISTS (SELECT 1 FROM account_gate) THEN 1 ELSE 0 END, \
       (SELECT arrival FROM line_head WHERE level = 0), \
       (SELECT epoch FROM catalogue) \
     FROM rules r"
);

/// Reads what a claim goes by.
pub(crate) async fn read<T: Tx>(tx: &mut T, now: Timestamp) -> Result<Section, Error> {
    let row = first(tx, FLAGS.into(), params![now.as_micros()]).await?;
    let mut row = row.ok_or_else(|| Error::unreadable("no rules"))?;
    let rules = rules::from_row(&mut row)?;
    let (due, reranking) = (row.flag()?, row.flag()?);
    let (gated_projects, gated_accounts) = (row.flag()?, row.flag()?);
    let head = row.opt_int()?;
    let epoch = row.text()?;
    let limits = rules.limits;
    let projects = match (limits.project.is_some(), gated_projects) {
        (true, _) => project_gates(tx, ALL_PROJECTS).await?,
        (false, true) => project_gates(tx, GATED_PROJECTS).await?,
        (false, false) => HashMap::new(),
    };
    let accounts = if gated_accounts { account_gates(tx).await? } else { HashMap::new() };
    let usage = if is_limited(&limits, &projects) { usage(tx).await? } else { Usage::default() };
    let levels = if rules.profile.is_linear() && !reranking { Levels::One } else { Levels::Many };
    let conditions = Conditions { now, limits, usage, projects, accounts };
    Ok(Section { profile: rules.profile, conditions, levels, head, due, epoch })
}

fn is_limited(limits: &Limits, projects: &HashMap<ProjectNumber, ProjectGate>) -> bool {
    !limits.is_empty() || projects.values().any(|gate| gate.run_limit.is_some())
}

const ALL_PROJECTS: &str = "SELECT number, name, status, run_limit FROM project WHERE deleted_at IS NULL";
const GATED_PROJECTS: &str = "SELECT number, name, status, run_limit \
     FROM project \
     WHERE deleted_at IS NULL AND (status IN ('paused','canceled') OR run_limit IS NOT NULL)";

async fn project_gates<T: Tx>(
    tx: &mut T,
    sql: &'static str,
) -> Result<HashMap<ProjectNumber, ProjectGate>, Error> {
    let rows = tx.query(sql.into(), params![]).await?;
    rows.into_iter()
        .map(|mut row| {
            let number = ProjectNumber(row.int()?);
            let gate = ProjectGate { name: row.text()?, status: row.parse()?, run_limit: row.opt_int()? };
            Ok((number, gate))
        })
        .collect()
}

/// Reads the gates of accounts.
pub(crate) async fn account_gates<T: Tx>(tx: &mut T) -> Result<HashMap<Account, AccountGate>, Error> {
    let sql = "SELECT provider, account, hits, until FROM account_gate";
    let rows = tx.query(sql.into(), params![]).await?;
    rows.into_iter()
        .map(|mut row| {
            let account = Account { provider: row.text()?, account: row.text()? };
            let gate = AccountGate { hits: row.int()?, until: Timestamp::from_micros(row.int()?) };
            Ok((account, gate))
        })
        .collect()
}

/// Counted, not kept: there are few of them where there are limits, and a counter that
/// every claim and every report wrote would make them wait for each other.
const USAGE: &str = "SELECT kind, project, holder, provider, account, COUNT(*) \
     FROM dispatch \
     WHERE closed_at IS NULL \
     GROUP BY kind, project, holder, provider, account";

async fn usage<T: Tx>(tx: &mut T) -> Result<Usage, Error> {
    let mut usage = Usage::default();
    for mut row in tx.query(USAGE.into(), params![]).await? {
        let kind: Kind = row.parse()?;
        let project = row.opt_int()?.map(ProjectNumber);
        let holder = row.text()?;
        let provider = row.opt_text()?;
        let account = row.opt_text()?.unwrap_or_default();
        let account = provider.map(|provider| Account { provider, account });
        let count = row.int()?;
        usage.add(&Used { kind, project, holder: &holder, account: account.as_ref(), count });
    }
    Ok(usage)
}
