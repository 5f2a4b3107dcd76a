//! Where waiting tasks are kept: in line, or with a timer.
//!
//! Exactly the ready tasks stand in line. Every verb that changes what
//! readiness depends on calls [`moved`] in the same transaction, with the
//! task's row locked.

use extraboard_core::clock::Timestamp;
use extraboard_core::line::{Lane, Rank};
use extraboard_core::task::{Place, Task};

use crate::error::Error;
use crate::tx::{Tx, expect_rows};
use crate::value::params;

/// Puts a task that just came in where it belongs.
pub(crate) async fn enter<T: Tx>(tx: &mut T, task: &Task) -> Result<(), Error> {
    match task.place() {
        Place::Nowhere => Ok(()),
        Place::Timer(due) => start_timer(tx, task, due).await,
        Place::Line(lane, rank) => join_line(tx, lane, rank).await,
    }
}

/// Moves a task from where it was to where it belongs now.
pub(crate) async fn moved<T: Tx>(tx: &mut T, before: &Task, after: &Task) -> Result<(), Error> {
    if before.place() == after.place() {
        return Ok(());
    }
    let left = match before.place() {
        Place::Nowhere => return enter(tx, after).await,
        Place::Timer(_) => "DELETE FROM timer WHERE task = $1",
        Place::Line(..) => "DELETE FROM line WHERE task = $1",
    };
    let removed = tx.execute(left.into(), params![before.number.0]).await?;
    expect_rows("leaving line or timer", 1, removed)?;
    enter(tx, after).await
}

async fn start_timer<T: Tx>(tx: &mut T, task: &Task, due: Timestamp) -> Result<(), Error> {
    let sql = "INSERT INTO timer (task, due_at) VALUES ($1, $2)";
    let inserted = tx.execute(sql.into(), params![task.number.0, due.as_micros()]).await?;
    expect_rows("starting a timer", 1, inserted)
}

const JOIN: &str = "INSERT INTO line (task, lane, arrival, queued_at) \
     SELECT $1, id, $2, $3 \
     FROM lane \
     WHERE kind = $4 AND doors = $5";
const NEW_LANE: &str = "INSERT INTO lane (kind, doors) VALUES ($1, $2) ON CONFLICT (kind, doors) DO NOTHING";

async fn join_line<T: Tx>(tx: &mut T, lane: Lane, rank: Rank) -> Result<(), Error> {
    let params = params![
        rank.number.0,
        rank.arrival.as_micros(),
        rank.queued_at.as_micros(),
        lane.kind.as_str(),
        lane.doors.bits(),
    ];
    if tx.execute(JOIN.into(), params.clone()).await? == 1 {
        return Ok(());
    }
    // The first task of its lane; lanes stay, so this is rare.
    tx.execute(NEW_LANE.into(), params![lane.kind.as_str(), lane.doors.bits()]).await?;
    let joined = tx.execute(JOIN.into(), params).await?;
    expect_rows("joining the line", 1, joined)
}
