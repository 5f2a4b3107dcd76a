//! The tables `label` and `task_label`.

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{LabelId, TaskNumber};
use extraboard_core::label::{Label, TaskLabel};

use crate::error::Error;
use crate::tx::{Each, Tx, expect_rows, first};
use crate::value::{Row, params};

/// How a caller names a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelRef {
    /// By permanent id.
    Id(LabelId),
    /// By name.
    Name(String),
}

impl LabelRef {
    /// Reads a uuid as an id, and anything else as a name.
    pub fn new(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id)
    }
}

impl std::fmt::Display for LabelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// Reads a label.
pub(crate) fn from_row(row: &mut Row) -> Result<Label, Error> {
    Ok(Label {
        id: row.parse()?,
        name: row.text()?,
        color: row.text()?,
        created_at: Timestamp::from_micros(row.int()?),
    })
}

const BY_ID: &str = "SELECT id, name, color, created_at FROM label WHERE id = $1 AND deleted_at IS NULL";
const BY_NAME: &str = "SELECT id, name, color, created_at FROM label WHERE name = $1 AND deleted_at IS NULL";

/// Reads a label that is not deleted, if there is one.
pub(crate) async fn find<T: Tx>(tx: &mut T, label: &LabelRef) -> Result<Option<Label>, Error> {
    let row = match label {
        LabelRef::Id(id) => first(tx, BY_ID.into(), params![id.to_string()]).await?,
        LabelRef::Name(name) => first(tx, BY_NAME.into(), params![name.as_str()]).await?,
    };
    row.map(|mut row| from_row(&mut row)).transpose()
}

/// Of two that want one name at once the second waits for the first, and changes nothing.
const INSERT: &str = "INSERT INTO label (id, name, color, created_at) \
     VALUES ($1, $2, $3, $4) \
     ON CONFLICT (name) WHERE deleted_at IS NULL DO NOTHING";

/// Inserts a label; tells whether its name was free.
pub(crate) async fn insert<T: Tx>(tx: &mut T, label: &Label) -> Result<bool, Error> {
    let params = params![
        label.id.to_string(),
        label.name.as_str(),
        label.color.as_str(),
        label.created_at.as_micros(),
    ];
    Ok(tx.execute(INSERT.into(), params).await? == 1)
}

const CLEAR: &str = "DELETE FROM task_label WHERE task = $1";
const ADD: Each = Each {
    postgres: "INSERT INTO task_label (task, label) \
       SELECT u.task, u.label FROM unnest($1::bigint[], $2::text[]) AS u (task, label)",
    sqlite: "INSERT INTO task_label (task, label) VALUES ($1, $2)",
};

/// Gives a task these labels and no others. Its row is locked, or not visible yet.
pub(crate) async fn set<T: Tx>(tx: &mut T, task: TaskNumber, labels: &[TaskLabel]) -> Result<(), Error> {
    tx.execute(CLEAR.into(), params![task.0]).await?;
    let rows: Vec<_> = labels.iter().map(|label| params![task.0, label.id.to_string()]).collect();
    expect_rows("labelling", labels.len(), tx.execute_each(ADD, rows).await?)
}
