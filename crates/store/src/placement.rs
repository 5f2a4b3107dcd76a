//! Where waiting tasks are kept: in line, with a timer, or held.
//!
//! Exactly the ready tasks stand in line. Every verb that changes what
//! readiness depends on calls [`moved`] in the same transaction, with the
//! tasks' rows locked.

use std::collections::{BTreeMap, HashSet};

use extraboard_core::id::TaskNumber;
use extraboard_core::line::{Lane, Rank};
use extraboard_core::task::{Place, Task};

use crate::error::Error;
use crate::rules::{self, Rankings};
use crate::tx::{Each, Sql, Tx, expect_rows};
use crate::value::{Value, params};

/// A task before and after a change.
pub(crate) type Move<'a> = (&'a Task, &'a Task);

/// Puts a task that just came in where it belongs.
pub(crate) async fn enter<T: Tx>(tx: &mut T, task: &Task) -> Result<(), Error> {
    enter_all(tx, &[task]).await
}

/// Moves tasks from where they were to where they belong now.
pub(crate) async fn moved<T: Tx>(tx: &mut T, moves: &[Move<'_>]) -> Result<(), Error> {
    let moves: Vec<_> = moves.iter().filter(|(before, after)| is_moved(before, after)).collect();
    for (from, sql) in [(From::Line, LEAVE_LINE), (From::Timer, LEAVE_TIMER), (From::Held, LEAVE_HELD)] {
        let numbers: Vec<_> =
            moves.iter().filter(|(before, _)| from.has(before)).map(|(before, _)| before.number.0).collect();
        if !numbers.is_empty() {
            let expected = numbers.len();
            expect_rows("leaving a place", expected, tx.execute(sql, params![numbers]).await?)?;
        }
    }
    let arrived: Vec<_> = moves.iter().map(|(_, after)| *after).collect();
    enter_all(tx, &arrived).await
}

/// Takes a task out of every place it may be in.
pub(crate) async fn clear<T: Tx>(tx: &mut T, task: TaskNumber) -> Result<(), Error> {
    for sql in [LEAVE_LINE, LEAVE_TIMER, LEAVE_HELD] {
        tx.execute(sql, params![vec![task.0]]).await?;
    }
    Ok(())
}

fn is_moved(before: &Task, after: &Task) -> bool {
    match (before.place(), after.place()) {
        (Place::Line, Place::Line) => before.standing() != after.standing(),
        (before, after) => before != after,
    }
}

/// A place that can be left.
enum From {
    Line,
    Timer,
    Held,
}

impl From {
    fn has(&self, task: &Task) -> bool {
        matches!(
            (self, task.place()),
            (Self::Line, Place::Line) | (Self::Timer, Place::Timer(_)) | (Self::Held, Place::Held)
        )
    }
}

pub(crate) const LEAVE_LINE: Sql = Sql {
    postgres: "DELETE FROM line WHERE task = ANY($1)",
    sqlite: "DELETE FROM line WHERE task IN (SELECT value FROM json_each($1))",
};
const LEAVE_TIMER: Sql = Sql {
    postgres: "DELETE FROM timer WHERE task = ANY($1)",
    sqlite: "DELETE FROM timer WHERE task IN (SELECT value FROM json_each($1))",
};
const LEAVE_HELD: Sql = Sql {
    postgres: "DELETE FROM held WHERE task = ANY($1)",
    sqlite: "DELETE FROM held WHERE task IN (SELECT value FROM json_each($1))",
};
const HOLD: Each = Each {
    postgres: "INSERT INTO held (task) SELECT u.task FROM unnest($1::bigint[]) AS u (task)",
    sqlite: "INSERT INTO held (task) VALUES ($1)",
};
const START_TIMER: Each = Each {
    postgres: "INSERT INTO timer (task, due_at) \
       SELECT u.task, u.due_at \
       FROM unnest($1::bigint[], $2::bigint[]) AS u (task, due_at)",
    sqlite: "INSERT INTO timer (task, due_at) VALUES ($1, $2)",
};

async fn enter_all<T: Tx>(tx: &mut T, tasks: &[&Task]) -> Result<(), Error> {
    let (mut held, mut timers, mut ready) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        match task.place() {
            Place::Nowhere => {}
            Place::Held => held.push(params![task.number.0]),
            Place::Timer(due) => timers.push(params![task.number.0, due.as_micros()]),
            Place::Line => ready.push(*task),
        }
    }
    let count = held.len();
    expect_rows("holding tasks", count, tx.execute_each(HOLD, held).await?)?;
    let count = timers.len();
    expect_rows("starting timers", count, tx.execute_each(START_TIMER, timers).await?)?;
    join_line(tx, &ready).await
}

/// Ranks tasks by the rules in force and puts them in line.
async fn join_line<T: Tx>(tx: &mut T, tasks: &[&Task]) -> Result<(), Error> {
    if tasks.is_empty() {
        return Ok(());
    }
    rules::share_rank_lock(tx).await?;
    let rankings = rules::rankings(tx, tasks.iter().map(|task| task.project)).await?;
    let mut places = Vec::new();
    for task in tasks {
        let rank = task.rank(&rankings.of(task));
        let rank = rank.ok_or_else(|| Error::Broken("a task in line is not queued".to_owned()))?;
        places.push((task.lane(), rank));
    }
    lower_heads(tx, &rankings, &places).await?;
    insert(tx, &places).await
}

const LOWER: Each = Each {
    postgres: "INSERT INTO line_head (level, arrival) \
       SELECT u.level, u.arrival \
       FROM unnest($1::bigint[], $2::bigint[]) AS u (level, arrival) \
       ON CONFLICT (level) DO UPDATE SET arrival = LEAST(line_head.arrival, EXCLUDED.arrival)",
    sqlite: "INSERT INTO line_head (level, arrival) VALUES ($1, $2) \
       ON CONFLICT (level) DO UPDATE SET arrival = MIN(line_head.arrival, EXCLUDED.arrival)",
};

/// Lets levels begin earlier where a new place is ahead of all others. Heads only move
/// on under the rank lock, which is shared here, so what was read of them holds; they are
/// written only if they have to be, because whoever writes one makes others wait.
async fn lower_heads<T: Tx>(tx: &mut T, rankings: &Rankings, places: &[(Lane, Rank)]) -> Result<(), Error> {
    let mut heads: BTreeMap<i64, i64> = BTreeMap::new();
    for (_, rank) in places {
        let head = heads.entry(rank.level).or_insert(rank.arrival);
        *head = rank.arrival.min(*head);
    }
    heads.retain(|level, arrival| rankings.heads.get(level).is_none_or(|head| *arrival < *head));
    let count = heads.len();
    let rows = heads.into_iter().map(|(level, arrival)| params![level, arrival]).collect();
    expect_rows("moving the head of the line", count, tx.execute_each(LOWER, rows).await?)
}

/// Gives locked tasks that stand in line the rank that the rules in force say.
pub(crate) async fn rank_anew<T: Tx>(tx: &mut T, tasks: &[&Task]) -> Result<(), Error> {
    if tasks.is_empty() {
        return Ok(());
    }
    let numbers: Vec<_> = tasks.iter().map(|task| task.number.0).collect();
    let left = tx.execute(LEAVE_LINE, params![numbers]).await?;
    expect_rows("leaving a place", tasks.len(), left)?;
    join_line(tx, tasks).await
}

const JOIN: Each = Each {
    postgres: "INSERT INTO line (task, lane, level, arrival, queued_at) \
       SELECT u.task, n.id, u.level, u.arrival, u.queued_at \
       FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], \
         $7::text[], $8::text[], $9::bigint[]) \
         AS u (task, level, arrival, queued_at, project, kind, needs, owner, doors) \
       JOIN lane n ON n.project = u.project AND n.kind = u.kind AND n.needs = u.needs \
         AND n.owner = u.owner AND n.doors = u.doors \
       ON CONFLICT (task) DO NOTHING",
    sqlite: "INSERT INTO line (task, lane, level, arrival, queued_at) \
       SELECT $1, n.id, $2, $3, $4 \
       FROM lane n \
       WHERE n.project = $5 AND n.kind = $6 AND n.needs = $7 AND n.owner = $8 AND n.doors = $9 \
       ON CONFLICT (task) DO NOTHING",
};
const NEW_LANE: &str = "INSERT INTO lane (project, kind, needs, owner, doors) \
     VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (project, kind, needs, owner, doors) DO NOTHING";

/// Puts tasks in line.
async fn insert<T: Tx>(tx: &mut T, places: &[(Lane, Rank)]) -> Result<(), Error> {
    let rows: Vec<_> = places
        .iter()
        .map(|(lane, rank)| {
            let mut row = params![rank.number.0, rank.level, rank.arrival, rank.queued_at.as_micros()];
            row.extend(lane_values(lane));
            row
        })
        .collect();
    let joined = tx.execute_each(JOIN, rows.clone()).await?;
    if usize::try_from(joined) == Ok(places.len()) {
        return Ok(());
    }
    // The first tasks of their lanes; lanes stay, so this is rare.
    let lanes: HashSet<_> = places.iter().map(|(lane, _)| lane).collect();
    for lane in lanes {
        tx.execute(NEW_LANE.into(), lane_values(lane)).await?;
    }
    let rest = tx.execute_each(JOIN, rows).await?;
    expect_rows("joining the line", places.len(), joined + rest)
}

/// Returns what a lane is stored as; nothing is 0 or empty, so that lanes can be unique.
fn lane_values(lane: &Lane) -> Vec<Value> {
    params![
        lane.project.map_or(0, |project| project.0),
        lane.kind.as_str(),
        lane.needs.to_string(),
        lane.owner.clone().unwrap_or_default(),
        lane.doors.bits(),
    ]
}
