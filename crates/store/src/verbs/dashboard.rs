//! The whole at a glance: counts, what happened last, and how prompts do.

use std::collections::HashMap;

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::state::State;
use extraboard_core::task::Task;
use extraboard_core::template::{Template, Version};

use super::relation_list::{Related, related_to};
use super::task_list::TOTAL_MAX;
use super::template::versions;
use crate::error::Error;
use crate::rows::task::{self, task_columns};
use crate::rows::template::{self, template_columns};
use crate::tx::{Sql, Tx, Verb, first};
use crate::value::params;

/// Counts tasks and goals.
#[derive(Clone, Copy, Debug)]
pub struct StatsRead {
    /// The present.
    pub now: Timestamp,
}

/// The counts, all of one moment.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Tasks that are not deleted, by state and kind.
    pub tasks: Vec<(State, Kind, i64)>,
    /// How many of them were done within the last day.
    pub completed_last_day: i64,
    /// Goals that are not deleted: all, active, achieved.
    pub goals: (i64, i64, i64),
}

const TASKS: &str = "SELECT state, kind, COUNT(*), \
       COALESCE(SUM(CASE WHEN state = 'done' AND completed_at > $1 THEN 1 ELSE 0 END), 0) \
     FROM task \
     WHERE deleted_at IS NULL \
     GROUP BY state, kind \
     ORDER BY state, kind";
const GOALS: &str = "SELECT COUNT(*), \
       COALESCE(SUM(CASE WHEN status = 'active' THEN 1 ELSE 0 END), 0), \
       COALESCE(SUM(CASE WHEN status = 'achieved' THEN 1 ELSE 0 END), 0) \
     FROM goal \
     WHERE deleted_at IS NULL";

impl Verb for StatsRead {
    type Output = Stats;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Stats, Error> {
        let mut stats = Stats::default();
        let since = self.now.minus(Span::from_days(1)).as_micros();
        for mut row in tx.query(TASKS.into(), params![since]).await? {
            stats.tasks.push((row.parse()?, row.parse()?, row.int()?));
            stats.completed_last_day += row.int()?;
        }
        let row = first(tx, GOALS.into(), params![]).await?;
        let mut row = row.ok_or_else(|| Error::unreadable("no count"))?;
        stats.goals = (row.int()?, row.int()?, row.int()?);
        Ok(stats)
    }
}

/// How many events are looked through for what happened last.
const EVENTS_MAX: i64 = 2_000;

/// Reads the tasks without a parent something happened to last, to them or below them, and
/// how many without a parent there are, counted to 10,000.
#[derive(Clone, Copy, Debug)]
pub struct ActivityRead {
    /// How many to return.
    pub limit: usize,
}

/// A task without a parent, and what stands around it.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The task.
    pub task: Task,
    /// Its first parts.
    pub children: Vec<Task>,
    /// The relations of those.
    pub related: Vec<Related>,
    /// When something last happened to any of them.
    pub latest: Timestamp,
}

/// The log knows the order in which things happened; an index on tasks for it would cost
/// every claim.
const LATEST: &str = "SELECT e.task, e.at \
     FROM event e \
     WHERE e.pos IS NOT NULL AND e.task IS NOT NULL \
     ORDER BY e.pos DESC \
     LIMIT $1";
/// What the log does not tell of any more is told of by number.
const NEWEST: &str = "SELECT number, updated_at \
     FROM task \
     WHERE parent IS NULL AND deleted_at IS NULL \
     ORDER BY number DESC \
     LIMIT $1";
const ROOTS: &str = "SELECT COUNT(*) \
     FROM (SELECT 1 FROM task WHERE parent IS NULL AND deleted_at IS NULL LIMIT $1) AS counted";
const PARENT: &str = "SELECT parent, deleted_at FROM task WHERE number = $1";

/// How many parts of each task are told of.
const CHILDREN_SHOWN: i64 = 50;

macro_rules! children {
    ($from:literal) => {
        concat!("SELECT ", task_columns!(), $from)
    };
}

const CHILDREN: Sql = Sql {
    postgres: children!(
        " FROM unnest($1::bigint[]) AS u (number) \
         CROSS JOIN LATERAL ( \
           SELECT * FROM task \
           WHERE task.parent = u.number AND task.deleted_at IS NULL \
           ORDER BY task.number \
           LIMIT $2) AS t \
         ORDER BY t.number"
    ),
    sqlite: children!(
        " FROM (SELECT *, row_number() OVER (PARTITION BY parent ORDER BY number) AS nr \
           FROM task \
           WHERE parent IN (SELECT value FROM json_each($1)) AND deleted_at IS NULL) AS t \
         WHERE t.nr <= $2 ORDER BY t.number"
    ),
};

impl Verb for ActivityRead {
    type Output = (Vec<Activity>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Activity>, i64), Error> {
        let roots = self.roots(tx).await?;
        let mut tasks: HashMap<_, _> = task::get_many(tx, roots.iter().map(|(root, _)| root.0).collect())
            .await?
            .into_iter()
            .filter(|task| task.deleted_at.is_none())
            .map(|task| (task.number, task))
            .collect();
        let rows = tx
            .query(CHILDREN, params![tasks.keys().map(|number| number.0).collect::<Vec<_>>(), CHILDREN_SHOWN])
            .await?;
        let children =
            rows.into_iter().map(|mut row| task::from_row(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let related = related_to(tx, &children).await?;
        let shown = roots.into_iter().filter_map(|(number, latest)| {
            let task = tasks.remove(&number)?;
            let children: Vec<_> =
                children.iter().filter(|child| child.parent == Some(number)).cloned().collect();
            let of_children =
                |(child, _): &&(TaskNumber, Related)| children.iter().any(|one| one.number == *child);
            let related = related.iter().filter(of_children).map(|(_, related)| related.clone()).collect();
            Some(Activity { task, children, related, latest })
        });
        let shown = shown.collect();
        let row = first(tx, ROOTS.into(), params![TOTAL_MAX]).await?;
        Ok((shown, row.ok_or_else(|| Error::unreadable("no count"))?.int()?))
    }
}

impl ActivityRead {
    /// Returns tasks without a parent, the one something happened to last first.
    async fn roots<T: Tx>(&self, tx: &mut T) -> Result<Vec<(TaskNumber, Timestamp)>, Error> {
        let mut roots: Vec<(TaskNumber, Timestamp)> = Vec::new();
        let mut known: HashMap<TaskNumber, Option<TaskNumber>> = HashMap::new();
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        for (sql, most) in [(LATEST, EVENTS_MAX), (NEWEST, limit)] {
            for mut row in tx.query(sql.into(), params![most]).await? {
                let number = TaskNumber(row.int()?);
                let at = Timestamp::from_micros(row.int()?);
                let root = match known.get(&number) {
                    Some(root) => *root,
                    None => root_of(tx, number).await?,
                };
                known.insert(number, root);
                let Some(root) = root else { continue };
                if roots.iter().all(|(listed, _)| *listed != root) {
                    roots.push((root, at));
                }
                if roots.len() == self.limit {
                    return Ok(roots);
                }
            }
        }
        Ok(roots)
    }
}

/// Returns the task without a parent that a task lies below, unless that was deleted.
async fn root_of<T: Tx>(tx: &mut T, mut number: TaskNumber) -> Result<Option<TaskNumber>, Error> {
    // There are at most eight levels and no cycles.
    loop {
        let Some(mut row) = first(tx, PARENT.into(), params![number.0]).await? else { return Ok(None) };
        match (row.opt_int()?, row.opt_int()?) {
            (Some(parent), _) => number = TaskNumber(parent),
            (None, None) => return Ok(Some(number)),
            (None, Some(_)) => return Ok(None),
        }
    }
}

/// Reads how the prompts of every template do.
#[derive(Clone, Copy, Debug)]
pub struct PromptStatsRead;

/// How many versions are told of with a template.
const VERSIONS_SHOWN: i64 = 5;
/// How many templates are told of.
const TEMPLATES_MAX: i64 = 1_000;

/// A template and how its prompts do.
#[derive(Clone, Debug)]
pub struct PromptStats {
    /// The template.
    pub template: Template,
    /// The version in use.
    pub active: Option<Version>,
    /// Its last versions, the newest first.
    pub recent: Vec<Version>,
}

const TEMPLATES: &str = concat!(
    "SELECT ",
    template_columns!(),
    " FROM template m WHERE m.deleted_at IS NULL ORDER BY m.slug LIMIT $1"
);

impl Verb for PromptStatsRead {
    type Output = Vec<PromptStats>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<PromptStats>, Error> {
        let mut stats = Vec::new();
        for mut row in tx.query(TEMPLATES.into(), params![TEMPLATES_MAX]).await? {
            let template = template::from_row(&mut row)?;
            let recent = versions(tx, &template.id.to_string(), VERSIONS_SHOWN, 0).await?;
            let active = match template.active_version {
                Some(active) => template::find_version(tx, active).await?,
                None => None,
            };
            stats.push(PromptStats { template, active, recent });
        }
        Ok(stats)
    }
}
