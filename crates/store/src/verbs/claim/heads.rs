//! Read the head of the line: of each level, or of each lane.
//!
//! Where one order holds for the whole line its head is read. Where ranks have
//! levels the head of each level is. If what stands there is closed to a claimer,
//! the heads of the open lanes are read instead, so that any number of foreign
//! tasks ahead costs nothing. Whoever reads merges: the best of all heads is the
//! best of the line.

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{LaneId, TaskNumber};
use extraboard_core::line::Rank;

use super::lanes::Stratum;
use super::section::{Levels, Section};
use crate::error::Error;
use crate::tx::{Dialect, Tx, first};
use crate::value::{Row, params};

/// A task in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) rank: Rank,
    pub(crate) lane: LaneId,
}

/// The head of one level. The index gives the order: no sort, no scan.
pub(super) const LEVEL_HEAD: &str = "SELECT task, lane, level, arrival, queued_at \
     FROM line \
     WHERE level = $1 \
     ORDER BY arrival, queued_at, task \
     LIMIT $2";
const NEXT_LEVEL: &str = "SELECT level FROM line WHERE level > $1 ORDER BY level LIMIT 1";
/// The heads of all levels in one round trip, jumping from level to level.
pub(super) const LEVEL_HEADS: &str = "WITH RECURSIVE step (level) AS ( \
       (SELECT level FROM line ORDER BY level LIMIT 1) \
       UNION ALL \
       SELECT (SELECT l.level FROM line l WHERE l.level > step.level ORDER BY l.level LIMIT 1) \
       FROM step \
       WHERE step.level IS NOT NULL) \
     SELECT h.task, h.lane, h.level, h.arrival, h.queued_at \
     FROM step \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, level, arrival, queued_at \
       FROM line \
       WHERE line.level = step.level \
       ORDER BY arrival, queued_at, task \
       LIMIT $1) AS h";
/// The head of one stratum.
const STRATUM_HEAD: &str = "SELECT task, lane, level, arrival, queued_at \
     FROM line \
     WHERE lane = $1 AND level = $2 \
     ORDER BY arrival, queued_at, task \
     LIMIT $3";
/// The heads of many strata in one round trip.
pub(super) const STRATUM_HEADS: &str = "SELECT h.task, h.lane, h.level, h.arrival, h.queued_at \
     FROM unnest($1::bigint[], $2::bigint[]) AS o (lane, level) \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, level, arrival, queued_at \
       FROM line \
       WHERE line.lane = o.lane AND line.level = o.level \
       ORDER BY arrival, queued_at, task \
       LIMIT $3) AS h";

/// Reads up to so many tasks of each level, best first.
pub(crate) async fn of_levels<T: Tx>(
    tx: &mut T,
    section: &Section,
    rows: usize,
) -> Result<Vec<Candidate>, Error> {
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    match (section.levels, tx.dialect()) {
        (Levels::One, _) => found.extend(tx.query(LEVEL_HEAD.into(), params![0, limit]).await?),
        (Levels::Many, Dialect::Postgres) => {
            found.extend(tx.query(LEVEL_HEADS.into(), params![limit]).await?);
        }
        (Levels::Many, Dialect::Sqlite) => {
            for level in levels(tx).await? {
                found.extend(tx.query(LEVEL_HEAD.into(), params![level, limit]).await?);
            }
        }
    }
    sorted(found, section)
}

/// Reads up to so many tasks of each stratum, best first.
pub(crate) async fn of_strata<T: Tx>(
    tx: &mut T,
    section: &Section,
    strata: &[Stratum],
    rows: usize,
) -> Result<Vec<Candidate>, Error> {
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    match tx.dialect() {
        Dialect::Postgres => {
            let lanes: Vec<_> = strata.iter().map(|stratum| stratum.lane.0).collect();
            let levels: Vec<_> = strata.iter().map(|stratum| stratum.level).collect();
            found.extend(tx.query(STRATUM_HEADS.into(), params![lanes, levels, limit]).await?);
        }
        // SQLite has no lateral join, and no round trips to save.
        Dialect::Sqlite => {
            for stratum in strata {
                let params = params![stratum.lane.0, stratum.level, limit];
                found.extend(tx.query(STRATUM_HEAD.into(), params).await?);
            }
        }
    }
    sorted(found, section)
}

/// Reads which levels have tasks in line, by jumping from one to the next.
async fn levels<T: Tx>(tx: &mut T) -> Result<Vec<i64>, Error> {
    let mut levels = Vec::new();
    let mut at = i64::MIN;
    while let Some(mut row) = first(tx, NEXT_LEVEL.into(), params![at]).await? {
        at = row.int()?;
        levels.push(at);
    }
    Ok(levels)
}

fn sorted(rows: Vec<Row>, section: &Section) -> Result<Vec<Candidate>, Error> {
    let mut found = rows.into_iter().map(candidate).collect::<Result<Vec<_>, _>>()?;
    let now = section.conditions.now;
    match section.levels {
        Levels::One => found.sort_by_key(|candidate| candidate.rank),
        Levels::Many => found.sort_by_cached_key(|candidate| candidate.rank.order(&section.profile, now)),
    }
    Ok(found)
}

fn candidate(mut row: Row) -> Result<Candidate, Error> {
    let number = TaskNumber(row.int()?);
    let lane = LaneId(row.int()?);
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    Ok(Candidate { rank: Rank { level, arrival, queued_at, number }, lane })
}
