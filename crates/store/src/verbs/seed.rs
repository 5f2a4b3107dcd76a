//! Fill the line quickly: for benchmarks, which need a million waiting tasks.

use extraboard_core::clock::Timestamp;

use crate::error::Error;
use crate::tx::{Sql, Tx, Verb};
use crate::value::params;

/// What sort of tasks the line is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSort {
    /// Of mixed priorities, ranked by the shipped `pipeline` profile.
    Pipeline,
    /// Of mixed kinds and depths, waiting for up to 100 minutes, ranked by the shipped
    /// `depth_first` profile.
    DepthFirst,
    /// Ahead of all others and of so many owners: nobody's who claims without one.
    Foreign(i64),
}

/// Adds queued tasks with numbers from `first` to `last`. No events.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// The first number.
    pub first: i64,
    /// The last number.
    pub last: i64,
    /// The present.
    pub now: Timestamp,
    /// What sort of tasks.
    pub sort: SeedSort,
}

/// The dialects have different series and different ways to format a number.
macro_rules! tasks {
    ($series:literal, $id:literal, $text:literal) => {
        concat!(
            "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
               queued_at, created_at, updated_at, depth, owner) ",
            $series,
            " SELECT g, ",
            $id,
            ", 'task ' || g, ",
            $text,
            ", CASE WHEN $4 <> 1 THEN 'task' WHEN g % 4 = 0 THEN 'plan' WHEN g % 4 = 1 THEN 'spec' \
                WHEN g % 4 = 2 THEN 'phase' ELSE 'code' END, \
               'queued', CASE WHEN $4 = 2 THEN 100 ELSE 1 + g * 7919 % 100 END, 7, 3, \
               CASE WHEN $4 = 1 THEN $3 - g * 7919 % 6000 * 1000000 WHEN $4 = 2 THEN $3 - 86400000000 \
                 ELSE $3 END, \
               $3, $3, CASE WHEN $4 = 1 THEN g % 4 ELSE 0 END, \
               CASE WHEN $4 = 2 THEN 'owner ' || (g % $5) END \
             FROM series"
        )
    };
}
const TASKS: Sql = Sql {
    postgres: tasks!(
        "WITH series AS (SELECT g FROM generate_series($1::bigint, $2::bigint) AS g)",
        "'00000000-0000-7000-8000-' || lpad(to_hex(g), 12, '0')",
        "repeat('x', 200)"
    ),
    sqlite: tasks!(
        "WITH RECURSIVE series (g) AS (SELECT $1 UNION ALL SELECT g + 1 FROM series WHERE g < $2)",
        "printf('00000000-0000-7000-8000-%012x', g)",
        "printf('%.200c', 'x')"
    ),
};
const LANES: &str = "INSERT INTO lane (project, kind, needs, owner, doors) \
     SELECT DISTINCT 0, kind, '', COALESCE(owner, ''), 7 FROM task WHERE number BETWEEN $1 AND $2 \
     ON CONFLICT (project, kind, needs, owner, doors) DO NOTHING";
/// The numbers of the shipped profiles, once more.
const LINE: &str = "INSERT INTO line (task, lane, level, arrival, queued_at) \
     SELECT t.number, n.id, \
       CASE WHEN $3 <> 1 THEN 0 WHEN t.kind = 'plan' THEN 40 WHEN t.kind = 'spec' THEN 60 \
         WHEN t.kind = 'phase' THEN 80 ELSE 100 END + CASE WHEN $3 = 1 THEN t.depth * 10 ELSE 0 END, \
       CASE WHEN $3 = 1 THEN t.queued_at ELSE t.queued_at - (t.priority + 20) * 86400000000 END, t.queued_at \
     FROM task t \
     JOIN lane n ON n.project = 0 AND n.kind = t.kind AND n.needs = '' \
       AND n.owner = COALESCE(t.owner, '') AND n.doors = t.doors \
     WHERE t.number BETWEEN $1 AND $2";

const HEADS: &str = "INSERT INTO line_head (level, arrival) \
     SELECT level, MIN(arrival) FROM line WHERE task BETWEEN $1 AND $2 GROUP BY level \
     ON CONFLICT (level) DO UPDATE \
       SET arrival = CASE WHEN line_head.arrival < EXCLUDED.arrival THEN line_head.arrival \
         ELSE EXCLUDED.arrival END";

impl Verb for Seed {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let (sort, lanes) = match self.sort {
            SeedSort::Pipeline => (0, 1),
            SeedSort::DepthFirst => (1, 1),
            SeedSort::Foreign(lanes) => (2, lanes),
        };
        let range = params![self.first, self.last];
        let mut params = range.clone();
        params.extend(params![self.now.as_micros(), sort, lanes]);
        tx.execute(TASKS, params).await?;
        tx.execute(LANES.into(), range.clone()).await?;
        let mut params = range.clone();
        params.extend(params![sort]);
        tx.execute(LINE.into(), params).await?;
        tx.execute(HEADS.into(), range).await?;
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
