//! The sequencer: gives committed events their public positions.
//!
//! A number drawn while an event is written would not do: a later number can
//! commit first, and a reader that has passed it would never see the earlier
//! one. Here one sequencer at a time looks at what has committed and numbers
//! that, so whatever appears later also has a later position. (SQLite has one
//! writer, which gives positions as it writes.)

use extraboard_core::id::Pos;

use crate::error::Error;
use crate::postgres::CHANNEL;
use crate::tx::{Dialect, Each, Tx, Verb, expect_rows, first};
use crate::value::params;

/// How many events are stamped in one turn.
const STAMP_MAX: i64 = 1000;

/// Stamps up to a turn of events.
#[derive(Clone, Copy, Debug)]
pub struct Sequence;

/// What was stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequenced {
    /// The last position given, ever.
    pub pos: Pos,
    /// How many events got theirs now.
    pub stamped: usize,
}

impl Sequenced {
    /// Tells whether there may be more to stamp.
    pub fn is_full(&self) -> bool {
        i64::try_from(self.stamped) == Ok(STAMP_MAX)
    }
}

/// Its own statement, so that the next one's snapshot is taken under the lock.
const LOCK: &str = "SELECT last_pos FROM sequencer WHERE one = 1 FOR UPDATE";
const COMMITTED: &str = "SELECT id FROM event WHERE pos IS NULL ORDER BY id LIMIT $1";
const STAMP: Each = Each {
    postgres: "UPDATE event SET pos = u.pos \
       FROM unnest($1::bigint[], $2::bigint[]) AS u (id, pos) \
       WHERE event.id = u.id AND event.id = ANY($1)",
    sqlite: "UPDATE event SET pos = $2 WHERE id = $1",
};

impl Verb for Sequence {
    type Output = Sequenced;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Sequenced, Error> {
        let row = first(tx, LOCK.into(), params![]).await?;
        let last = row.ok_or_else(|| Error::unreadable("no sequencer"))?.int()?;
        let mut rows = Vec::new();
        let mut pos = last;
        for mut row in tx.query(COMMITTED.into(), params![STAMP_MAX]).await? {
            pos += 1;
            rows.push(params![row.int()?, pos]);
        }
        let stamped = rows.len();
        if stamped == 0 {
            return Ok(Sequenced { pos: Pos(last), stamped });
        }
        expect_rows("stamping events", stamped, tx.execute_each(STAMP, rows).await?)?;
        tx.execute("UPDATE sequencer SET last_pos = $1 WHERE one = 1".into(), params![pos]).await?;
        if tx.dialect() == Dialect::Postgres {
            // The only notification there is: delivered with the commit, one for many events.
            tx.execute("SELECT pg_notify($1, $2)".into(), params![CHANNEL, pos.to_string()]).await?;
        }
        Ok(Sequenced { pos: Pos(pos), stamped })
    }
}

/// Reads the last position given.
#[derive(Clone, Copy, Debug)]
pub struct PosLast;

impl Verb for PosLast {
    type Output = Pos;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Pos, Error> {
        let row = first(tx, "SELECT last_pos FROM sequencer WHERE one = 1".into(), params![]).await?;
        row.ok_or_else(|| Error::unreadable("no sequencer"))?.int().map(Pos)
    }
}
