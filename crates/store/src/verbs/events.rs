//! Read the event log from a position.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{DispatchId, Pos, TaskNumber};

use crate::error::Error;
use crate::tx::{Tx, Verb};
use crate::value::params;

/// An event as readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its public position.
    pub pos: Pos,
    /// What happened.
    pub event_type: EventType,
    /// To which task.
    pub task: Option<TaskNumber>,
    /// In which dispatch.
    pub dispatch: Option<DispatchId>,
    /// Who did it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
    /// What else there is to tell, as JSON.
    pub data: String,
}

/// Reads events behind a position, in order.
#[derive(Clone, Copy, Debug)]
pub struct EventsAfter {
    /// The last position the reader has seen.
    pub pos: Pos,
    /// How many to read at most.
    pub limit: i64,
}

const AFTER: &str = "SELECT pos, type, task, dispatch, actor, at, data \
     FROM event \
     WHERE pos > $1 \
     ORDER BY pos \
     LIMIT $2";

impl Verb for EventsAfter {
    type Output = Vec<Event>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, Error> {
        let rows = tx.query(AFTER.into(), params![self.pos.0, self.limit]).await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(Event {
                    pos: Pos(row.int()?),
                    event_type: row.parse()?,
                    task: row.opt_int()?.map(TaskNumber),
                    dispatch: row.opt_parse()?,
                    actor: row.text()?,
                    at: Timestamp::from_micros(row.int()?),
                    data: row.text()?,
                })
            })
            .collect()
    }
}
