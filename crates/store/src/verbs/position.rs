//! How many are ahead: counted by index, and only so far.

use extraboard_core::gate::Audience;
use extraboard_core::line::Rank;
use extraboard_core::why::POSITION_MAX;

use super::claim::heads;
use super::claim::lanes::{self, Lanes, Stratum};
use super::claim::pick::lanes_of;
use super::claim::section::{Levels, Section};
use crate::error::Error;
use crate::tx::{Tx, first};
use crate::value::params;

const AHEAD_IN_LEVEL: &str = "SELECT COUNT(*) FROM ( \
       SELECT 1 FROM line \
       WHERE level = $1 AND (arrival, queued_at, task) < ($2, $3, $4) \
       LIMIT $5) AS counted";
const AHEAD_IN_STRATUM: &str = "SELECT COUNT(*) FROM ( \
       SELECT 1 FROM line \
       WHERE lane = $6 AND level = $1 AND (arrival, queued_at, task) < ($2, $3, $4) \
       LIMIT $5) AS counted";

/// Counts the tasks that would be handed out before a rank, to [`POSITION_MAX`].
pub(crate) async fn ahead<T: Tx>(
    tx: &mut T,
    section: &Section,
    audience: Audience<'_>,
    rank: &Rank,
) -> Result<i64, Error> {
    let strata = lanes::strata(tx).await?;
    let lanes = lanes_of(tx, &strata).await?;
    let open: Vec<_> =
        strata.iter().filter(|stratum| is_open(&lanes, **stratum, audience, section)).copied().collect();
    let mut parts = Vec::new();
    if open.len() == strata.len() {
        // Nothing is closed, so levels can be counted whole.
        let levels = if section.levels == Levels::One { vec![0] } else { heads::levels(tx).await? };
        parts.extend(levels.into_iter().map(|level| (level, None)));
    } else {
        parts.extend(open.into_iter().map(|stratum| (stratum.level, Some(stratum.lane))));
    }
    let mut count = 0;
    for (level, lane) in parts {
        let bound = rank.bound_in(level, &section.profile, section.conditions.now);
        let mut params =
            params![level, bound.arrival, bound.queued_at.as_micros(), bound.number.0, POSITION_MAX - count,];
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

fn is_open(lanes: &Lanes, stratum: Stratum, audience: Audience<'_>, section: &Section) -> bool {
    lanes.get(&stratum.lane).is_some_and(|lane| audience.closed_gates(lane, &section.conditions).is_empty())
}

const RANK: &str = "SELECT level, arrival, queued_at FROM line WHERE task = $1";

/// Reads the rank of a task in line.
pub(crate) async fn rank_of<T: Tx>(
    tx: &mut T,
    task: extraboard_core::id::TaskNumber,
) -> Result<Option<Rank>, Error> {
    let Some(mut row) = first(tx, RANK.into(), params![task.0]).await? else { return Ok(None) };
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = extraboard_core::clock::Timestamp::from_micros(row.int()?);
    Ok(Some(Rank { level, arrival, queued_at, number: task }))
}
