//! The one way a task's row changes: row, line and log together.

use extraboard_core::task::Task;

use super::Ctx;
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::{event, task};
use crate::tx::Tx;
use crate::{placement, rows};

/// Writes a changed task, moves it to where it belongs and tells of it.
///
/// The task's row is locked by whoever read `before`.
pub(crate) async fn change<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    before: &Task,
    mut after: Task,
    events: Vec<NewEvent>,
) -> Result<Task, Error> {
    after.forget_past(ctx.now);
    after.updated_at = ctx.now;
    task::update(tx, before, &after).await?;
    placement::moved(tx, before, &after).await?;
    event::insert_all(tx, events).await?;
    Ok(after)
}

/// Returns the data of an event that moved a task.
pub(crate) fn moved(before: &Task, after: &Task) -> serde_json::Value {
    serde_json::json!({ "from": before.state.as_str(), "to": after.state.as_str() })
}

/// Reads a task's unclosed dispatch and locks it.
pub(crate) async fn lock_dispatch<T: Tx>(
    tx: &mut T,
    task: &Task,
) -> Result<Option<extraboard_core::dispatch::Dispatch>, Error> {
    match task.dispatch {
        Some(id) => rows::dispatch::lock(tx, id).await.map(Some),
        None => Ok(None),
    }
}
