//! The inbox: what waits for a person.
//!
//! An item is opened by the change that makes a task wait for a person, and closed by
//! the one that ends it, so that the two cannot disagree. A person may put it away before.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{InboxId, TaskId, TaskNumber};
use extraboard_core::inbox::InboxKind;
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::task;
use crate::tx::{Tx, Verb, first};
use crate::value::{Row, params};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxItem {
    /// Its number.
    pub id: InboxId,
    /// Why it is there.
    pub kind: InboxKind,
    /// The task it is about.
    pub task: TaskNumber,
    /// That task's permanent id.
    pub task_id: TaskId,
    /// What people call that task.
    pub title: String,
    /// What was asked, or what went wrong.
    pub text: Option<String>,
    /// Since when it waits.
    pub created_at: Timestamp,
}

const OPEN: &str = "INSERT INTO inbox (task, kind, text, created_at) VALUES ($1, $2, $3, $4)";
const CLOSE: &str = "UPDATE inbox \
     SET closed_at = $2, closed_by = $3 \
     WHERE task = $1 AND closed_at IS NULL";

/// Follows a change of a task: closes what it ends, opens what it begins.
pub(crate) async fn follow<T: Tx>(tx: &mut T, ctx: &Ctx, before: &Task, after: &Task) -> Result<(), Error> {
    let (was, is) = (InboxKind::of(before), InboxKind::of(after));
    if was.is_some() {
        close(tx, ctx, after.number).await?;
    }
    if let Some(kind) = is {
        let text = if kind == InboxKind::Question { &after.question } else { &after.last_error };
        let params = params![after.number.0, kind.as_str(), text, ctx.now.as_micros()];
        tx.execute(OPEN.into(), params).await?;
    }
    Ok(())
}

/// Closes what waits for a person about a task, if anything does.
pub(crate) async fn close<T: Tx>(tx: &mut T, ctx: &Ctx, task: TaskNumber) -> Result<(), Error> {
    let params = params![task.0, ctx.now.as_micros(), ctx.caller.to_string()];
    tx.execute(CLOSE.into(), params).await.map(drop)
}

/// Reads what waits for a person, the oldest first.
#[derive(Clone, Debug)]
pub struct InboxList {
    /// The only kinds to read; all if there are none.
    pub kinds: Vec<InboxKind>,
    /// How many to read at most.
    pub limit: i64,
    /// How many to leave out.
    pub offset: i64,
}

/// A page of the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxPage {
    /// The items.
    pub items: Vec<InboxItem>,
    /// How many there are.
    pub total: i64,
}

macro_rules! open_items {
    () => {
        "FROM inbox i JOIN task t ON t.number = i.task \
         WHERE i.closed_at IS NULL AND ($1 = '' OR $1 LIKE '%,' || i.kind || ',%')"
    };
}

const LIST: &str = concat!(
    "SELECT i.id, i.kind, i.task, t.id, t.title, i.text, i.created_at ",
    open_items!(),
    " ORDER BY i.id LIMIT $2 OFFSET $3"
);
const COUNT: &str = concat!("SELECT COUNT(*) ", open_items!());

impl Verb for InboxList {
    type Output = InboxPage;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<InboxPage, Error> {
        let kinds = self.kinds.iter().fold(String::new(), |list, kind| format!("{list},{kind}"));
        let kinds = if kinds.is_empty() { kinds } else { kinds + "," };
        let rows = tx.query(LIST.into(), params![kinds.as_str(), self.limit, self.offset]).await?;
        let items = rows.into_iter().map(item).collect::<Result<_, _>>()?;
        let row = first(tx, COUNT.into(), params![kinds.as_str()]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok(InboxPage { items, total })
    }
}

fn item(mut row: Row) -> Result<InboxItem, Error> {
    Ok(InboxItem {
        id: InboxId(row.int()?),
        kind: row.parse()?,
        task: TaskNumber(row.int()?),
        task_id: row.parse()?,
        title: row.text()?,
        text: row.opt_text()?,
        created_at: Timestamp::from_micros(row.int()?),
    })
}

/// Finds the task of an item that is open.
#[derive(Clone, Copy, Debug)]
pub struct InboxTask {
    /// The item.
    pub item: InboxId,
}

const TASK_OF: &str = "SELECT task FROM inbox WHERE id = $1 AND closed_at IS NULL";

impl Verb for InboxTask {
    type Output = TaskNumber;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskNumber, Error> {
        let row = first(tx, TASK_OF.into(), params![self.item.0]).await?;
        row.ok_or(Error::NoInboxItem(self.item))?.int().map(TaskNumber)
    }
}

/// Puts an item away; its task stays as it is.
#[derive(Clone, Debug)]
pub struct InboxDismiss {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The item.
    pub item: InboxId,
}

const DISMISS: &str = "UPDATE inbox SET closed_at = $2, closed_by = $3 WHERE id = $1 AND closed_at IS NULL";

impl Verb for InboxDismiss {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let number = InboxTask { item: self.item }.run(tx).await?;
        // Whoever changes the task holds its row: either comes first.
        task::lock_even_deleted(tx, number).await?;
        let params = params![self.item.0, self.ctx.now.as_micros(), self.ctx.caller.to_string()];
        if tx.execute(DISMISS.into(), params).await? == 0 {
            return Err(Error::NoInboxItem(self.item));
        }
        let event =
            NewEvent::new(EventType::InboxDismissed, &self.ctx, number).data(json!({ "item": self.item.0 }));
        event::insert_all(tx, vec![event]).await
    }
}
