//! Read the head of the line: of each level, or of each lane.
//!
//! Where one order holds for the whole line its head is read. Where ranks have
//! levels the heads of the best levels are. If what stands there is closed to a claimer,
//! the heads of the open lanes are read instead, so that any number of foreign
//! tasks ahead costs nothing. Whoever reads merges: the best of all heads is the
//! best of the line.

use std::collections::HashMap;

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{LaneId, TaskNumber};
use extraboard_core::line::{Order, Rank};

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
/// The heads of many levels in one round trip.
pub(super) const LEVEL_HEADS: &str = "SELECT h.task, h.lane, h.level, h.arrival, h.queued_at \
     FROM unnest($1::bigint[], $2::bigint[]) AS d (level, arrival) \
     CROSS JOIN LATERAL ( \
       SELECT task, lane, level, arrival, queued_at \
       FROM line \
       WHERE line.level = d.level AND line.arrival >= d.arrival \
       ORDER BY arrival, queued_at, task \
       LIMIT $3) AS h";
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

/// The beginning of the line, as far as it was read.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Tasks, best first: whatever is ahead of one of them is among them.
    pub(crate) candidates: Vec<Candidate>,
    /// Whether the line ends there.
    pub(crate) is_whole: bool,
}

/// Reads the line from its beginning, at least so many tasks if there are as many.
pub(crate) async fn walk<T: Tx>(tx: &mut T, section: &Section, rows: usize) -> Result<Walk, Error> {
    match (section.levels, section.head) {
        (Levels::One, Some(head)) => {
            let limit = i64::try_from(rows).unwrap_or(i64::MAX);
            let found = tx.query(LEVEL_HEAD.into(), params![0, head, limit]).await?;
            let is_whole = found.len() < rows;
            Ok(Walk { candidates: sorted(found, section)?, is_whole })
        }
        (Levels::One, None) => Ok(Walk { candidates: Vec::new(), is_whole: true }),
        (Levels::Many, _) => walk_levels(tx, section, rows).await,
    }
}

/// How many levels are read at first; twice as many each further time.
const LEVELS_AT_ONCE: usize = 16;

/// Reads levels from the one that could have the best task on, until none that is left
/// could have one as good as what was found.
async fn walk_levels<T: Tx>(tx: &mut T, section: &Section, rows: usize) -> Result<Walk, Error> {
    let mut levels = Vec::new();
    for mut row in tx.query("SELECT level, arrival FROM line_head".into(), params![]).await? {
        levels.push((row.int()?, row.int()?));
    }
    levels.sort_by_cached_key(|(level, head)| best_of(*level, *head, section));
    let (mut found, mut read, mut at_once) = (Vec::new(), 0, LEVELS_AT_ONCE);
    while read < levels.len() {
        let some = &levels[read..levels.len().min(read + at_once)];
        found.extend(of_levels(tx, section, some, rows).await?);
        (read, at_once) = (read + some.len(), at_once * 2);
        found.sort_by_cached_key(|candidate| order(candidate, section));
        let next = levels.get(read).map(|(level, head)| best_of(*level, *head, section));
        let enough = rows.checked_sub(1).and_then(|last| found.get(last));
        if let (Some(next), Some(enough)) = (next, enough)
            && order(enough, section) < next
        {
            break;
        }
    }
    let next = levels.get(read).map(|(level, head)| best_of(*level, *head, section));
    Ok(sure_part(found, next, rows, section))
}

/// Returns the best order any task of a level can have.
fn best_of(level: i64, head: i64, section: &Section) -> Order {
    // With a cap a level is sorted by waiting, so its head has waited longest.
    let queued_at = Timestamp::from_micros(head);
    let first = Rank { level, arrival: head, queued_at, number: TaskNumber(0) };
    let (merit, _, _) = first.order(&section.profile, section.conditions.now);
    (merit, Timestamp::from_micros(i64::MIN), TaskNumber(0))
}

/// Cuts off what something unread could be ahead of: the rest of a level of which as much
/// as asked for was read, or a level that was not read at all.
fn sure_part(mut found: Vec<Candidate>, next: Option<Order>, rows: usize, section: &Section) -> Walk {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    let mut end = next;
    for candidate in &found {
        let count = counts.entry(candidate.rank.level).or_default();
        *count += 1;
        if *count == rows {
            let last = order(candidate, section);
            end = Some(end.map_or(last, |end| end.min(last)));
        }
    }
    if let Some(end) = end {
        found.retain(|candidate| order(candidate, section) <= end);
    }
    Walk { candidates: found, is_whole: end.is_none() }
}

/// Reads up to so many tasks of each of these levels.
async fn of_levels<T: Tx>(
    tx: &mut T,
    section: &Section,
    levels: &[(i64, i64)],
    rows: usize,
) -> Result<Vec<Candidate>, Error> {
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    if tx.dialect() == Dialect::Postgres {
        let (numbers, heads): (Vec<_>, Vec<_>) = levels.iter().copied().unzip();
        found.extend(tx.query(LEVEL_HEADS.into(), params![numbers, heads, limit]).await?);
    } else {
        for (level, head) in levels {
            found.extend(tx.query(LEVEL_HEAD.into(), params![*level, *head, limit]).await?);
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
    match section.levels {
        Levels::One => found.sort_by_key(|candidate| candidate.rank),
        Levels::Many => found.sort_by_cached_key(|candidate| order(candidate, section)),
    }
    Ok(found)
}

fn order(candidate: &Candidate, section: &Section) -> Order {
    candidate.rank.order(&section.profile, section.conditions.now)
}

fn candidate(mut row: Row) -> Result<Candidate, Error> {
    let number = TaskNumber(row.int()?);
    let lane = LaneId(row.int()?);
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    Ok(Candidate { rank: Rank { level, arrival, queued_at, number }, lane })
}
