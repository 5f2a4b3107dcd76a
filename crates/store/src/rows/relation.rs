//! The `relation` table.

use extraboard_core::clock::Timestamp;
use extraboard_core::graph::Relation;
use extraboard_core::id::TaskNumber;

use crate::error::Error;
use crate::tx::{Tx, expect_rows};
use crate::value::{Row, params};

/// The columns of a relation, in the order [`from_row`] reads them.
macro_rules! relation_columns {
    () => {
        "r.id, r.type, r.task, r.other, r.created_at"
    };
}

pub(crate) use relation_columns;

/// Reads the columns of [`relation_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Relation, Error> {
    Ok(Relation {
        id: row.parse()?,
        relation_type: row.parse()?,
        from: TaskNumber(row.int()?),
        to: TaskNumber(row.int()?),
        created_at: Timestamp::from_micros(row.int()?),
    })
}

/// Inserts a relation.
pub(crate) async fn insert<T: Tx>(tx: &mut T, relation: &Relation) -> Result<(), Error> {
    let sql = "INSERT INTO relation (id, type, task, other, created_at) VALUES ($1, $2, $3, $4, $5)";
    let params = params![
        relation.id.to_string(),
        relation.relation_type.as_str(),
        relation.from.0,
        relation.to.0,
        relation.created_at.as_micros(),
    ];
    expect_rows("adding a relation", 1, tx.execute(sql.into(), params).await?)
}
