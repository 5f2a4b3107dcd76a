//! The one way tasks' rows change: rows, line, dependents and log together.

use std::collections::{BTreeSet, HashSet};

use extraboard_core::dispatch::Dispatch;
use extraboard_core::event::EventType;
use extraboard_core::graph;
use extraboard_core::inbox::InboxKind;
use extraboard_core::state::State;
use extraboard_core::task::Task;
use serde_json::json;

use super::{Ctx, inbox};
use crate::error::Error;
use crate::placement;
use crate::rows::event::NewEvent;
use crate::rows::{dispatch, event, task};
use crate::tx::Tx;
use crate::value::params;

/// Writes a changed task, moves it to where it belongs, wakes or holds what waits
/// for it, and tells of it.
///
/// The task's row is locked by whoever read `before`.
pub(crate) async fn change<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    before: &Task,
    mut after: Task,
    mut events: Vec<NewEvent>,
) -> Result<Task, Error> {
    after.forget_past(ctx.now);
    after.updated_at = ctx.now;
    task::update(tx, before, &after).await?;
    placement::moved(tx, &[(before, &after)]).await?;
    events.extend(held_event(ctx, before, &after));
    event::insert_all(tx, events).await?;
    // Rare, and large: every verb that changes a task would have room for them.
    if InboxKind::of(before) != InboxKind::of(&after) {
        Box::pin(inbox::follow(tx, ctx, before, &after)).await?;
    }
    if weight(before) != weight(&after) {
        Box::pin(tell_dependents(tx, ctx, before, &after)).await?;
    }
    Ok(after)
}

/// Writes what other tasks or time changed about locked tasks, and moves them.
pub(crate) async fn change_facts<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    mut changes: Vec<(Task, Task)>,
    mut events: Vec<NewEvent>,
) -> Result<(), Error> {
    changes.retain(|(before, after)| before != after);
    for (before, after) in &mut changes {
        after.forget_past(ctx.now);
        after.updated_at = ctx.now;
        events.extend(held_event(ctx, before, after));
    }
    let written: Vec<_> = changes.iter().map(|(_, after)| after).collect();
    task::update_facts(tx, &written).await?;
    let moves: Vec<_> = changes.iter().map(|(before, after)| (before, after)).collect();
    placement::moved(tx, &moves).await?;
    event::insert_all(tx, events).await
}

/// Returns the event of a task that is held from now on, or is not any more.
fn held_event(ctx: &Ctx, before: &Task, after: &Task) -> Option<NewEvent> {
    let event_type = match (before.is_held(), after.is_held()) {
        _ if after.state.is_terminal() || after.deleted_at.is_some() => return None,
        (false, true) => EventType::TaskHeld,
        (true, false) => EventType::TaskFreed,
        _ => return None,
    };
    Some(NewEvent::new(event_type, ctx, after.number).data(json!({
        "openBlockers": after.open_blockers,
        "waitsForParent": after.waits_for_parent(),
        "waitsForArtifact": after.waits_for_artifact(),
    })))
}

/// Tells whether a task holds back what it blocks.
pub(crate) fn holds_back(task: &Task) -> bool {
    task.deleted_at.is_none() && graph::holds_back(task.state)
}

/// Tells whether children that are gated by this task have to wait.
pub(crate) fn is_open_parent(task: &Task) -> bool {
    task.deleted_at.is_some() || task.state != State::Done
}

const DEPENDENTS: &str = "SELECT other, 1 FROM relation WHERE task = $1 AND type = 'blocks' AND $2 = 1 \
     UNION ALL \
     SELECT number, 0 FROM task WHERE parent = $1 AND $3 = 1";

/// Returns what a task is to those that wait for it.
fn weight(task: &Task) -> (bool, bool) {
    (holds_back(task), is_open_parent(task))
}

/// Updates what waits for a task, to which the change makes a difference.
///
/// Whoever relates or re-parents to this task locks its row first, so while it is
/// locked nothing else begins to wait for it. Dependents are locked after what they
/// wait for and in the order of their numbers: as there are no cycles, two changes
/// cannot wait for each other.
async fn tell_dependents<T: Tx>(tx: &mut T, ctx: &Ctx, before: &Task, after: &Task) -> Result<(), Error> {
    let holds = (holds_back(before), holds_back(after));
    let open = (is_open_parent(before), is_open_parent(after));
    let (mut blocked, mut numbers) = (HashSet::new(), BTreeSet::new());
    let params = params![after.number.0, holds.0 != holds.1, open.0 != open.1];
    for mut row in tx.query(DEPENDENTS.into(), params).await? {
        let number = row.int()?;
        numbers.insert(number);
        if row.flag()? {
            blocked.insert(number);
        }
    }
    if numbers.is_empty() {
        return Ok(());
    }
    let step = if holds.1 { 1 } else { -1 };
    let dependents = task::lock_many(tx, numbers.into_iter().collect()).await?;
    let changes = dependents.into_iter().map(|dependent| {
        let mut changed = dependent.clone();
        if blocked.contains(&dependent.number.0) {
            changed.open_blockers += step;
        }
        if dependent.parent == Some(after.number) {
            changed.parent_open = open.1;
        }
        (dependent, changed)
    });
    change_facts(tx, ctx, changes.collect(), Vec::new()).await
}

/// Returns the data of an event that moved a task.
pub(crate) fn moved(before: &Task, after: &Task) -> serde_json::Value {
    json!({ "from": before.state.as_str(), "to": after.state.as_str() })
}

/// Reads a task's unclosed dispatch and locks it.
pub(crate) async fn lock_dispatch<T: Tx>(tx: &mut T, task: &Task) -> Result<Option<Dispatch>, Error> {
    match task.dispatch {
        Some(id) => dispatch::lock(tx, id).await.map(Some),
        None => Ok(None),
    }
}
