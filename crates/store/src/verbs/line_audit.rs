//! Audit the line: recompute where every task belongs and compare.

use std::collections::HashMap;

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Doors;
use extraboard_core::id::TaskNumber;
use extraboard_core::line::{Lane, Rank};
use extraboard_core::task::Place;

use crate::error::Error;
use crate::rows::task::{self, task_columns};
use crate::tx::{Tx, Verb};
use crate::value::params;

/// Compares line and timers with the tasks; answers a sentence per difference.
#[derive(Clone, Copy, Debug)]
pub struct LineAudit;

const TASKS: &str = concat!("SELECT ", task_columns!(), " FROM task t ORDER BY t.number");
const LINE: &str = "SELECT l.task, l.arrival, l.queued_at, n.kind, n.doors \
     FROM line l JOIN lane n ON n.id = l.lane";
const TIMERS: &str = "SELECT task, due_at FROM timer";
const UNCLOSED: &str = "SELECT task, id FROM dispatch WHERE closed_at IS NULL";

impl Verb for LineAudit {
    type Output = Vec<String>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<String>, Error> {
        let mut found = HashMap::new();
        for mut row in tx.query(LINE.into(), params![]).await? {
            let number = TaskNumber(row.int()?);
            let arrival = Timestamp::from_micros(row.int()?);
            let rank = Rank { arrival, queued_at: Timestamp::from_micros(row.int()?), number };
            let kind = row.parse()?;
            let doors = Doors::from_bits(row.int()?).ok_or_else(|| Error::unreadable("no doors"))?;
            found.insert(number, vec![Place::Line(Lane { kind, doors }, rank)]);
        }
        for mut row in tx.query(TIMERS.into(), params![]).await? {
            let number = TaskNumber(row.int()?);
            let due = Place::Timer(Timestamp::from_micros(row.int()?));
            found.entry(number).or_default().push(due);
        }
        let mut unclosed = HashMap::new();
        for mut row in tx.query(UNCLOSED.into(), params![]).await? {
            unclosed.insert(TaskNumber(row.int()?), row.text()?);
        }
        let mut differences = Vec::new();
        for mut row in tx.query(TASKS.into(), params![]).await? {
            let task = task::from_row(&mut row)?;
            let places = found.remove(&task.number).unwrap_or_else(|| vec![Place::Nowhere]);
            if places != [task.place()] {
                differences.push(format!("#{} is at {places:?}, belongs to {:?}", task.number, task.place()));
            }
            let dispatch = unclosed.remove(&task.number);
            if dispatch != task.dispatch.map(|id| id.to_string()) {
                differences.push(format!(
                    "#{} names dispatch {:?}, unclosed is {dispatch:?}",
                    task.number, task.dispatch
                ));
            }
        }
        differences.extend(found.keys().map(|number| format!("#{number} stands in line and does not exist")));
        differences
            .extend(unclosed.keys().map(|number| format!("#{number} is handed out and does not exist")));
        Ok(differences)
    }
}
