//! The `goal` table.

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{GoalId, ProjectNumber};
use extraboard_core::project::Goal;

use crate::error::Error;
use crate::tx::{Tx, expect_rows, first};
use crate::value::{Row, Value, params};

/// The columns of a goal, in the order [`from_row`] reads them.
macro_rules! goal_columns {
    () => {
        "g.id, g.title, g.description, g.metric, g.target_value, g.current_value, g.unit, g.status, \
         g.project, g.created_at, g.updated_at"
    };
}

pub(crate) use goal_columns;

/// Reads the columns of [`goal_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Goal, Error> {
    Ok(Goal {
        id: row.parse()?,
        title: row.text()?,
        description: row.opt_text()?,
        metric: row.opt_text()?,
        target_value: row.opt_text()?,
        current_value: row.opt_text()?,
        unit: row.opt_text()?,
        status: row.parse()?,
        project: row.opt_int()?.map(ProjectNumber),
        created_at: Timestamp::from_micros(row.int()?),
        updated_at: Timestamp::from_micros(row.int()?),
    })
}

const BY_ID: &str =
    concat!("SELECT ", goal_columns!(), " FROM goal g WHERE g.id = $1 AND g.deleted_at IS NULL");
const LOCK: &str =
    concat!("SELECT ", goal_columns!(), " FROM goal g WHERE g.id = $1 AND g.deleted_at IS NULL FOR UPDATE");

/// Reads a goal that is not deleted, if there is one.
pub(crate) async fn find<T: Tx>(tx: &mut T, goal: GoalId) -> Result<Option<Goal>, Error> {
    let row = first(tx, BY_ID.into(), params![goal.to_string()]).await?;
    row.map(|mut row| from_row(&mut row)).transpose()
}

/// Reads a goal that is not deleted and locks its row.
pub(crate) async fn lock<T: Tx>(tx: &mut T, goal: GoalId) -> Result<Goal, Error> {
    let row = first(tx, LOCK.into(), params![goal.to_string()]).await?;
    from_row(&mut row.ok_or(Error::NoGoal(goal))?)
}

const INSERT: &str = "INSERT INTO goal (id, title, description, metric, target_value, current_value, unit, \
       status, project, updated_at, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const UPDATE: &str = "UPDATE goal \
     SET title = $2, description = $3, metric = $4, target_value = $5, current_value = $6, unit = $7, \
       status = $8, project = $9, updated_at = $10 \
     WHERE id = $1";

/// Inserts a new goal.
pub(crate) async fn insert<T: Tx>(tx: &mut T, goal: &Goal) -> Result<(), Error> {
    let mut params = values(goal);
    params.push(goal.created_at.as_micros().into());
    expect_rows("adding a goal", 1, tx.execute(INSERT.into(), params).await?)
}

/// Writes a changed goal.
pub(crate) async fn update<T: Tx>(tx: &mut T, goal: &Goal) -> Result<(), Error> {
    expect_rows("a goal's update", 1, tx.execute(UPDATE.into(), values(goal)).await?)
}

fn values(goal: &Goal) -> Vec<Value> {
    params![
        goal.id.to_string(),
        goal.title.as_str(),
        &goal.description,
        &goal.metric,
        &goal.target_value,
        &goal.current_value,
        &goal.unit,
        goal.status.as_str(),
        goal.project.map(|project| project.0),
        goal.updated_at.as_micros(),
    ]
}
