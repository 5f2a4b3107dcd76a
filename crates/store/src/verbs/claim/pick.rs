//! Pick candidates: the head of the line, lane by lane where the head is closed.
//!
//! First a short walk along the line. If what stands there may not leave by the
//! claimer's door, the heads of the open lanes are merged instead, so that any
//! number of foreign tasks at the head costs nothing.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Door;
use extraboard_core::id::{LaneId, TaskNumber};
use extraboard_core::line::{Lane, Rank};

use super::lanes;
use crate::error::Error;
use crate::tx::{Dialect, Tx};
use crate::value::{Row, params};

/// How many rows of the line a claim walks before it looks lane by lane.
const WALK_ROWS: usize = 64;

/// The head of the line. The index gives the order: no sort, no scan.
pub(super) const WALK: &str = "SELECT task, lane, arrival, queued_at \
     FROM line \
     ORDER BY arrival, queued_at, task \
     LIMIT $1";
/// The head of one lane.
const LANE_HEAD: &str = "SELECT task, lane, arrival, queued_at \
     FROM line \
     WHERE lane = $1 \
     ORDER BY arrival, queued_at, task \
     LIMIT $2";
/// The heads of many lanes in one round trip; they are merged by the caller.
pub(super) const LANE_HEADS: &str = "SELECT h.task, h.lane, h.arrival, h.queued_at \
     FROM unnest($1::bigint[]) AS o (lane) \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, arrival, queued_at \
       FROM line \
       WHERE line.lane = o.lane \
       ORDER BY arrival, queued_at, task \
       LIMIT $2) AS h";

/// A task in line, by its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rank: Rank,
    lane: LaneId,
}

/// Picks tasks for claimers at these doors, in the order they came, and so many
/// to spare for the first of them; tasks in `passed` are not considered.
pub(super) async fn pick<T: Tx>(
    tx: &mut T,
    doors: &[Door],
    spare: usize,
    passed: &HashSet<TaskNumber>,
) -> Result<Vec<TaskNumber>, Error> {
    let lanes: HashMap<_, _> = lanes::all(tx).await?.into_iter().collect();
    let wanted = doors.len() + spare + passed.len();
    let walk = walk(tx, wanted.max(WALK_ROWS)).await?;
    let whole_line = walk.len() < wanted.max(WALK_ROWS);
    let mut picked = HashSet::new();
    let mut unmet = Vec::new();
    let spares = doors.first().map_or(&[][..], std::slice::from_ref).iter().cycle().take(spare);
    for door in doors.iter().chain(spares) {
        if !take_best(&walk, *door, &lanes, passed, &mut picked) {
            unmet.push(*door);
        }
    }
    if !whole_line {
        let mut heads = HashMap::new();
        for door in unmet {
            if let Entry::Vacant(entry) = heads.entry(door) {
                entry.insert(lane_heads(tx, &lanes, door, wanted).await?);
            }
            take_best(&heads[&door], door, &lanes, passed, &mut picked);
        }
    }
    Ok(picked.into_iter().collect())
}

/// Takes the best candidate for one claimer; tells whether there was one.
fn take_best(
    candidates: &[Candidate],
    door: Door,
    lanes: &HashMap<LaneId, Lane>,
    passed: &HashSet<TaskNumber>,
    picked: &mut HashSet<TaskNumber>,
) -> bool {
    let best = candidates.iter().find(|candidate| {
        let number = candidate.rank.number;
        let open = lanes.get(&candidate.lane).is_some_and(|lane| lane.is_open(door));
        open && !passed.contains(&number) && !picked.contains(&number)
    });
    best.is_some_and(|best| picked.insert(best.rank.number))
}

async fn walk<T: Tx>(tx: &mut T, rows: usize) -> Result<Vec<Candidate>, Error> {
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    tx.query(WALK.into(), params![limit]).await?.into_iter().map(candidate).collect()
}

async fn lane_heads<T: Tx>(
    tx: &mut T,
    lanes: &HashMap<LaneId, Lane>,
    door: Door,
    rows: usize,
) -> Result<Vec<Candidate>, Error> {
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    let open: Vec<_> = lanes.iter().filter(|(_, lane)| lane.is_open(door)).map(|(id, _)| id.0).collect();
    let mut heads: Vec<Candidate> = Vec::new();
    match tx.dialect() {
        Dialect::Postgres => {
            let rows = tx.query(LANE_HEADS.into(), params![open, limit]).await?;
            for row in rows {
                heads.push(candidate(row)?);
            }
        }
        // SQLite has no lateral join, and no round trips to save.
        Dialect::Sqlite => {
            for lane in open {
                for row in tx.query(LANE_HEAD.into(), params![lane, limit]).await? {
                    heads.push(candidate(row)?);
                }
            }
        }
    }
    heads.sort_by_key(|head| head.rank);
    Ok(heads)
}

fn candidate(mut row: Row) -> Result<Candidate, Error> {
    let number = TaskNumber(row.int()?);
    let lane = LaneId(row.int()?);
    let arrival = Timestamp::from_micros(row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    Ok(Candidate { rank: Rank { arrival, queued_at, number }, lane })
}
