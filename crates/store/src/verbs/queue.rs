//! Preview the line: what would be handed out, in that order.

use extraboard_core::doors::Door;
use extraboard_core::task::Task;

use super::claim::lanes::open_lanes;
use super::task_list::TOTAL_MAX;
use crate::error::Error;
use crate::rows::task::{self, task_columns};
use crate::tx::{Sql, Tx, Verb, first};
use crate::value::params;

/// Lists the tasks a claimer at that door would be handed.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The claimer's door.
    pub door: Door,
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

/// A page of the line.
#[derive(Clone, Debug)]
pub struct QueuePage {
    /// The tasks, first to be handed out first.
    pub tasks: Vec<Task>,
    /// How many there are, counted to 10,000.
    pub total: i64,
    /// Whether there are more than that.
    pub total_capped: bool,
}

/// A list of lanes is an array on PostgreSQL and a JSON array on SQLite.
const PAGE: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        task_columns!(),
        " FROM line l JOIN task t ON t.number = l.task WHERE l.lane = ANY($1) \
         ORDER BY l.arrival, l.queued_at, l.task LIMIT $2 OFFSET $3"
    ),
    sqlite: concat!(
        "SELECT ",
        task_columns!(),
        " FROM line l JOIN task t ON t.number = l.task WHERE +l.lane IN (SELECT value FROM json_each($1)) \
         ORDER BY l.arrival, l.queued_at, l.task LIMIT $2 OFFSET $3"
    ),
};
const TOTAL: Sql = Sql {
    postgres: "SELECT COUNT(*) FROM (SELECT 1 FROM line WHERE lane = ANY($1) LIMIT $2) AS counted",
    sqlite: "SELECT COUNT(*) FROM \
       (SELECT 1 FROM line WHERE lane IN (SELECT value FROM json_each($1)) LIMIT $2) AS counted",
};

impl Verb for Queue {
    type Output = QueuePage;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<QueuePage, Error> {
        let lanes = open_lanes(tx, self.door).await?;
        let rows = tx.query(PAGE, params![lanes.clone(), self.limit, self.offset]).await?;
        let tasks = rows.into_iter().map(|mut row| task::from_row(&mut row)).collect::<Result<_, _>>()?;
        let row = first(tx, TOTAL, params![lanes, TOTAL_MAX + 1]).await?;
        let total = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
        Ok(QueuePage { tasks, total: total.min(TOTAL_MAX), total_capped: total > TOTAL_MAX })
    }
}
