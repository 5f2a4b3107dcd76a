//! Lanes, as they are stored.

use std::collections::HashMap;

use extraboard_core::id::{LaneId, ProjectNumber};
use extraboard_core::line::Lane;

use crate::error::Error;
use crate::rows::task::{capabilities, doors};
use crate::tx::{Dialect, Sql, Tx, first};
use crate::value::{Row, params};

/// Lanes by id.
pub(crate) type Lanes = HashMap<LaneId, Lane>;

const SOME: Sql = Sql {
    postgres: "SELECT id, project, kind, needs, owner, doors FROM lane WHERE id = ANY($1)",
    sqlite: "SELECT id, project, kind, needs, owner, doors \
       FROM lane \
       WHERE id IN (SELECT value FROM json_each($1))",
};

/// Reads lanes by their ids.
pub(crate) async fn read<T: Tx>(tx: &mut T, ids: Vec<i64>) -> Result<Lanes, Error> {
    tx.query(SOME, params![ids]).await?.into_iter().map(lane).collect()
}

/// Probes the line once for each lane: what stands in it does not matter, however much it is.
const WAITING: Sql = Sql {
    postgres: "SELECT n.id, n.project, n.kind, n.needs, n.owner, n.doors \
       FROM lane n \
       CROSS JOIN LATERAL (SELECT 1 FROM line l WHERE l.lane = n.id LIMIT 1) AS first",
    sqlite: "SELECT id, project, kind, needs, owner, doors \
       FROM lane \
       WHERE EXISTS (SELECT 1 FROM line WHERE line.lane = lane.id)",
};

/// Reads the lanes that have tasks in line.
pub(crate) async fn waiting<T: Tx>(tx: &mut T) -> Result<Lanes, Error> {
    tx.query(WAITING, params![]).await?.into_iter().map(lane).collect()
}

fn lane(mut row: Row) -> Result<(LaneId, Lane), Error> {
    let id = LaneId(row.int()?);
    let lane = Lane {
        project: Some(ProjectNumber(row.int()?)).filter(|project| project.0 != 0),
        kind: row.parse()?,
        needs: capabilities(&mut row)?,
        owner: Some(row.text()?).filter(|owner| !owner.is_empty()),
        doors: doors(&mut row)?,
    };
    Ok((id, lane))
}

/// Part of a lane in which one order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stratum {
    pub(crate) lane: LaneId,
    pub(crate) level: i64,
}

/// Jumps from one stratum to the next, so that its cost is their number, not the line's.
const STRATA: &str = "WITH RECURSIVE stratum (lane, level) AS ( \
       (SELECT lane, level FROM line ORDER BY lane, level LIMIT 1) \
       UNION ALL \
       SELECT n.lane, n.level \
       FROM stratum s \
       CROSS JOIN LATERAL ( \
         SELECT l.lane, l.level \
         FROM line l \
         WHERE (l.lane, l.level) > (s.lane, s.level) \
         ORDER BY l.lane, l.level \
         LIMIT 1) AS n) \
     SELECT lane, level FROM stratum";
/// Asked in two steps: SQLite seeks only by the first column of a pair that is compared,
/// and would walk through all of a stratum to find its end.
const NEXT_LEVEL: &str = "SELECT lane, level FROM line WHERE lane = $1 AND level > $2 ORDER BY level LIMIT 1";
const NEXT_LANE: &str = "SELECT lane, level FROM line WHERE lane > $1 ORDER BY lane, level LIMIT 1";

/// Reads which parts of lanes have tasks in line.
pub(crate) async fn strata<T: Tx>(tx: &mut T) -> Result<Vec<Stratum>, Error> {
    let stratum = |mut row: Row| Ok(Stratum { lane: LaneId(row.int()?), level: row.int()? });
    if tx.dialect() == Dialect::Postgres {
        return tx.query(STRATA.into(), params![]).await?.into_iter().map(stratum).collect();
    }
    // SQLite has no lateral join, and no round trips to save.
    let mut strata = Vec::new();
    let mut next = first(tx, NEXT_LANE.into(), params![i64::MIN]).await?;
    while let Some(row) = next {
        let at: Stratum = stratum(row)?;
        strata.push(at);
        next = match first(tx, NEXT_LEVEL.into(), params![at.lane.0, at.level]).await? {
            Some(row) => Some(row),
            None => first(tx, NEXT_LANE.into(), params![at.lane.0]).await?,
        };
    }
    Ok(strata)
}
