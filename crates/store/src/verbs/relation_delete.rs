//! Take a relation back.

use extraboard_core::event::EventType;
use extraboard_core::graph::RelationType;
use extraboard_core::id::RelationId;
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::change::{change_facts, holds_back};
use super::graph::take_graph_lock;
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::relation::{self, relation_columns};
use crate::rows::{event, task};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// Takes a relation back; what it held may go on.
#[derive(Clone, Debug)]
pub struct RelationDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which relation.
    pub relation: RelationId,
}

const BY_ID: &str = concat!("SELECT ", relation_columns!(), " FROM relation r WHERE r.id = $1");

impl Verb for RelationDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        take_graph_lock(tx).await?;
        let row = first(tx, BY_ID.into(), params![self.relation.to_string()]).await?;
        let relation = relation::from_row(&mut row.ok_or(Error::NoRelation(self.relation))?)?;
        let blocker = task::lock_even_deleted(tx, relation.from).await?;
        let waiting = task::lock_even_deleted(tx, relation.to).await?;
        let sql = "DELETE FROM relation WHERE id = $1";
        let deleted = tx.execute(sql.into(), params![self.relation.to_string()]).await?;
        expect_rows("deleting a relation", 1, deleted)?;
        let event = NewEvent::new(EventType::RelationDeleted, &self.ctx, relation.to).data(json!({
            "relation": relation.id.to_string(),
            "type": relation.relation_type.as_str(),
            "from": relation.from.0,
            "to": relation.to.0,
        }));
        if relation.relation_type != RelationType::Blocks {
            return event::insert_all(tx, vec![event]).await;
        }
        let open_blockers = waiting.open_blockers - i64::from(holds_back(&blocker));
        let after = Task { open_blockers, ..waiting.clone() };
        change_facts(tx, &self.ctx, vec![(waiting, after)], vec![event]).await
    }
}
