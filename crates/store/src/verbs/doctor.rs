//! The doctor: recompute counters and places of tasks and compare; repair if asked.
//!
//! Looks at a page of tasks in one snapshot, so that a check of everything never
//! stands in anybody's way. A repair locks the tasks it changes and looks again.

use std::collections::HashMap;

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::graph::DEPTH_MAX;
use extraboard_core::id::{DispatchId, ProjectNumber, TaskNumber};
use extraboard_core::line::Rank;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::{Place, Task};
use serde_json::json;

use super::change::is_open_parent;
use super::rules::{goal_changed, is_reranking};
use super::{Ctx, artifact, graph};
use crate::error::Error;
use crate::placement;
use crate::rows::event::{self, NewEvent};
use crate::rows::task::{self, task_columns};
use crate::rules;
use crate::tx::{Tx, Verb, first};
use crate::value::{Row, params};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The task.
    pub task: TaskNumber,
    /// What differs.
    pub what: &'static str,
    /// What the database says.
    pub found: String,
    /// What it should say.
    pub expected: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { task, what, found, expected } = self;
        write!(f, "#{task}: {what} is {found}, expected {expected}")
    }
}

/// What came of looking at a page of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many tasks were looked at.
    pub count: usize,
    /// The last one, if there may be more.
    pub next: Option<TaskNumber>,
    /// What was not as it should be.
    pub differences: Vec<Difference>,
}

/// Compares what is stored about tasks with what follows from the rest.
#[derive(Clone, Copy, Debug)]
pub struct Doctor {
    /// Only tasks behind this one.
    pub after: TaskNumber,
    /// How many to look at.
    pub limit: i64,
}

impl Verb for Doctor {
    type Output = Checked;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Checked, Error> {
        let tasks = page(tx, self.after, self.limit).await?;
        let mut checked = Checked { count: tasks.len(), ..Checked::default() };
        if self.after == TaskNumber(0) {
            let wrong = wrong_goals(tx).await?;
            checked.differences.extend(wrong.into_iter().map(|(_, difference)| difference));
        }
        if i64::try_from(tasks.len()) == Ok(self.limit) {
            checked.next = tasks.last().map(|task| task.number);
        }
        for task in &tasks {
            checked.differences.extend(examine(tx, task).await?.differences);
        }
        // Places without a task lie behind the last page's end as well.
        let last = checked.next.map_or(i64::MAX, |next| next.0);
        checked.differences.extend(strays(tx, self.after.0, last).await?);
        Ok(checked)
    }
}

/// Puts right whatever is found.
#[derive(Clone, Debug)]
pub struct DoctorRepair {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Only tasks behind this one.
    pub after: TaskNumber,
    /// How many to look at.
    pub limit: i64,
}

impl Verb for DoctorRepair {
    type Output = Checked;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Checked, Error> {
        graph::take_graph_lock(tx).await?;
        let look = Doctor { after: self.after, limit: self.limit };
        let mut checked = look.run(tx).await?;
        let mut numbers: Vec<_> = checked.differences.iter().map(|difference| difference.task.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        checked.differences.clear();
        if self.after == TaskNumber(0) {
            for (project, difference) in wrong_goals(tx).await? {
                goal_changed(tx, &self.ctx, project).await?;
                checked.differences.push(difference);
            }
        }
        for number in numbers.into_iter().filter(|number| *number > 0) {
            checked.differences.extend(self.repair(tx, TaskNumber(number)).await?);
        }
        Ok(checked)
    }
}

impl DoctorRepair {
    /// Puts one task right: its facts, then its place.
    async fn repair<T: Tx>(&self, tx: &mut T, number: TaskNumber) -> Result<Vec<Difference>, Error> {
        let Some(task) = task::lock_many(tx, vec![number.0]).await?.pop() else {
            let strays = strays(tx, number.0 - 1, number.0).await?;
            placement::clear(tx, number).await?;
            return Ok(strays);
        };
        let found = examine(tx, &task).await?;
        if found.differences.is_empty() {
            return Ok(Vec::new());
        }
        task::update(tx, &task, &found.should_be).await?;
        placement::clear(tx, number).await?;
        placement::enter(tx, &found.should_be).await?;
        let told: Vec<_> = found.differences.iter().map(ToString::to_string).collect();
        let event =
            NewEvent::new(EventType::DoctorRepaired, &self.ctx, number).data(json!({ "found": told }));
        event::insert_all(tx, vec![event]).await?;
        Ok(found.differences)
    }
}

const WRONG_GOALS: &str = "SELECT p.number, p.name, p.goal_active \
     FROM project p \
     WHERE p.deleted_at IS NULL AND p.goal_active <> CASE WHEN EXISTS ( \
         SELECT 1 FROM goal g \
         WHERE g.deleted_at IS NULL AND g.status = 'active' AND (g.project = p.number OR g.id = p.goal)) \
       THEN 1 ELSE 0 END \
     ORDER BY p.number";

/// Finds projects that are wrong about having an active goal; told as of issue 0.
async fn wrong_goals<T: Tx>(tx: &mut T) -> Result<Vec<(ProjectNumber, Difference)>, Error> {
    let rows = tx.query(WRONG_GOALS.into(), params![]).await?;
    rows.into_iter()
        .map(|mut row| {
            let (project, name, has) = (ProjectNumber(row.int()?), row.text()?, row.flag()?);
            let difference = Difference {
                task: TaskNumber(0),
                what: "hasActiveGoal",
                found: format!("{has} for project {name}"),
                expected: format!("{} for project {name}", !has),
            };
            Ok((project, difference))
        })
        .collect()
}

const PAGE: &str =
    concat!("SELECT ", task_columns!(), " FROM task t WHERE t.number > $1 ORDER BY t.number LIMIT $2");

async fn page<T: Tx>(tx: &mut T, after: TaskNumber, limit: i64) -> Result<Vec<Task>, Error> {
    let rows = tx.query(PAGE.into(), params![after.0, limit]).await?;
    rows.into_iter().map(|mut row| task::from_row(&mut row)).collect()
}

/// What an examination found.
struct Examined {
    /// The task with the facts as they should be.
    should_be: Task,
    differences: Vec<Difference>,
}

async fn examine<T: Tx>(tx: &mut T, task: &Task) -> Result<Examined, Error> {
    let should_be = facts(tx, task).await?;
    let mut differences = Vec::new();
    let mut compare = |what, found: String, expected: String| {
        if found != expected {
            differences.push(Difference { task: task.number, what, found, expected });
        }
    };
    compare("openBlockers", task.open_blockers.to_string(), should_be.open_blockers.to_string());
    compare("parentOpen", task.parent_open.to_string(), should_be.parent_open.to_string());
    compare("artifactPresent", task.artifact_present.to_string(), should_be.artifact_present.to_string());
    compare("depth", task.depth.to_string(), should_be.depth.to_string());
    compare("place", found_places(tx, task).await?, expected_place(tx, &should_be).await?);
    let name = |task: &Task| task.dispatch.map(|id| id.to_string()).unwrap_or_default();
    compare("dispatch", name(task), name(&should_be));
    compare("state", task.state.to_string(), should_be.state.to_string());
    Ok(Examined { should_be, differences })
}

const BLOCKERS: &str = "SELECT COUNT(*) \
     FROM relation r JOIN task t ON t.number = r.task \
     WHERE r.other = $1 AND r.type = 'blocks' AND t.deleted_at IS NULL AND t.state NOT IN ('done','canceled')";

/// Returns the task with the facts that follow from other tasks.
async fn facts<T: Tx>(tx: &mut T, task: &Task) -> Result<Task, Error> {
    let mut facts = task.clone();
    let row = first(tx, BLOCKERS.into(), params![task.number.0]).await?;
    facts.open_blockers = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
    facts.parent_open = match task.parent {
        // A parent that does not exist will never be done.
        Some(parent) => task::get_many(tx, vec![parent.0]).await?.first().is_none_or(is_open_parent),
        None => false,
    };
    // A file that was found once counts, so this only ever becomes true.
    facts.artifact_present = task.artifact_present || artifact::is_provided(tx, task).await?;
    facts.depth = depth(tx, task).await?;
    facts.dispatch = unclosed(tx, task.number).await?;
    if task.state.is_active() && facts.dispatch.is_none() {
        // In nobody's hands, and so nobody would ever report on it.
        facts.state = task.state.after(TaskVerb::Requeue)?;
    }
    Ok(facts)
}

/// Counts how many tasks a task lies below, whatever they say about themselves.
async fn depth<T: Tx>(tx: &mut T, task: &Task) -> Result<i64, Error> {
    let (mut depth, mut above) = (0, task.parent);
    while let Some(parent) = above.filter(|_| depth < DEPTH_MAX) {
        depth += 1;
        above = task::get_many(tx, vec![parent.0]).await?.first().and_then(|parent| parent.parent);
    }
    Ok(depth)
}

const IN_LINE: &str = "SELECT l.level, l.arrival, l.queued_at, n.project, n.kind, n.needs, n.owner, n.doors, \
       CASE WHEN EXISTS ( \
         SELECT 1 FROM line_head h WHERE h.level = l.level AND h.arrival <= l.arrival) THEN 0 ELSE 1 END \
     FROM line l JOIN lane n ON n.id = l.lane \
     WHERE l.task = $1";

/// Describes where a task is kept, every place of it.
async fn found_places<T: Tx>(tx: &mut T, task: &Task) -> Result<String, Error> {
    let mut places = Vec::new();
    let number = task.number;
    if let Some(mut row) = first(tx, IN_LINE.into(), params![number.0]).await? {
        places.push(line_text(&mut row, number)?);
    }
    let timer = "SELECT due_at FROM timer WHERE task = $1";
    if let Some(mut row) = first(tx, timer.into(), params![number.0]).await? {
        places.push(format!("timer {}", row.int()?));
    }
    if first(tx, "SELECT task FROM held WHERE task = $1".into(), params![number.0]).await?.is_some() {
        places.push("held".to_owned());
    }
    Ok(if places.is_empty() { "nowhere".to_owned() } else { places.join(" and ") })
}

fn line_text(row: &mut Row, number: TaskNumber) -> Result<String, Error> {
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    let rank = Rank { level, arrival, queued_at, number };
    let (project, kind, needs) = (row.int()?, row.text()?, row.text()?);
    let (owner, doors) = (row.text()?, row.int()?);
    // Claims start at the head of a level: what is ahead of it they never see.
    let unseen = if row.flag()? { ", ahead of the head" } else { "" };
    Ok(in_line(&rank, &format!("{project}/{kind}/{needs}/{owner}/{doors}")) + unseen)
}

fn in_line(rank: &Rank, lane: &str) -> String {
    format!("line {}/{}/{} in {lane}", rank.level, rank.arrival, rank.queued_at.as_micros())
}

/// Describes where a task should be kept.
async fn expected_place<T: Tx>(tx: &mut T, task: &Task) -> Result<String, Error> {
    Ok(match task.place() {
        Place::Nowhere => "nowhere".to_owned(),
        Place::Held => "held".to_owned(),
        Place::Timer(due) => format!("timer {}", due.as_micros()),
        // While a re-rank is under way older ranks are right, too.
        Place::Line if is_reranking(tx).await? => found_places(tx, task).await?,
        Place::Line => {
            let rankings = rules::rankings(tx, [task.project]).await?;
            let rank = task.rank(&rankings.of(task));
            let rank = rank.ok_or_else(|| Error::Broken("a task in line is not queued".to_owned()))?;
            let project = task.project.map_or(0, |project| project.0);
            let needs: &Capabilities = &task.needs;
            let owner = task.owner.clone().unwrap_or_default();
            in_line(&rank, &format!("{project}/{}/{needs}/{owner}/{}", task.kind, task.doors.bits()))
        }
    })
}

async fn unclosed<T: Tx>(tx: &mut T, task: TaskNumber) -> Result<Option<DispatchId>, Error> {
    let sql = "SELECT id FROM dispatch WHERE task = $1 AND closed_at IS NULL";
    first(tx, sql.into(), params![task.0]).await?.map(|mut row| row.parse()).transpose()
}

const STRAYS: &str = "SELECT p.task \
     FROM (SELECT task FROM line WHERE task > $1 AND task <= $2 \
       UNION SELECT task FROM timer WHERE task > $1 AND task <= $2 \
       UNION SELECT task FROM held WHERE task > $1 AND task <= $2) AS p \
     WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.number = p.task)";

/// Finds places of tasks that do not exist.
async fn strays<T: Tx>(tx: &mut T, after: i64, last: i64) -> Result<Vec<Difference>, Error> {
    let mut found: HashMap<i64, Difference> = HashMap::new();
    for mut row in tx.query(STRAYS.into(), params![after, last]).await? {
        let number = row.int()?;
        let difference = Difference {
            task: TaskNumber(number),
            what: "place",
            found: "kept without a task".to_owned(),
            expected: "nowhere".to_owned(),
        };
        found.insert(number, difference);
    }
    let mut strays: Vec<_> = found.into_values().collect();
    strays.sort_by_key(|stray| stray.task);
    Ok(strays)
}
