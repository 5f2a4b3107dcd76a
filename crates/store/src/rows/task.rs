//! The `task` table.

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Doors;
use extraboard_core::id::{Fence, TaskNumber, TaskRef};
use extraboard_core::priority::Priority;
use extraboard_core::reason::Counters;
use extraboard_core::task::Task;

use crate::error::Error;
use crate::tx::{Tx, expect_rows, first};
use crate::value::{Row, params};

/// The columns of a task, in the order [`from_row`] reads them.
macro_rules! task_columns {
    () => {
        "t.number, t.id, t.title, t.description, t.kind, t.state, t.priority, t.doors, t.max_retries, \
         t.signal_source, t.signal_payload, t.hypothesis, t.agent_summary, t.result, t.last_error, \
         t.not_before, t.queued_at, t.fence, t.attempt, t.dispatch, \
         t.crash_count, t.unavailable_count, t.retry_count, t.lost_count, \
         t.created_at, t.updated_at, t.started_at, t.completed_at, t.deleted_at"
    };
}

pub(crate) use task_columns;

/// Reads the columns of [`task_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Task, Error> {
    Ok(Task {
        number: TaskNumber(row.int()?),
        id: row.parse()?,
        title: row.text()?,
        description: row.opt_text()?,
        kind: row.parse()?,
        state: row.parse()?,
        priority: Priority::new(row.int()?).ok_or_else(|| Error::unreadable("a priority out of range"))?,
        doors: Doors::from_bits(row.int()?).ok_or_else(|| Error::unreadable("no doors"))?,
        max_retries: row.int()?,
        signal_source: row.opt_text()?,
        signal_payload: row.opt_text()?,
        hypothesis: row.opt_text()?,
        agent_summary: row.opt_text()?,
        result: row.opt_text()?,
        last_error: row.opt_text()?,
        not_before: time(row)?,
        queued_at: time(row)?,
        fence: Fence(row.int()?),
        attempt: row.int()?,
        dispatch: row.opt_parse()?,
        counters: Counters {
            crash: row.int()?,
            unavailable: row.int()?,
            retry: row.int()?,
            lost: row.int()?,
        },
        created_at: Timestamp::from_micros(row.int()?),
        updated_at: Timestamp::from_micros(row.int()?),
        started_at: time(row)?,
        completed_at: time(row)?,
        deleted_at: time(row)?,
    })
}

fn time(row: &mut Row) -> Result<Option<Timestamp>, Error> {
    Ok(row.opt_int()?.map(Timestamp::from_micros))
}

fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_micros)
}

const BY_ID: &str = concat!("SELECT ", task_columns!(), " FROM task t WHERE t.id = $1");
const BY_NUMBER: &str = concat!("SELECT ", task_columns!(), " FROM task t WHERE t.number = $1");
const LOCK_BY_ID: &str = concat!("SELECT ", task_columns!(), " FROM task t WHERE t.id = $1 FOR UPDATE");
const LOCK_BY_NUMBER: &str =
    concat!("SELECT ", task_columns!(), " FROM task t WHERE t.number = $1 FOR UPDATE");

/// Reads a task that is not deleted.
pub(crate) async fn get<T: Tx>(tx: &mut T, task: TaskRef) -> Result<Task, Error> {
    let row = match task {
        TaskRef::Id(id) => first(tx, BY_ID.into(), params![id.to_string()]).await?,
        TaskRef::Number(number) => first(tx, BY_NUMBER.into(), params![number.0]).await?,
    };
    present(task, row)
}

/// Reads a task that is not deleted and locks its row: the first lock any writer takes.
pub(crate) async fn lock<T: Tx>(tx: &mut T, task: TaskRef) -> Result<Task, Error> {
    let row = match task {
        TaskRef::Id(id) => first(tx, LOCK_BY_ID.into(), params![id.to_string()]).await?,
        TaskRef::Number(number) => first(tx, LOCK_BY_NUMBER.into(), params![number.0]).await?,
    };
    present(task, row)
}

/// Reads a task, deleted or not.
pub(crate) async fn get_even_deleted<T: Tx>(tx: &mut T, number: TaskNumber) -> Result<Task, Error> {
    let row = first(tx, BY_NUMBER.into(), params![number.0]).await?;
    let mut row = row.ok_or(Error::NoTask(TaskRef::Number(number)))?;
    from_row(&mut row)
}

/// Locks a task, deleted or not: reports on its dispatches still count.
pub(crate) async fn lock_even_deleted<T: Tx>(tx: &mut T, number: TaskNumber) -> Result<Task, Error> {
    let row = first(tx, LOCK_BY_NUMBER.into(), params![number.0]).await?;
    let mut row = row.ok_or(Error::NoTask(TaskRef::Number(number)))?;
    from_row(&mut row)
}

fn present(task: TaskRef, row: Option<Row>) -> Result<Task, Error> {
    let mut row = row.ok_or(Error::NoTask(task))?;
    let found = from_row(&mut row)?;
    if found.deleted_at.is_some() { Err(Error::NoTask(task)) } else { Ok(found) }
}

const INSERT: &str = "INSERT INTO task (id, title, description, kind, state, priority, doors, max_retries, \
       signal_source, signal_payload, hypothesis, not_before, queued_at, created_at, updated_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14) \
     RETURNING number";

/// Inserts a new task; its number comes from the database.
pub(crate) async fn insert<T: Tx>(tx: &mut T, task: &Task) -> Result<TaskNumber, Error> {
    let row = first(
        tx,
        INSERT.into(),
        params![
            task.id.to_string(),
            task.title.as_str(),
            &task.description,
            task.kind.as_str(),
            task.state.as_str(),
            task.priority.points(),
            task.doors.bits(),
            task.max_retries,
            &task.signal_source,
            &task.signal_payload,
            &task.hypothesis,
            micros(task.not_before),
            micros(task.queued_at),
            task.created_at.as_micros(),
        ],
    )
    .await?;
    row.ok_or_else(|| Error::Broken("an insert returned nothing".to_owned()))?.int().map(TaskNumber)
}

const UPDATE: &str = "UPDATE task \
     SET title = $4, description = $5, kind = $6, state = $7, priority = $8, doors = $9, max_retries = $10, \
       signal_source = $11, signal_payload = $12, hypothesis = $13, agent_summary = $14, result = $15, \
       last_error = $16, not_before = $17, queued_at = $18, fence = $19, attempt = $20, dispatch = $21, \
       crash_count = $22, unavailable_count = $23, retry_count = $24, lost_count = $25, \
       updated_at = $26, started_at = $27, completed_at = $28, deleted_at = $29 \
     WHERE number = $1 AND state = $2 AND fence = $3";

/// Writes a changed task, provided it is still in the state it was read in.
pub(crate) async fn update<T: Tx>(tx: &mut T, before: &Task, after: &Task) -> Result<(), Error> {
    let changed = tx
        .execute(
            UPDATE.into(),
            params![
                before.number.0,
                before.state.as_str(),
                before.fence.0,
                after.title.as_str(),
                &after.description,
                after.kind.as_str(),
                after.state.as_str(),
                after.priority.points(),
                after.doors.bits(),
                after.max_retries,
                &after.signal_source,
                &after.signal_payload,
                &after.hypothesis,
                &after.agent_summary,
                &after.result,
                &after.last_error,
                micros(after.not_before),
                micros(after.queued_at),
                after.fence.0,
                after.attempt,
                after.dispatch.map(|id| id.to_string()),
                after.counters.crash,
                after.counters.unavailable,
                after.counters.retry,
                after.counters.lost,
                after.updated_at.as_micros(),
                micros(after.started_at),
                micros(after.completed_at),
                micros(after.deleted_at),
            ],
        )
        .await?;
    expect_rows("a task's update", 1, changed)
}
