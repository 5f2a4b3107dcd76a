//! Read the event log from a position, and forget its oldest part.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{DispatchId, Pos, ProjectNumber, TaskId, TaskNumber};

use super::TURN_MAX;
use crate::error::Error;
use crate::tx::{Tx, Verb, first};
use crate::value::{Row, Value, params};

/// An event as readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its public position.
    pub pos: Pos,
    /// What happened.
    pub event_type: EventType,
    /// To which task.
    pub task: Option<TaskNumber>,
    /// That task's permanent id.
    pub task_id: Option<TaskId>,
    /// The project that task belongs to.
    pub project: Option<ProjectNumber>,
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
#[derive(Clone, Debug)]
pub struct EventsAfter {
    /// The last position the reader has seen.
    pub pos: Pos,
    /// How many to read at most.
    pub limit: i64,
    /// The only task to read about.
    pub task: Option<TaskNumber>,
}

/// Some events, and how far the log reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The events.
    pub events: Vec<Event>,
    /// How far the reader has seen with these.
    pub pos: Pos,
    /// The last position there is.
    pub last: Pos,
    /// The last position whose event is gone.
    pub pruned: Pos,
}

impl EventPage {
    /// Tells whether there is more to read.
    pub fn has_more(&self) -> bool {
        self.pos < self.last
    }
}

macro_rules! events {
    ($which:literal) => {
        concat!(
            "SELECT e.pos, e.type, e.task, t.id, t.project, e.dispatch, e.actor, e.at, e.data \
             FROM event e LEFT JOIN task t ON t.number = e.task \
             WHERE ",
            $which,
            " ORDER BY e.pos LIMIT $2"
        )
    };
}

const AFTER: &str = events!("e.pos > $1");
/// A task has few events, and an index on them.
const OF_TASK_AFTER: &str = events!("e.pos > $1 AND e.task = $3");

const EXTENT: &str = "SELECT last_pos, pruned_pos FROM sequencer WHERE one = 1";

impl Verb for EventsAfter {
    type Output = EventPage;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<EventPage, Error> {
        let (last, pruned) = extent(first(tx, EXTENT.into(), params![]).await?)?;
        let (sql, params): (_, Vec<Value>) = match self.task {
            Some(task) => (OF_TASK_AFTER, params![self.pos.0, self.limit, task.0]),
            None => (AFTER, params![self.pos.0, self.limit]),
        };
        let rows = tx.query(sql.into(), params).await?;
        let events = rows.into_iter().map(event).collect::<Result<Vec<_>, _>>()?;
        let is_full = i64::try_from(events.len()) == Ok(self.limit);
        let pos = match events.last() {
            Some(event) if is_full => event.pos,
            _ => last.max(self.pos),
        };
        Ok(EventPage { events, pos, last, pruned })
    }
}

fn event(mut row: Row) -> Result<Event, Error> {
    Ok(Event {
        pos: Pos(row.int()?),
        event_type: row.parse()?,
        task: row.opt_int()?.map(TaskNumber),
        task_id: row.opt_parse()?,
        project: row.opt_int()?.map(ProjectNumber),
        dispatch: row.opt_parse()?,
        actor: row.text()?,
        at: Timestamp::from_micros(row.int()?),
        data: row.text()?,
    })
}

fn extent(row: Option<Row>) -> Result<(Pos, Pos), Error> {
    let mut row = row.ok_or_else(|| Error::unreadable("no sequencer"))?;
    Ok((Pos(row.int()?), Pos(row.int()?)))
}

/// Forgets a turn of events that are older than a moment, the oldest first.
#[derive(Clone, Copy, Debug)]
pub struct EventsPrune {
    /// What happened before it is forgotten.
    pub before: Timestamp,
}

const LOCK_EXTENT: &str = "SELECT last_pos, pruned_pos FROM sequencer WHERE one = 1 FOR UPDATE";
const OLDEST: &str = "SELECT pos, at FROM event WHERE pos > $1 ORDER BY pos LIMIT $2";
const FORGET: &str = "DELETE FROM event WHERE pos > $1 AND pos <= $2";

impl Verb for EventsPrune {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        // Nobody else forgets meanwhile; whoever gives positions adds to another field.
        let (_, pruned) = extent(first(tx, LOCK_EXTENT.into(), params![]).await?)?;
        let (mut cut, mut count) = (pruned.0, 0);
        for mut row in tx.query(OLDEST.into(), params![pruned.0, TURN_MAX]).await? {
            let (pos, at) = (row.int()?, row.int()?);
            // What is kept begins at a position: a later event that is older stays with it.
            if at >= self.before.as_micros() {
                break;
            }
            (cut, count) = (pos, count + 1);
        }
        if count > 0 {
            tx.execute(FORGET.into(), params![pruned.0, cut]).await?;
            tx.execute("UPDATE sequencer SET pruned_pos = $1 WHERE one = 1".into(), params![cut]).await?;
        }
        Ok(count)
    }
}
