//! Preview the line: what would be handed out, in that order.

use extraboard_core::clock::Timestamp;
use extraboard_core::gate::{Audience, Claimer, Gate};
use extraboard_core::profile::Score;
use extraboard_core::task::Task;

use super::claim::heads;
use super::claim::lanes::{self, Stratum};
use super::claim::pick::lanes_of;
use super::claim::section;
use super::task_list::TOTAL_MAX;
use crate::error::Error;
use crate::rows::task;
use crate::rules;
use crate::tx::{Sql, Tx, Verb, first};
use crate::value::params;

/// Lists the tasks a claimer would be handed.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The claimer.
    pub claimer: Claimer,
    /// Which tasks.
    pub scope: QueueScope,
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
    /// The present.
    pub now: Timestamp,
}

/// Which tasks a preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueScope {
    /// What the claimer would be handed.
    Open,
    /// Everything in line, with the gates that are closed.
    All,
}

/// One place in the line.
#[derive(Clone, Debug)]
pub struct QueueEntry {
    /// The task.
    pub task: Task,
    /// The parts of its score.
    pub score: Score,
    /// The gates that are closed to the claimer.
    pub gates: Vec<Gate>,
}

/// A page of the line.
#[derive(Clone, Debug)]
pub struct QueuePage {
    /// The tasks, first to be handed out first.
    pub entries: Vec<QueueEntry>,
    /// How many there are, counted to 10,000.
    pub total: i64,
    /// Whether there are more than that.
    pub total_capped: bool,
}

/// A list of lanes is an array on PostgreSQL and a JSON array on SQLite.
const TOTAL: Sql = Sql {
    postgres: "SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE lane = ANY($1) LIMIT $2) AS counted",
    sqlite: "SELECT COUNT(*) FROM \
       (SELECT 1 FROM line WHERE lane IN (SELECT value FROM json_each($1)) LIMIT $2) AS counted",
};

impl Verb for Queue {
    type Output = QueuePage;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<QueuePage, Error> {
        let section = section::read(tx, self.now).await?;
        let audience = Audience::Claimer(&self.claimer);
        let strata = lanes::strata(tx).await?;
        let lanes = lanes_of(tx, &strata).await?;
        let is_shown = |stratum: &&Stratum| {
            let gates = lanes.get(&stratum.lane).map(|lane| audience.closed_gates(lane, &section.conditions));
            self.scope == QueueScope::All || gates.is_some_and(|gates| gates.is_empty())
        };
        let shown: Vec<_> = strata.iter().filter(is_shown).copied().collect();
        let rows = usize::try_from(self.offset + self.limit).unwrap_or(0);
        let line = if shown.len() == strata.len() {
            heads::walk(tx, &section, rows).await?.candidates
        } else {
            heads::of_strata(tx, &section, &shown, rows).await?
        };
        let page: Vec<_> = line
            .into_iter()
            .skip(usize::try_from(self.offset).unwrap_or(usize::MAX))
            .take(usize::try_from(self.limit).unwrap_or(0))
            .map(|candidate| candidate.rank.number)
            .collect();
        let mut tasks = task::get_many(tx, page.iter().map(|number| number.0).collect()).await?;
        let rankings = rules::rankings(tx, tasks.iter().map(|task| task.project)).await?;
        let place = |task: &Task| page.iter().position(|number| *number == task.number);
        tasks.sort_by_key(place);
        let entries = tasks
            .into_iter()
            .map(|task| QueueEntry {
                score: rankings.profile.score(&task, rankings.goal(task.project), self.now),
                gates: audience.closed_gates(&task.lane(), &section.conditions),
                task,
            })
            .collect();
        let mut ids: Vec<_> = shown.iter().map(|stratum| stratum.lane.0).collect();
        ids.dedup();
        let row = first(tx, TOTAL, params![ids, TOTAL_MAX + 1]).await?;
        let total = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
        Ok(QueuePage { entries, total: total.min(TOTAL_MAX), total_capped: total > TOTAL_MAX })
    }
}
