//! Relate two tasks.

use extraboard_core::event::EventType;
use extraboard_core::graph::{Edge, RELATIONS_MAX, Relation, RelationType};
use extraboard_core::id::{RelationId, TaskNumber, TaskRef};
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::change::{change_facts, holds_back};
use super::graph::{refuse_cycle, take_graph_lock};
use super::relation_list::{Related, with_tasks};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::relation::{self, relation_columns};
use crate::rows::{event, task};
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// Relates a task to another one.
#[derive(Clone, Debug)]
pub struct RelationCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The relation's permanent id.
    pub id: RelationId,
    /// The task it is written on.
    pub task: TaskRef,
    /// What it says.
    pub relation_type: RelationType,
    /// The other task.
    pub other: TaskRef,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct RelationCreated {
    /// The relation, seen from the task it was written on.
    pub related: Related,
    /// Whether there was such a relation before.
    pub existed: bool,
}

impl Verb for RelationCreate {
    type Output = RelationCreated;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<RelationCreated, Error> {
        take_graph_lock(tx).await?;
        let task = task::get(tx, self.task).await?;
        let other = task::get(tx, self.other).await.map_err(|error| match error {
            Error::NoTask(other) => Error::invalid("relatedIssueId", format!("there is no issue {other}")),
            error => error,
        })?;
        if task.number == other.number {
            return Err(Error::invalid("relatedIssueId", "expected another issue, got the same"));
        }
        let relation = Relation::new(self.id, self.relation_type, task.number, other.number, self.ctx.now);
        let kept = existing(tx, &relation).await?;
        if kept.is_none() {
            relate(tx, &self.ctx, &relation).await?;
        }
        let existed = kept.is_some();
        let related = with_tasks(tx, task.number, vec![kept.unwrap_or(relation)]).await?;
        let related = related.into_iter().next();
        let related = related.ok_or_else(|| Error::Broken("a relation without its other end".to_owned()))?;
        Ok(RelationCreated { related, existed })
    }
}

const EXISTING: &str = concat!(
    "SELECT ",
    relation_columns!(),
    " FROM relation r WHERE r.task = $1 AND r.other = $2 AND r.type = $3"
);

async fn existing<T: Tx>(tx: &mut T, relation: &Relation) -> Result<Option<Relation>, Error> {
    let params = params![relation.from.0, relation.to.0, relation.relation_type.as_str()];
    let row = first(tx, EXISTING.into(), params).await?;
    row.map(|mut row| relation::from_row(&mut row)).transpose()
}

/// Writes a relation. The graph lock is taken, so that cycles are seen.
async fn relate<T: Tx>(tx: &mut T, ctx: &Ctx, relation: &Relation) -> Result<(), Error> {
    refuse_many(tx, "relatedIssueId", relation.from).await?;
    refuse_many(tx, "relatedIssueId", relation.to).await?;
    if relation.relation_type != RelationType::Blocks {
        relation::insert(tx, relation).await?;
        return event::insert_all(tx, vec![created(ctx, relation)]).await;
    }
    refuse_cycle(tx, Edge { first: relation.from, then: relation.to }).await?;
    // The blocker before what it blocks: whoever finishes it does the same. Its state
    // is read with the lock, so that it is either done here or wakes the other one later.
    let blocker = task::lock_even_deleted(tx, relation.from).await?;
    let waiting = task::lock_even_deleted(tx, relation.to).await?;
    block(tx, ctx, relation, &blocker, waiting).await
}

/// Makes a locked task wait for a locked blocker.
pub(crate) async fn block<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    relation: &Relation,
    blocker: &Task,
    waiting: Task,
) -> Result<(), Error> {
    relation::insert(tx, relation).await?;
    let open_blockers = waiting.open_blockers + i64::from(holds_back(blocker));
    let after = Task { open_blockers, ..waiting.clone() };
    change_facts(tx, ctx, vec![(waiting, after)], vec![created(ctx, relation)]).await
}

fn created(ctx: &Ctx, relation: &Relation) -> NewEvent {
    NewEvent::new(EventType::RelationCreated, ctx, relation.to).data(json!({
        "relation": relation.id.to_string(),
        "type": relation.relation_type.as_str(),
        "from": relation.from.0,
        "to": relation.to.0,
    }))
}

/// Fails if a task has as many relations as it may have.
pub(crate) async fn refuse_many<T: Tx>(
    tx: &mut T,
    field: &'static str,
    task: TaskNumber,
) -> Result<(), Error> {
    let sql = "SELECT COUNT(*) FROM relation WHERE task = $1 OR other = $1";
    let row = first(tx, sql.into(), params![task.0]).await?;
    let count = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
    if count < RELATIONS_MAX {
        return Ok(());
    }
    let message = format!("expected issues with fewer than {RELATIONS_MAX} relations, #{task} has them");
    Err(Error::invalid(field, message))
}
