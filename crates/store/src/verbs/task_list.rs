//! List tasks, oldest first, by key.

use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::state::State;

use super::task_create::{named, named_project};
use super::task_get::TaskView;
use crate::error::Error;
use crate::rows::dispatch::{self, dispatch_columns};
use crate::rows::label::{self, LabelRef};
use crate::rows::project::ProjectRef;
use crate::rows::task::{self, task_columns};
use crate::tx::{Tx, Verb, first};
use crate::value::{Value, params};

/// How far a total is counted.
pub(crate) const TOTAL_MAX: i64 = 10_000;

/// Which tasks to list; an empty list does not filter.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// States.
    pub states: Vec<State>,
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Lowest and highest priority.
    pub priority: Option<(i64, i64)>,
    /// The project they belong to.
    pub project: Option<ProjectRef>,
    /// The task they are parts of.
    pub parent: Option<TaskRef>,
    /// The label they have.
    pub label: Option<LabelRef>,
    /// What they are called where they came from.
    pub external_key: Option<String>,
}

/// Lists tasks that are not deleted.
#[derive(Clone, Debug)]
pub struct TaskList {
    /// Which ones.
    pub filter: TaskFilter,
    /// Only those behind this one.
    pub after: TaskNumber,
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

/// A page of tasks.
#[derive(Clone, Debug)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<TaskView>,
    /// How many match, counted to 10,000.
    pub total: i64,
    /// Whether there are more than that.
    pub total_capped: bool,
    /// The last task of this page, if there may be another page.
    pub next: Option<TaskNumber>,
}

/// Filters are comma lists with commas at both ends, so that one text serves
/// both dialects and any number of values.
macro_rules! filtered {
    () => {
        "t.deleted_at IS NULL \
         AND ($1 = '' OR $1 LIKE '%,' || t.state || ',%') \
         AND ($2 = '' OR $2 LIKE '%,' || t.kind || ',%') \
         AND t.priority BETWEEN $3 AND $4 \
         AND ($5 = 0 OR t.project = $5) \
         AND ($6 = 0 OR t.parent = $6) \
         AND ($7 = '' OR EXISTS (SELECT 1 FROM task_label x WHERE x.task = t.number AND x.label = $7)) \
         AND ($8 = '' OR t.external_key = $8)"
    };
}

const PAGE: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM task t WHERE ",
    filtered!(),
    " AND t.number > $9 ORDER BY t.number LIMIT $10 OFFSET $11"
);
const TOTAL: &str =
    concat!("SELECT COUNT(*) FROM (SELECT 1 FROM task t WHERE ", filtered!(), " LIMIT $9) AS counted");

impl Verb for TaskList {
    type Output = TaskPage;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskPage, Error> {
        let filter = self.filter.params(tx).await?;
        let mut params = filter.clone();
        params.extend(params![self.after.0, self.limit + 1, self.offset]);
        let rows = tx.query(PAGE.into(), params).await?;
        let mut tasks =
            rows.into_iter().map(|mut row| task::from_row(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let more = tasks.len() > usize::try_from(self.limit).unwrap_or(usize::MAX);
        if more {
            tasks.pop();
        }
        let total = total(tx, filter).await?;
        let next = if more { tasks.last().map(|task| task.number) } else { None };
        let tasks = with_dispatches(tx, tasks).await?;
        Ok(TaskPage { tasks, total: total.min(TOTAL_MAX), total_capped: total > TOTAL_MAX, next })
    }
}

async fn total<T: Tx>(tx: &mut T, mut params: Vec<Value>) -> Result<i64, Error> {
    params.push((TOTAL_MAX + 1).into());
    let row = first(tx, TOTAL.into(), params).await?;
    row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()
}

const DISPATCHES: &str = concat!(
    "SELECT ",
    dispatch_columns!(),
    " FROM dispatch d WHERE d.task BETWEEN $1 AND $2 AND d.closed_at IS NULL"
);

/// Adds the unclosed dispatches to a page of tasks in the order of their numbers.
async fn with_dispatches<T: Tx>(
    tx: &mut T,
    tasks: Vec<extraboard_core::task::Task>,
) -> Result<Vec<TaskView>, Error> {
    let held: Vec<_> =
        tasks.iter().filter(|task| task.dispatch.is_some()).map(|task| task.number.0).collect();
    let mut dispatches = Vec::new();
    if let (Some(low), Some(high)) = (held.first(), held.last()) {
        for mut row in tx.query(DISPATCHES.into(), params![*low, *high]).await? {
            dispatches.push(dispatch::from_row(&mut row)?);
        }
    }
    let view = |task: extraboard_core::task::Task| {
        let dispatch = dispatches.iter().find(|dispatch| Some(dispatch.id) == task.dispatch).cloned();
        TaskView { task, dispatch }
    };
    Ok(tasks.into_iter().map(view).collect())
}

impl TaskFilter {
    async fn params<T: Tx>(&self, tx: &mut T) -> Result<Vec<Value>, Error> {
        let (low, high) = self.priority.unwrap_or((1, 100));
        let project = match &self.project {
            Some(project) => named_project(tx, project).await?.number.0,
            None => 0,
        };
        let parent = match self.parent {
            Some(parent) => named(tx, "parentId", parent).await?.0,
            None => 0,
        };
        let label = match &self.label {
            Some(name) => self.named_label(tx, name).await?,
            None => String::new(),
        };
        Ok(params![
            comma_list(self.states.iter().map(|state| state.as_str())),
            comma_list(self.kinds.iter().map(|kind| kind.as_str())),
            low,
            high,
            project,
            parent,
            label,
            self.external_key.clone().unwrap_or_default(),
        ])
    }
}

impl TaskFilter {
    async fn named_label<T: Tx>(&self, tx: &mut T, name: &LabelRef) -> Result<String, Error> {
        let found = label::find(tx, name).await?;
        let found = found.ok_or_else(|| Error::invalid("labelId", format!("there is no label {name}")))?;
        Ok(found.id.to_string())
    }
}

fn comma_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.fold(String::new(), |mut list, word| {
        if list.is_empty() {
            list.push(',');
        }
        list.push_str(word);
        list.push(',');
        list
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comma_lists_have_commas_at_both_ends() {
        assert_eq!(comma_list(["a", "b"].into_iter()), ",a,b,");
        assert_eq!(comma_list(std::iter::empty()), "");
    }
}
