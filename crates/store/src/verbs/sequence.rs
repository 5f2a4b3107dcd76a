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
use crate::tx::{Begin, Dialect, Tx, Verb, expect_rows, first};
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

/// Stamps and tells in one round trip; the lock came with the one that began the
/// transaction, so that this statement's snapshot is taken under it. The notification is the
/// only one there is: delivered with the commit, one for many events.
const STAMP: &str = "WITH fresh AS ( \
       SELECT id, row_number() OVER (ORDER BY id) AS nr \
       FROM (SELECT id FROM event WHERE pos IS NULL ORDER BY id LIMIT $1) AS unstamped), \
     last AS ( \
       UPDATE sequencer \
       SET last_pos = last_pos + (SELECT COUNT(*) FROM fresh) \
       WHERE one = 1 AND EXISTS (SELECT 1 FROM fresh) \
       RETURNING last_pos), \
     stamped AS ( \
       UPDATE event \
       SET pos = last.last_pos - (SELECT COUNT(*) FROM fresh) + fresh.nr \
       FROM fresh, last \
       WHERE event.id = fresh.id AND event.id = ANY (ARRAY(SELECT id FROM fresh)) \
       RETURNING event.id) \
     SELECT last_pos, (SELECT COUNT(*) FROM fresh), (SELECT COUNT(*) FROM stamped), \
       pg_notify($2, last_pos::text)::text \
     FROM last";

impl Verb for Sequence {
    type Output = Sequenced;

    const BEGIN: Begin = Begin::SequencerLock;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Sequenced, Error> {
        let stamped = match tx.dialect() {
            Dialect::Postgres => first(tx, STAMP.into(), params![STAMP_MAX, CHANNEL]).await?,
            Dialect::Sqlite => None,
        };
        let Some(mut row) = stamped else {
            return Ok(Sequenced { pos: PosLast.run(tx).await?, stamped: 0 });
        };
        let (pos, fresh, stamped) = (row.int()?, row.int()?, row.int()?);
        let fresh = usize::try_from(fresh).unwrap_or(usize::MAX);
        expect_rows("stamping events", fresh, u64::try_from(stamped).unwrap_or(0))?;
        Ok(Sequenced { pos: Pos(pos), stamped: fresh })
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
