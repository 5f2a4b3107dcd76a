//! Fill the line quickly: for benchmarks, which need a million waiting tasks.

use extraboard_core::clock::Timestamp;

use crate::error::Error;
use crate::tx::{Sql, Tx, Verb};
use crate::value::params;

/// Adds queued tasks with numbers from `first` to `last`, of mixed priorities. No events.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// The first number.
    pub first: i64,
    /// The last number.
    pub last: i64,
    /// When they were queued.
    pub now: Timestamp,
}

/// The dialects have different series and different ways to format a number.
const TASKS: Sql = Sql {
    postgres: "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
         queued_at, created_at, updated_at) \
       SELECT g, '00000000-0000-7000-8000-' || lpad(to_hex(g), 12, '0'), 'task ' || g, repeat('x', 200), \
         'task', 'queued', 1 + g * 7919 % 100, 7, 3, $3, $3, $3 \
       FROM generate_series($1, $2) AS g",
    sqlite: "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
         queued_at, created_at, updated_at) \
       WITH RECURSIVE series (g) AS (SELECT $1 UNION ALL SELECT g + 1 FROM series WHERE g < $2) \
       SELECT g, printf('00000000-0000-7000-8000-%012x', g), 'task ' || g, printf('%.200c', 'x'), \
         'task', 'queued', 1 + g * 7919 % 100, 7, 3, $3, $3, $3 \
       FROM series",
};
const LANE: &str = "INSERT INTO lane (kind, doors) VALUES ('task', 7) ON CONFLICT (kind, doors) DO NOTHING";
const LINE: &str = "INSERT INTO line (task, lane, arrival, queued_at) \
     SELECT t.number, n.id, t.queued_at - t.priority * 86400000000, t.queued_at \
     FROM task t JOIN lane n ON n.kind = t.kind AND n.doors = t.doors \
     WHERE t.number BETWEEN $1 AND $2";

impl Verb for Seed {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        tx.execute(TASKS, params![self.first, self.last, self.now.as_micros()]).await?;
        tx.execute(LANE.into(), params![]).await?;
        tx.execute(LINE.into(), params![self.first, self.last]).await?;
        Ok(())
    }
}

/// The least a claim could do: one transaction that updates one row and inserts two.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// The task to update.
    pub number: i64,
    /// The present.
    pub now: Timestamp,
}

impl Verb for Ceiling {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let update = "UPDATE task SET updated_at = $2 WHERE number = $1";
        tx.execute(update.into(), params![self.number, self.now.as_micros()]).await?;
        for _ in 0..2 {
            let insert =
                "INSERT INTO event (type, actor, at, data) VALUES ('task.edited', 'bench', $1, '{}')";
            tx.execute(insert.into(), params![self.now.as_micros()]).await?;
        }
        Ok(())
    }
}
