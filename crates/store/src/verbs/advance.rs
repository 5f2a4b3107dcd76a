//! Advance timers: tasks whose moment has come join the line.

use extraboard_core::event::EventType;
use extraboard_core::task::{Place, Task};

use super::change::{change, change_facts};
use super::{Ctx, TURN_MAX};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::task::{self, task_columns};
use crate::tx::{Tx, Verb};
use crate::value::params;

/// Moves up to a turn of tasks whose timer is due into the line.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The desk, and when.
    pub ctx: Ctx,
}

impl Verb for Advance {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        advance(tx, &self.ctx).await
    }
}

/// What is locked is being written, and whoever writes it looks at the time itself.
/// Only tasks are locked, so a timer may be newer than the one that was read.
const DUE: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM timer m JOIN task t ON t.number = m.task \
     WHERE m.due_at <= $1 \
     ORDER BY m.due_at, m.task \
     LIMIT $2 \
     FOR UPDATE OF t SKIP LOCKED"
);

pub(crate) async fn advance<T: Tx>(tx: &mut T, ctx: &Ctx) -> Result<usize, Error> {
    let rows = tx.query(DUE.into(), params![ctx.now.as_micros(), TURN_MAX]).await?;
    let due = rows.len();
    let mut tasks = Vec::with_capacity(due);
    for mut row in rows {
        let task = task::from_row(&mut row)?;
        if matches!(task.place(), Place::Timer(at) if at <= ctx.now) {
            tasks.push(task);
        }
    }
    let events = tasks.iter().map(|task| NewEvent::new(EventType::TaskDue, ctx, task.number)).collect();
    let changes = tasks.into_iter().map(|task| (task.clone(), Task { not_before: None, ..task }));
    change_facts(tx, ctx, changes.collect(), events).await?;
    Ok(due)
}

/// Moves a locked task whose moment has come into the line.
pub(crate) async fn join_line<T: Tx>(tx: &mut T, ctx: &Ctx, before: &Task) -> Result<Task, Error> {
    let after = Task { not_before: None, ..before.clone() };
    let event = NewEvent::new(EventType::TaskDue, ctx, before.number);
    change(tx, ctx, before, after, vec![event]).await
}
