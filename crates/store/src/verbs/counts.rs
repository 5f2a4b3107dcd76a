//! How much of what there is.

use extraboard_core::id::Pos;
use extraboard_core::state::State;

use crate::error::Error;
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// Counts tasks by state, the line and what is handed out.
#[derive(Clone, Copy, Debug)]
pub struct CountsRead;

/// The counts, all of one moment.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Tasks that are not deleted, by state; states without tasks are left out.
    pub states: Vec<(State, i64)>,
    /// Tasks in line.
    pub line: i64,
    /// Dispatches that are not closed.
    pub unclosed: i64,
    /// The last event's position.
    pub pos: Pos,
}

const STATES: &str =
    "SELECT state, COUNT(*) FROM task WHERE deleted_at IS NULL GROUP BY state ORDER BY state";
const REST: &str = "SELECT (SELECT COUNT(*) FROM line), \
       (SELECT COUNT(*) FROM dispatch WHERE closed_at IS NULL), \
       (SELECT last_pos FROM sequencer)";

impl Verb for CountsRead {
    type Output = Counts;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Counts, Error> {
        let mut states = Vec::new();
        for mut row in tx.query(STATES.into(), params![]).await? {
            states.push((row.parse()?, row.int()?));
        }
        let row = first(tx, REST.into(), params![]).await?;
        let mut row = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?;
        Ok(Counts { states, line: row.int()?, unclosed: row.int()?, pos: Pos(row.int()?) })
    }
}
