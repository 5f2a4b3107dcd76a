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
use crate::tx::{Dialect, Tx};
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
     WHERE level = $1 AND arrival >= $2 \
     ORDER BY arrival, queued_at, task \
     LIMIT $3";
/// The heads of all levels in one round trip.
pub(super) const LEVEL_HEADS: &str = "SELECT h.task, h.lane, h.level, h.arrival, h.queued_at \
     FROM line_head d \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, level, arrival, queued_at \
       FROM line \
       WHERE line.level = d.level AND line.arrival >= d.arrival \
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
     JOIN line_head d ON d.level = o.level \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, level, arrival, queued_at \
       FROM line \
       WHERE line.lane = o.lane AND line.level = o.level AND line.arrival >= d.arrival \
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
        (Levels::One, _) => {
            if let Some(head) = section.head {
                found.extend(tx.query(LEVEL_HEAD.into(), params![0, head, limit]).await?);
            }
        }
        (Levels::Many, Dialect::Postgres) => {
            found.extend(tx.query(LEVEL_HEADS.into(), params![limit]).await?);
        }
        (Levels::Many, Dialect::Sqlite) => {
            for mut row in tx.query("SELECT level, arrival FROM line_head".into(), params![]).await? {
                let (level, head) = (row.int()?, row.int()?);
                found.extend(tx.query(LEVEL_HEAD.into(), params![level, head, limit]).await?);
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
