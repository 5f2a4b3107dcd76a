//! Labels: create, edit, delete, list, and put on tasks.

use extraboard_core::event::EventType;
use extraboard_core::id::LabelId;
use extraboard_core::label::{Label, TaskLabel};
use serde_json::json;

use super::Ctx;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::label::{self, LabelRef};
use crate::tx::{Dialect, Tx, Verb, expect_rows, first};
use crate::value::params;

/// Creates a label.
#[derive(Clone, Debug)]
pub struct LabelCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: LabelId,
    /// The word; no other label has it.
    pub name: String,
    /// What it looks like.
    pub color: String,
}

impl Verb for LabelCreate {
    type Output = Label;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Label, Error> {
        let (name, color) = (self.name.clone(), self.color.clone());
        let created = Label { id: self.id, name, color, created_at: self.ctx.now };
        if !label::insert(tx, &created).await? {
            return Err(taken(&self.name));
        }
        tell(tx, &self.ctx, EventType::LabelCreated, &created).await?;
        Ok(created)
    }
}

fn taken(name: &str) -> Error {
    Error::Conflict(format!("there is a label {name} already"))
}

async fn tell<T: Tx>(tx: &mut T, ctx: &Ctx, event_type: EventType, label: &Label) -> Result<(), Error> {
    let data = json!({ "label": label.id.to_string(), "name": label.name });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Edits a label.
#[derive(Clone, Debug)]
pub struct LabelPatch {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which label.
    pub label: LabelRef,
    /// The new word.
    pub name: Option<String>,
    /// What it looks like from now on.
    pub color: Option<String>,
}

/// Changes nothing if another label has the name.
const UPDATE: &str = "UPDATE label \
     SET name = $2, color = $3 \
     WHERE id = $1 AND deleted_at IS NULL \
       AND NOT EXISTS (SELECT 1 FROM label o WHERE o.name = $2 AND o.id <> $1 AND o.deleted_at IS NULL)";

impl Verb for LabelPatch {
    type Output = Label;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Label, Error> {
        take_labels(tx).await?;
        let before = get(tx, &self.label).await?;
        let after = Label {
            name: self.name.clone().unwrap_or(before.name),
            color: self.color.clone().unwrap_or(before.color),
            ..before
        };
        let params = params![after.id.to_string(), after.name.as_str(), after.color.as_str()];
        if tx.execute(UPDATE.into(), params).await? == 0 {
            return Err(taken(&after.name));
        }
        tell(tx, &self.ctx, EventType::LabelEdited, &after).await?;
        Ok(after)
    }
}

/// Deletes a label: no task has it any more.
#[derive(Clone, Debug)]
pub struct LabelDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which label.
    pub label: LabelRef,
}

impl Verb for LabelDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        take_labels(tx).await?;
        let deleted = get(tx, &self.label).await?;
        // Which tasks had it stays written: there may be a million of them.
        let sql = "UPDATE label SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";
        let params = params![deleted.id.to_string(), self.ctx.now.as_micros()];
        expect_rows("deleting a label", 1, tx.execute(sql.into(), params).await?)?;
        tell(tx, &self.ctx, EventType::LabelDeleted, &deleted).await
    }
}

/// Waits for whoever else writes labels, and keeps them waiting: what is read of them holds,
/// and of two that want one name at once the second sees the first. (SQLite has one writer.)
async fn take_labels<T: Tx>(tx: &mut T) -> Result<(), Error> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute("LOCK TABLE label IN SHARE ROW EXCLUSIVE MODE".into(), params![]).await?;
    }
    Ok(())
}

async fn get<T: Tx>(tx: &mut T, name: &LabelRef) -> Result<Label, Error> {
    label::find(tx, name).await?.ok_or_else(|| Error::NoLabel(name.clone()))
}

/// Lists labels by name.
#[derive(Clone, Copy, Debug)]
pub struct LabelList {
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = "SELECT id, name, color, created_at \
     FROM label \
     WHERE deleted_at IS NULL \
     ORDER BY name, id \
     LIMIT $1 OFFSET $2";

impl Verb for LabelList {
    type Output = (Vec<Label>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Label>, i64), Error> {
        let rows = tx.query(PAGE.into(), params![self.limit, self.offset]).await?;
        let labels = rows.into_iter().map(|mut row| label::from_row(&mut row)).collect::<Result<_, _>>()?;
        let row = first(tx, "SELECT COUNT(*) FROM label WHERE deleted_at IS NULL".into(), params![]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok((labels, total))
    }
}

/// Returns labels somebody named, each once, by name.
pub(crate) async fn named<T: Tx>(tx: &mut T, names: &[LabelRef]) -> Result<Vec<TaskLabel>, Error> {
    let mut labels: Vec<TaskLabel> = Vec::new();
    for name in names {
        let found = label::find(tx, name).await?;
        let found = found.ok_or_else(|| Error::invalid("labelIds", format!("there is no label {name}")))?;
        if labels.iter().all(|label| label.id != found.id) {
            labels.push(TaskLabel { id: found.id, name: found.name, color: found.color });
        }
    }
    labels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(labels)
}

/// Returns the label of that name, which is created if there is none.
pub(crate) async fn ensure<T: Tx>(tx: &mut T, ctx: &Ctx, wanted: Label) -> Result<LabelRef, Error> {
    if label::find(tx, &LabelRef::Name(wanted.name.clone())).await?.is_none()
        && label::insert(tx, &wanted).await?
    {
        tell(tx, ctx, EventType::LabelCreated, &wanted).await?;
    }
    Ok(LabelRef::Name(wanted.name))
}
