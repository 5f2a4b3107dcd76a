//! How many are ahead: counted by index, and only so far.

use std::collections::BTreeSet;

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{LaneId, TaskNumber};
use extraboard_core::line::{Lane, Rank};
use extraboard_core::why::POSITION_MAX;

use super::claim::lanes::{self, Stratum};
use super::claim::pick::lanes_of;
use super::claim::section::Section;
use crate::error::Error;
use crate::tx::{Dialect, Tx, first};
use crate::value::params;

/// The bounds of many levels at once: round trips cost most on PostgreSQL.
const AHEAD_IN_LEVELS: &str = "SELECT SUM(c.ahead)::bigint \
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) \
       AS b (level, arrival, queued_at, task) \
     JOIN line_head h ON h.level = b.level \
     CROSS JOIN LATERAL ( \
       SELECT COUNT(*) AS ahead FROM ( \
         SELECT 1 FROM line l \
         WHERE l.level = b.level AND l.arrival >= h.arrival \
           AND (l.arrival, l.queued_at, l.task) < (b.arrival, b.queued_at, b.task) \
         LIMIT $5) AS counted) AS c";
const AHEAD_IN_STRATA: &str = "SELECT SUM(c.ahead)::bigint \
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $6::bigint[]) \
       AS b (level, arrival, queued_at, task, lane) \
     JOIN line_head h ON h.level = b.level \
     CROSS JOIN LATERAL ( \
       SELECT COUNT(*) AS ahead FROM ( \
         SELECT 1 FROM line l \
         WHERE l.lane = b.lane AND l.level = b.level AND l.arrival >= h.arrival \
           AND (l.arrival, l.queued_at, l.task) < (b.arrival, b.queued_at, b.task) \
         LIMIT $5) AS counted) AS c";
const AHEAD_IN_LEVEL: &str = "SELECT COUNT(*) FROM ( \
       SELECT 1 FROM line \
       WHERE level = $1 AND (arrival, queued_at, task) < ($2, $3, $4) \
       LIMIT $5) AS counted";
const AHEAD_IN_STRATUM: &str = "SELECT COUNT(*) FROM ( \
       SELECT 1 FROM line \
       WHERE lane = $6 AND level = $1 AND (arrival, queued_at, task) < ($2, $3, $4) \
       LIMIT $5) AS counted";

/// Where the tasks ahead end, in a level or in a part of it.
struct Bound {
    rank: Rank,
    lane: Option<LaneId>,
}

/// Counts the tasks ahead of a rank in lanes that compete with it, to [`POSITION_MAX`].
pub(crate) async fn ahead<T: Tx>(
    tx: &mut T,
    section: &Section,
    rank: &Rank,
    competes: impl Fn(&Lane) -> bool,
) -> Result<i64, Error> {
    let strata = lanes::strata(tx).await?;
    let lanes = lanes_of(tx, &strata).await?;
    let is_counted = |stratum: &&Stratum| lanes.get(&stratum.lane).is_some_and(&competes);
    let open: Vec<_> = strata.iter().filter(is_counted).copied().collect();
    let bound = |level| rank.bound_in(level, &section.profile, section.conditions.now);
    let bounds: Vec<_> = if open.len() == strata.len() {
        // Nothing is closed, so levels can be counted whole.
        let levels: BTreeSet<_> = strata.iter().map(|stratum| stratum.level).collect();
        levels.into_iter().map(|level| Bound { rank: bound(level), lane: None }).collect()
    } else {
        open.into_iter()
            .map(|stratum| Bound { rank: bound(stratum.level), lane: Some(stratum.lane) })
            .collect()
    };
    let count = match tx.dialect() {
        Dialect::Postgres => count_together(tx, &bounds).await?,
        Dialect::Sqlite => count_singly(tx, &bounds).await?,
    };
    Ok(count.min(POSITION_MAX))
}

async fn count_together<T: Tx>(tx: &mut T, bounds: &[Bound]) -> Result<i64, Error> {
    let column = |value: fn(&Bound) -> i64| bounds.iter().map(value).collect::<Vec<_>>();
    let mut params = params![
        column(|bound| bound.rank.level),
        column(|bound| bound.rank.arrival),
        column(|bound| bound.rank.queued_at.as_micros()),
        column(|bound| bound.rank.number.0),
        POSITION_MAX,
    ];
    let lanes: Option<Vec<_>> = bounds.iter().map(|bound| Some(bound.lane?.0)).collect();
    let sql = match lanes.filter(|lanes| !lanes.is_empty()) {
        Some(lanes) => {
            params.push(lanes.into());
            AHEAD_IN_STRATA
        }
        None => AHEAD_IN_LEVELS,
    };
    // A sum of nothing is null.
    first(tx, sql.into(), params)
        .await?
        .map_or(Ok(None), |mut row| row.opt_int())
        .map(Option::unwrap_or_default)
}

async fn count_singly<T: Tx>(tx: &mut T, bounds: &[Bound]) -> Result<i64, Error> {
    let mut count = 0;
    for Bound { rank, lane } in bounds {
        let left = POSITION_MAX - count;
        let mut params = params![rank.level, rank.arrival, rank.queued_at.as_micros(), rank.number.0, left];
        let sql = if lane.is_some() { AHEAD_IN_STRATUM } else { AHEAD_IN_LEVEL };
        params.extend(lane.map(|lane| lane.0.into()));
        let row = first(tx, sql.into(), params).await?;
        count += row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
        if count >= POSITION_MAX {
            break;
        }
    }
    Ok(count)
}

const RANK: &str = "SELECT level, arrival, queued_at FROM line WHERE task = $1";

/// Reads the rank of a task in line.
pub(crate) async fn rank_of<T: Tx>(tx: &mut T, task: TaskNumber) -> Result<Option<Rank>, Error> {
    let Some(mut row) = first(tx, RANK.into(), params![task.0]).await? else { return Ok(None) };
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    Ok(Some(Rank { level, arrival, queued_at, number: task }))
}
