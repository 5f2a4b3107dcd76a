//! Lock the tasks a claim hands out, best first.

use std::collections::HashSet;

use extraboard_core::clock::Timestamp;
use extraboard_core::gate::Claimer;
use extraboard_core::id::TaskNumber;
use extraboard_core::line::{Lane, Order, Rank};
use extraboard_core::task::{Place, Task};

use super::section::{Levels, Section};
use super::{heads, pick};
use crate::error::Error;
use crate::rows::task::{self, task_columns};
use crate::tx::{Sql, Tx};
use crate::value::{Row, params};

/// How often a claim looks again when what it picked was being written.
const LOOKS_MAX: usize = 5;
/// How many tasks more than needed a claim picks when it looks again.
const SPARE: usize = 64;

macro_rules! lock_candidates {
    () => {
        concat!(
            "SELECT ",
            task_columns!(),
            ", l.level, l.arrival, l.queued_at FROM line l JOIN task t ON t.number = l.task WHERE t.state = 'queued' AND l.task "
        )
    };
}

/// Locks tasks alone: a place in line that stayed locked when its task was passed
/// over would stand in the way of whoever writes that task. The place cannot change
/// while the task is locked, and where a task belongs is read from the task.
///
/// Both tables are asked for the numbers: a plan made while they were empty joins by
/// walking through one of them otherwise, and is kept when they are not.
pub(super) const LOCK_SKIP: Sql = Sql {
    postgres: concat!(lock_candidates!(), "= ANY($1) AND t.number = ANY($1) FOR UPDATE OF t SKIP LOCKED"),
    sqlite: concat!(lock_candidates!(), "IN (SELECT value FROM json_each($1))"),
};
const LOCK_WAIT: Sql = Sql {
    postgres: concat!(
        lock_candidates!(),
        "= ANY($1) AND t.number = ANY($1) ORDER BY t.number FOR UPDATE OF t"
    ),
    sqlite: LOCK_SKIP.sqlite,
};

macro_rules! take_head {
    ($tasks:literal) => {
        concat!(
            "SELECT ",
            task_columns!(),
            ", l.level, l.arrival, l.queued_at FROM line l ",
            $tasks,
            "WHERE l.level = 0 AND l.arrival >= $1 ORDER BY l.arrival, l.queued_at, l.task LIMIT $2"
        )
    };
}

/// Takes the head of a line that has one order, and locks it, in one go. On PostgreSQL
/// each task is looked up by itself, which no plan can turn into a walk through all tasks.
pub(super) const TAKE_HEAD: Sql = Sql {
    postgres: take_head!(
        "CROSS JOIN LATERAL ( \
           SELECT * FROM task WHERE number = l.task AND state = 'queued' FOR UPDATE SKIP LOCKED) AS t "
    ),
    sqlite: take_head!("JOIN task t ON t.number = l.task AND t.state = 'queued' "),
};

/// A task that is locked, and its place in the line.
pub(super) struct Locked {
    pub(super) task: Task,
    order: Order,
    /// Its lane's index in [`Taken::lanes`].
    lane: usize,
}

/// The tasks a claim has locked, by rank.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) tasks: Vec<Locked>,
    lanes: Vec<Lane>,
}

impl Taken {
    /// Adds tasks that are locked and still stand in line.
    fn add_all(&mut self, locked: Vec<(Task, Order)>) {
        for (task, order) in locked {
            if task.place() == Place::Line {
                self.add(task, order);
            }
        }
        self.tasks.sort_by_key(|locked| locked.order);
    }

    fn add(&mut self, task: Task, order: Order) {
        let own = task.lane();
        let lane = self.lanes.iter().position(|lane| *lane == own).unwrap_or_else(|| {
            self.lanes.push(own);
            self.lanes.len() - 1
        });
        self.tasks.push(Locked { task, order, lane });
    }

    /// Gives each claimer the best task that is open to it.
    pub(super) fn match_up(&self, claimers: &[&Claimer], section: &Section) -> Vec<Option<usize>> {
        let items: Vec<_> = self.tasks.iter().map(|locked| &self.lanes[locked.lane]).collect();
        pick::match_up(claimers, &items, &section.conditions)
    }

    /// Returns the claimers for which nothing is locked yet.
    pub(super) fn unmet<'a>(&self, claimers: &[&'a Claimer], section: &Section) -> Vec<&'a Claimer> {
        let matched = self.match_up(claimers, section);
        claimers.iter().zip(matched).filter(|(_, task)| task.is_none()).map(|(claimer, _)| *claimer).collect()
    }
}

/// Picks and locks a task for each of these claimers, as far as there are any.
/// What was being written is waited for at last.
pub(super) async fn take<T: Tx>(
    tx: &mut T,
    section: &Section,
    claimers: &[&Claimer],
) -> Result<Taken, Error> {
    let mut taken = Taken::default();
    taken.add_all(take_head(tx, section, claimers.len()).await?);
    let mut busy: HashSet<TaskNumber> = HashSet::new();
    for look in 1..=LOOKS_MAX {
        if taken.unmet(claimers, section).is_empty() {
            break;
        }
        let locked = taken.tasks.iter().map(|locked| locked.task.number);
        let passed: HashSet<_> = locked.chain(busy.iter().copied()).collect();
        // A first look takes what it needs. If that was being written, the next
        // one reaches further: other writers may be at the head, too.
        let spare = if look == 1 { 0 } else { SPARE };
        let rest = taken.unmet(claimers, section);
        let mut used = section.clone();
        taken.count(claimers, &mut used);
        let mut picked =
            if look < LOOKS_MAX { pick::pick(tx, &used, &rest, spare, &passed).await? } else { Vec::new() };
        let statement = if picked.is_empty() { LOCK_WAIT } else { LOCK_SKIP };
        if picked.is_empty() {
            picked.extend(busy.drain());
        }
        if picked.is_empty() {
            break;
        }
        let got = lock(tx, statement, &picked, section).await?;
        let got_numbers: HashSet<_> = got.iter().map(|(task, _)| task.number).collect();
        busy.extend(picked.into_iter().filter(|number| !got_numbers.contains(number)));
        taken.add_all(got);
    }
    Ok(taken)
}

/// Takes as many tasks from the head of the line as there are claimers, whatever their
/// lanes: mostly that is all it takes, and gates are looked at afterwards.
async fn take_head<T: Tx>(
    tx: &mut T,
    section: &Section,
    claimers: usize,
) -> Result<Vec<(Task, Order)>, Error> {
    let limit = i64::try_from(claimers).unwrap_or(i64::MAX);
    match (section.levels, section.head) {
        (Levels::One, Some(head)) => {
            let rows = tx.query(TAKE_HEAD, params![head, limit]).await?;
            rows.into_iter().map(|row| locked(row, section)).collect()
        }
        (Levels::One, None) => Ok(Vec::new()),
        (Levels::Many, _) => {
            let walk = heads::walk(tx, section, claimers).await?;
            let picked: Vec<_> = walk.candidates.iter().take(claimers).map(|head| head.rank.number).collect();
            lock(tx, LOCK_SKIP, &picked, section).await
        }
    }
}

impl Taken {
    /// Counts what is given to claimers already, so that limits hold for the rest.
    fn count(&self, claimers: &[&Claimer], section: &mut Section) {
        let matched = self.match_up(claimers, section);
        for (claimer, task) in claimers.iter().zip(matched) {
            if let Some(index) = task {
                section.conditions.usage.take(&self.lanes[self.tasks[index].lane], claimer);
            }
        }
    }
}

async fn lock<T: Tx>(
    tx: &mut T,
    statement: Sql,
    picked: &[TaskNumber],
    section: &Section,
) -> Result<Vec<(Task, Order)>, Error> {
    let numbers: Vec<_> = picked.iter().map(|number| number.0).collect();
    let rows = tx.query(statement, params![numbers]).await?;
    rows.into_iter().map(|row| locked(row, section)).collect()
}

fn locked(mut row: Row, section: &Section) -> Result<(Task, Order), Error> {
    let task = task::from_row(&mut row)?;
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    let rank = Rank { level, arrival, queued_at, number: task.number };
    Ok((task, rank.order(&section.profile, section.conditions.now)))
}
