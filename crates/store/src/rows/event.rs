//! The `event` table: written with the change it tells of.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{DispatchId, TaskNumber};
use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::tx::{Dialect, Each, Tx, expect_rows, first};
use crate::value::{Value, params};
use crate::verbs::Ctx;

/// An event on its way into the log.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) event_type: EventType,
    pub(crate) task: Option<TaskNumber>,
    pub(crate) dispatch: Option<DispatchId>,
    pub(crate) actor: String,
    pub(crate) at: Timestamp,
    pub(crate) data: Json,
}

impl NewEvent {
    /// Begins an event about a task.
    pub(crate) fn new(event_type: EventType, ctx: &Ctx, task: TaskNumber) -> Self {
        Self { task: Some(task), ..Self::of_desk(event_type, ctx) }
    }

    /// Begins an event about no task in particular.
    pub(crate) fn of_desk(event_type: EventType, ctx: &Ctx) -> Self {
        let actor = ctx.caller.to_string();
        Self { event_type, task: None, dispatch: None, actor, at: ctx.now, data: json!({}) }
    }

    /// Names the dispatch it is about.
    pub(crate) fn dispatch(self, dispatch: DispatchId) -> Self {
        Self { dispatch: Some(dispatch), ..self }
    }

    /// Adds what else is worth telling.
    pub(crate) fn data(self, data: Json) -> Self {
        Self { data, ..self }
    }
}

/// One writer gives positions as it writes: what it commits later also has later ones.
/// Where there are many, the sequencer does so after they have committed.
const NEXT_POS: &str = "UPDATE sequencer SET last_pos = last_pos + $1 WHERE one = 1 RETURNING last_pos";
const INSERT: Each = Each {
    postgres: "INSERT INTO event (type, task, dispatch, actor, at, data) \
       SELECT u.type, u.task, u.dispatch, u.actor, u.at, u.data \
       FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[]) \
         WITH ORDINALITY AS u (type, task, dispatch, actor, at, data, nr) \
       ORDER BY u.nr",
    sqlite: "INSERT INTO event (type, task, dispatch, actor, at, data, pos) \
       VALUES ($1, $2, $3, $4, $5, $6, $7)",
};

/// Adds events to the log. The rows of the tasks they tell of are locked, so
/// that events of one task get their ids in the order they commit in.
pub(crate) async fn insert_all<T: Tx>(tx: &mut T, events: Vec<NewEvent>) -> Result<(), Error> {
    let count = events.len();
    let mut rows: Vec<_> = events
        .into_iter()
        .map(|event| {
            params![
                event.event_type.as_str(),
                event.task.map(|task| task.0),
                event.dispatch.map(|id| id.to_string()),
                event.actor,
                event.at.as_micros(),
                event.data.to_string(),
            ]
        })
        .collect();
    if tx.dialect() == Dialect::Sqlite {
        let mut pos = positions(tx, count).await?;
        for row in &mut rows {
            row.extend(pos.next().map(Value::from));
        }
    }
    let inserted = tx.execute_each(INSERT, rows).await?;
    expect_rows("adding events", count, inserted)
}

/// Takes the next so many positions.
async fn positions<T: Tx>(tx: &mut T, count: usize) -> Result<std::ops::RangeInclusive<i64>, Error> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let row = first(tx, NEXT_POS.into(), params![count]).await?;
    let last = row.ok_or_else(|| Error::unreadable("no sequencer"))?.int()?;
    Ok(last - count + 1..=last)
}
