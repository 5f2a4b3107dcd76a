//! What changes of the graph have in common: their lock, and no cycles.

use extraboard_core::graph::{CHILDREN_MAX, CycleSearch, DEPTH_MAX, Edge};
use extraboard_core::id::TaskNumber;
use extraboard_core::task::Task;

use super::Ctx;
use super::change::{change_facts, is_open_parent};
use crate::error::Error;
use crate::postgres::GRAPH_LOCK;
use crate::rows::task;
use crate::tx::{Dialect, Sql, Tx, first};
use crate::value::params;

/// Makes changes of the graph wait for each other, as a statement of its own, so that
/// every later snapshot is taken under it. (SQLite has one writer.)
///
/// Two halves of a cycle written at once would otherwise not see each other.
pub(crate) async fn take_graph_lock<T: Tx>(tx: &mut T) -> Result<(), Error> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute("SELECT pg_advisory_xact_lock($1)".into(), params![GRAPH_LOCK]).await?;
    }
    Ok(())
}

/// What waits for any of these tasks. What was deleted waits for nothing.
const EDGES: Sql = Sql {
    postgres: "SELECT r.task, r.other \
       FROM relation r JOIN task t ON t.number = r.other \
       WHERE r.task = ANY($1) AND r.type = 'blocks' AND t.deleted_at IS NULL \
       UNION ALL \
       SELECT t.parent, t.number \
       FROM task t \
       WHERE t.parent = ANY($1) AND t.gated_by_parent = 1 AND t.deleted_at IS NULL",
    sqlite: "SELECT r.task, r.other \
       FROM relation r JOIN task t ON t.number = r.other \
       WHERE r.task IN (SELECT value FROM json_each($1)) AND r.type = 'blocks' AND t.deleted_at IS NULL \
       UNION ALL \
       SELECT t.parent, t.number \
       FROM task t \
       WHERE t.parent IN (SELECT value FROM json_each($1)) AND t.gated_by_parent = 1 \
         AND t.deleted_at IS NULL",
};

/// Fails, naming the cycle, if an edge would close one. The graph lock is taken.
pub(crate) async fn refuse_cycle<T: Tx>(tx: &mut T, edge: Edge) -> Result<(), Error> {
    let mut search = CycleSearch::new(edge);
    while !search.ring().is_empty() {
        let ring: Vec<_> = search.ring().iter().map(|number| number.0).collect();
        let mut edges = Vec::new();
        for mut row in tx.query(EDGES, params![ring]).await? {
            edges.push(Edge { first: TaskNumber(row.int()?), then: TaskNumber(row.int()?) });
        }
        if let Some(cycle) = search.extend(&edges) {
            return Err(Error::Cycle(cycle));
        }
    }
    Ok(())
}

/// Puts a task that is being made or changed below a locked parent, or below none.
pub(crate) async fn set_parent<T: Tx>(
    tx: &mut T,
    task: &mut Task,
    parent: Option<&Task>,
) -> Result<(), Error> {
    let Some(parent) = parent else {
        (task.parent, task.parent_id, task.depth, task.parent_open) = (None, None, 0, false);
        return Ok(());
    };
    if task.parent != Some(parent.number) {
        refuse_many_children(tx, parent).await?;
    }
    task.parent = Some(parent.number);
    task.parent_id = Some(parent.id);
    task.depth = parent.depth + 1;
    task.parent_open = is_open_parent(parent);
    if task.depth > DEPTH_MAX {
        return Err(too_deep(task.depth));
    }
    Ok(())
}

fn too_deep(depth: i64) -> Error {
    Error::invalid("parentId", format!("expected at most {DEPTH_MAX} levels below a root, got {depth}"))
}

async fn refuse_many_children<T: Tx>(tx: &mut T, parent: &Task) -> Result<(), Error> {
    let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM task WHERE parent = $1 LIMIT $2) AS counted";
    let row = first(tx, sql.into(), params![parent.number.0, CHILDREN_MAX]).await?;
    let count = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
    if count < CHILDREN_MAX {
        return Ok(());
    }
    let message = format!("expected a parent with fewer than {CHILDREN_MAX} children");
    Err(Error::invalid("parentId", message))
}

/// Fails, naming the cycle, if a task lies above its new parent, or would wait for
/// itself through it. The graph lock is taken.
pub(crate) async fn refuse_parent_cycle<T: Tx>(tx: &mut T, task: &Task, parent: &Task) -> Result<(), Error> {
    let mut way = vec![task.number];
    let mut at = Some(parent.number);
    // Depth is bounded, so this ends; the bound guards against rows that are not.
    for _ in 0..=DEPTH_MAX {
        let Some(number) = at else { break };
        way.push(number);
        if number == task.number {
            way.reverse();
            return Err(Error::Cycle(way));
        }
        at = task::get_even_deleted(tx, number).await?.parent;
    }
    if task.gated_by_parent {
        refuse_cycle(tx, Edge { first: parent.number, then: task.number }).await?;
    }
    Ok(())
}

const CHILDREN: Sql = Sql {
    postgres: "SELECT number FROM task WHERE parent = ANY($1)",
    sqlite: "SELECT number FROM task WHERE parent IN (SELECT value FROM json_each($1))",
};

/// Gives the descendants of a locked task their new depth, generation by generation:
/// parents are always locked before their children.
pub(crate) async fn shift_descendants<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    task: &Task,
    levels: i64,
) -> Result<(), Error> {
    let mut generation = vec![task.number.0];
    while levels != 0 && !generation.is_empty() {
        let rows = tx.query(CHILDREN, params![generation]).await?;
        generation = rows.into_iter().map(|mut row| row.int()).collect::<Result<_, _>>()?;
        let children = task::lock_many(tx, generation.clone()).await?;
        let mut changes = Vec::with_capacity(children.len());
        for child in children {
            let depth = child.depth + levels;
            if depth > DEPTH_MAX {
                return Err(too_deep(depth));
            }
            changes.push((child.clone(), Task { depth, ..child }));
        }
        change_facts(tx, ctx, changes, Vec::new()).await?;
    }
    Ok(())
}
