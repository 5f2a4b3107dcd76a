//! Move a task in the line by the operator's own points.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
use extraboard_core::line::{Order, Rank};
use extraboard_core::profile::{Profile, Ranking};
use extraboard_core::task::{BOOST_MAX, Place, Task};
use extraboard_core::why::POSITION_MAX;
use serde_json::json;

use super::Ctx;
use super::change::change;
use super::claim::section;
use super::position::{ahead, rank_of};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::task;
use crate::rules;
use crate::tx::{Tx, Verb};

/// Adds points to a task, or takes some.
#[derive(Clone, Debug)]
pub struct TaskBump {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which task.
    pub task: TaskRef,
    /// How many.
    pub by: i64,
}

impl Verb for TaskBump {
    type Output = Task;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Task, Error> {
        let before = task::lock(tx, self.task).await?;
        let boost = before.boost.saturating_add(self.by).clamp(-BOOST_MAX, BOOST_MAX);
        boosted(tx, &self.ctx, before, boost).await
    }
}

async fn boosted<T: Tx>(tx: &mut T, ctx: &Ctx, before: Task, boost: i64) -> Result<Task, Error> {
    if boost == before.boost {
        return Ok(before);
    }
    let data = json!({ "fields": ["boost"], "from": before.boost, "to": boost });
    let event = NewEvent::new(EventType::TaskEdited, ctx, before.number).data(data);
    let after = Task { boost, ..before.clone() };
    change(tx, ctx, &before, after, vec![event]).await
}

/// On which side of another task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Handed out before it.
    Before,
    /// Handed out after it.
    After,
}

/// Moves a task to one side of another, by the smallest change of its points.
///
/// Points are whole, so it may pass others that are less than a point away.
#[derive(Clone, Debug)]
pub struct TaskReorder {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which task.
    pub task: TaskRef,
    /// On which side.
    pub side: Side,
    /// Of which other task.
    pub other: TaskRef,
}

/// A task that was moved in line.
#[derive(Clone, Debug)]
pub struct TaskReordered {
    /// The task.
    pub task: Task,
    /// Its place in the line, 1 for the first; counted to 1,000.
    pub position: Option<i64>,
    /// Whether it is further back than that.
    pub capped: bool,
}

impl Verb for TaskReorder {
    type Output = TaskReordered;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskReordered, Error> {
        let before = task::lock(tx, self.task).await?;
        let other = task::get(tx, self.other).await.map_err(|error| match error {
            Error::NoTask(other) => Error::invalid(self.field(), format!("there is no issue {other}")),
            error => error,
        })?;
        if before.number == other.number {
            return Err(Error::invalid(self.field(), "expected another issue, got the same"));
        }
        for (task, named) in [(&before, self.task), (&other, self.other)] {
            if task.place() != Place::Line {
                return Err(Error::NotWaiting(named));
            }
        }
        let rankings = rules::rankings(tx, [before.project, other.project]).await?;
        let now = self.ctx.now;
        let limit = order(&other, &rankings.of(&other), now)?;
        let boost = self.smallest(&before, &rankings.of(&before), limit)?;
        let task = boosted(tx, &self.ctx, before, boost).await?;
        let section = section::read(tx, now).await?;
        let position = match rank_of(tx, task.number).await? {
            Some(rank) => Some(ahead(tx, &section, &rank, |_| true).await?),
            None => None,
        };
        let capped = position.is_some_and(|ahead| ahead >= POSITION_MAX);
        let position = position.map(|ahead| (ahead + 1).min(POSITION_MAX));
        Ok(TaskReordered { task, position, capped })
    }
}

impl TaskReorder {
    const fn field(&self) -> &'static str {
        match self.side {
            Side::Before => "before",
            Side::After => "after",
        }
    }

    /// Searches for the boost nearest to the present one that is on the right side.
    fn smallest(&self, task: &Task, ranking: &Ranking, limit: Order) -> Result<i64, Error> {
        let is_right = |boost: i64| {
            let moved = order(&Task { boost, ..task.clone() }, ranking, self.ctx.now)?;
            Ok::<_, Error>(match self.side {
                Side::Before => moved < limit,
                Side::After => moved > limit,
            })
        };
        if is_right(task.boost)? {
            return Ok(task.boost);
        }
        // More points never stand later, so the edge can be searched for.
        let (mut wrong, mut right) = match self.side {
            Side::Before => (task.boost, BOOST_MAX),
            Side::After => (task.boost, -BOOST_MAX),
        };
        if !is_right(right)? {
            return Err(Error::invalid(self.field(), format!("this takes a boost beyond {right}")));
        }
        while (right - wrong).abs() > 1 {
            let middle = i64::midpoint(right, wrong);
            if is_right(middle)? { right = middle } else { wrong = middle }
        }
        Ok(right)
    }
}

fn order(task: &Task, ranking: &Ranking, now: Timestamp) -> Result<Order, Error> {
    let rank: Option<Rank> = task.rank(ranking);
    let profile: &Profile = &ranking.profile;
    rank.map(|rank| rank.order(profile, now)).ok_or(Error::NotWaiting(TaskRef::Number(task.number)))
}
