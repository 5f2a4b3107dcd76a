//! What stands around a task: relations, parent, children.

use extraboard_core::graph::{Relation, RelationType};
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::task::Task;

use crate::error::Error;
use crate::rows::relation::{self, relation_columns};
use crate::rows::task::{self, task_columns};
use crate::tx::{Sql, Tx, Verb};
use crate::value::params;

/// How many children are shown with a task.
const CHILDREN_SHOWN: i64 = 200;

/// A relation, seen from one of its tasks.
#[derive(Clone, Debug)]
pub struct Related {
    /// The relation as it is stored.
    pub relation: Relation,
    /// What it says, seen from here.
    pub relation_type: RelationType,
    /// The other task.
    pub other: Task,
}

/// Lists the relations of a task.
#[derive(Clone, Copy, Debug)]
pub struct RelationList {
    /// Which task.
    pub task: TaskRef,
}

/// A task's relations.
#[derive(Clone, Debug)]
pub struct Relations {
    /// The task.
    pub task: Task,
    /// Its relations, oldest first, without those to deleted tasks.
    pub related: Vec<Related>,
}

impl Verb for RelationList {
    type Output = Relations;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Relations, Error> {
        let task = task::get(tx, self.task).await?;
        let related = of_task(tx, task.number).await?;
        Ok(Relations { task, related })
    }
}

const OF_TASK: &str = concat!(
    "SELECT ",
    relation_columns!(),
    " FROM relation r WHERE r.task = $1 UNION ALL SELECT ",
    relation_columns!(),
    " FROM relation r WHERE r.other = $1"
);

/// Reads the relations of a task, oldest first.
async fn of_task<T: Tx>(tx: &mut T, task: TaskNumber) -> Result<Vec<Related>, Error> {
    let rows = tx.query(OF_TASK.into(), params![task.0]).await?;
    let mut relations =
        rows.into_iter().map(|mut row| relation::from_row(&mut row)).collect::<Result<Vec<_>, _>>()?;
    relations.sort_by_key(|relation| (relation.created_at, relation.id));
    with_tasks(tx, task, relations).await
}

const OF_MANY: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        relation_columns!(),
        " FROM relation r WHERE r.task = ANY($1) UNION SELECT ",
        relation_columns!(),
        " FROM relation r WHERE r.other = ANY($1)"
    ),
    sqlite: concat!(
        "SELECT ",
        relation_columns!(),
        " FROM relation r WHERE r.task IN (SELECT value FROM json_each($1)) UNION SELECT ",
        relation_columns!(),
        " FROM relation r WHERE r.other IN (SELECT value FROM json_each($1))"
    ),
};

/// Reads the relations of many tasks, each seen from one of them, oldest first.
pub(crate) async fn related_to<T: Tx>(
    tx: &mut T,
    tasks: &[Task],
) -> Result<Vec<(TaskNumber, Related)>, Error> {
    let numbers: Vec<_> = tasks.iter().map(|task| task.number).collect();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx.query(OF_MANY, params![numbers.iter().map(|number| number.0).collect::<Vec<_>>()]).await?;
    let mut relations =
        rows.into_iter().map(|mut row| relation::from_row(&mut row)).collect::<Result<Vec<_>, _>>()?;
    relations.sort_by_key(|relation| (relation.created_at, relation.id));
    let mut found = Vec::new();
    for relation in &relations {
        let seen_from = if numbers.contains(&relation.from) { relation.from } else { relation.to };
        found.push((seen_from, relation.seen_from(seen_from).1.0));
    }
    let others = task::get_many(tx, found.iter().map(|(_, other)| *other).collect()).await?;
    let seen = relations.into_iter().zip(found).filter_map(|(relation, (seen_from, _))| {
        let (relation_type, other) = relation.seen_from(seen_from);
        let other = others.iter().find(|found| found.number == other && found.deleted_at.is_none())?;
        Some((seen_from, Related { relation, relation_type, other: other.clone() }))
    });
    Ok(seen.collect())
}

/// Adds the other tasks to relations; those to deleted tasks are left out.
pub(crate) async fn with_tasks<T: Tx>(
    tx: &mut T,
    task: TaskNumber,
    relations: Vec<Relation>,
) -> Result<Vec<Related>, Error> {
    let others = relations.iter().map(|relation| relation.seen_from(task).1.0).collect();
    let others = task::get_many(tx, others).await?;
    let seen = relations.into_iter().filter_map(|relation| {
        let (relation_type, other) = relation.seen_from(task);
        let other = others.iter().find(|found| found.number == other && found.deleted_at.is_none())?;
        Some(Related { relation, relation_type, other: other.clone() })
    });
    Ok(seen.collect())
}

/// Reads what stands around a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskRelatives {
    /// Which task.
    pub task: TaskRef,
}

/// What stands around a task.
#[derive(Clone, Debug)]
pub struct Relatives {
    /// Its parent, unless that was deleted.
    pub parent: Option<Task>,
    /// Its first children.
    pub children: Vec<Task>,
    /// Its relations.
    pub related: Vec<Related>,
}

const CHILDREN: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM task t WHERE t.parent = $1 AND t.deleted_at IS NULL ORDER BY t.number LIMIT $2"
);

impl Verb for TaskRelatives {
    type Output = Relatives;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Relatives, Error> {
        let task = task::get(tx, self.task).await?;
        let parent = match task.parent {
            Some(parent) => Some(task::get_even_deleted(tx, parent).await?),
            None => None,
        };
        let rows = tx.query(CHILDREN.into(), params![task.number.0, CHILDREN_SHOWN]).await?;
        let children = rows.into_iter().map(|mut row| task::from_row(&mut row)).collect::<Result<_, _>>()?;
        let related = of_task(tx, task.number).await?;
        Ok(Relatives { parent: parent.filter(|parent| parent.deleted_at.is_none()), children, related })
    }
}
