//! Which lanes a claimer may take from: the gates look at lanes, never at rows.

use extraboard_core::doors::{Door, Doors};
use extraboard_core::id::LaneId;
use extraboard_core::line::Lane;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::params;

/// Reads every lane; there are few, and they are never removed.
pub(crate) async fn all<T: Tx>(tx: &mut T) -> Result<Vec<(LaneId, Lane)>, Error> {
    let rows = tx.query("SELECT id, kind, doors FROM lane".into(), params![]).await?;
    rows.into_iter()
        .map(|mut row| {
            let id = LaneId(row.int()?);
            let kind = row.parse()?;
            let doors = Doors::from_bits(row.int()?).ok_or_else(|| Error::unreadable("no doors"))?;
            Ok((id, Lane { kind, doors }))
        })
        .collect()
}

/// Returns the lanes open to a claimer at that door.
pub(crate) async fn open_lanes<T: Tx>(tx: &mut T, door: Door) -> Result<Vec<i64>, Error> {
    let lanes = all(tx).await?;
    Ok(lanes.into_iter().filter(|(_, lane)| lane.is_open(door)).map(|(id, _)| id.0).collect())
}
