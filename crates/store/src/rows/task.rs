//! The `task` table.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Doors;
use extraboard_core::id::{Fence, ProjectNumber, TaskNumber, TaskRef};
use extraboard_core::label::TaskLabel;
use extraboard_core::priority::Priority;
use extraboard_core::reason::Counters;
use extraboard_core::task::Task;

use crate::error::Error;
use crate::tx::{Each, Sql, Tx, expect_rows, first};
use crate::value::{Row, Value, params};

/// The columns of a task, in the order [`from_row`] reads them.
macro_rules! task_columns {
    () => {
        "t.number, t.id, t.title, t.description, t.kind, t.state, t.priority, t.boost, t.doors, t.needs, \
         t.owner, t.project, t.parent, t.depth, t.gated_by_parent, t.parent_open, t.open_blockers, \
         t.artifact, t.artifact_present, t.max_retries, \
         t.signal_source, t.signal_payload, t.hypothesis, t.agent_summary, t.result, t.commits, \
         t.pull_requests, t.question, t.answer, t.last_error, \
         t.not_before, t.queued_at, t.fence, t.attempt, t.dispatch, \
         t.crash_count, t.unavailable_count, t.retry_count, t.lost_count, \
         t.created_at, t.updated_at, t.started_at, t.completed_at, t.deleted_at, \
         t.external_key, t.prompt_broken, \
         (SELECT p.id FROM project p WHERE p.number = t.project), \
         (SELECT q.id FROM task q WHERE q.number = t.parent), \
         (SELECT string_agg(x.label || '\u{1f}' || l.color || '\u{1f}' || l.name, '\u{1e}') \
          FROM task_label x JOIN label l ON l.id = x.label \
          WHERE x.task = t.number AND l.deleted_at IS NULL)"
    };
}

pub(crate) use task_columns;

/// Reads the columns of [`task_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Task, Error> {
    let mut task = Task {
        number: TaskNumber(row.int()?),
        id: row.parse()?,
        title: row.text()?,
        description: row.opt_text()?,
        kind: row.parse()?,
        state: row.parse()?,
        priority: Priority::new(row.int()?).ok_or_else(|| Error::unreadable("a priority out of range"))?,
        boost: row.int()?,
        doors: doors(row)?,
        needs: capabilities(row)?,
        owner: row.opt_text()?,
        labels: Vec::new(),
        external_key: None,
        prompt_broken: false,
        project: row.opt_int()?.map(ProjectNumber),
        project_id: None,
        parent: row.opt_int()?.map(TaskNumber),
        parent_id: None,
        depth: row.int()?,
        gated_by_parent: row.flag()?,
        parent_open: row.flag()?,
        open_blockers: row.int()?,
        artifact: row.opt_text()?,
        artifact_present: row.flag()?,
        max_retries: row.int()?,
        signal_source: row.opt_text()?,
        signal_payload: row.opt_text()?,
        hypothesis: row.opt_text()?,
        agent_summary: row.opt_text()?,
        result: row.opt_text()?,
        commits: row.opt_text()?,
        pull_requests: row.opt_text()?,
        question: row.opt_text()?,
        answer: row.opt_text()?,
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
    };
    task.external_key = row.opt_text()?;
    task.prompt_broken = row.flag()?;
    task.project_id = row.opt_parse()?;
    task.parent_id = row.opt_parse()?;
    task.labels = labels(row)?;
    Ok(task)
}

/// Reads the labels of a task: separated by what no name and no color can contain.
fn labels(row: &mut Row) -> Result<Vec<TaskLabel>, Error> {
    let Some(list) = row.opt_text()? else { return Ok(Vec::new()) };
    let mut labels = list.split('\u{1e}').map(label).collect::<Result<Vec<_>, _>>()?;
    labels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(labels)
}

fn label(text: &str) -> Result<TaskLabel, Error> {
    let unreadable = || Error::unreadable(format!("{text:?}"));
    let mut parts = text.splitn(3, '\u{1f}');
    let (Some(id), Some(color), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unreadable());
    };
    let id = id.parse().map_err(|_| unreadable())?;
    Ok(TaskLabel { id, name: name.to_owned(), color: color.to_owned() })
}

/// Reads a set of doors.
pub(crate) fn doors(row: &mut Row) -> Result<Doors, Error> {
    Doors::from_bits(row.int()?).ok_or_else(|| Error::unreadable("no doors"))
}

/// Reads a set of capabilities.
pub(crate) fn capabilities(row: &mut Row) -> Result<Capabilities, Error> {
    let list = row.text()?;
    Capabilities::parse(&list).map_err(|_| Error::unreadable(format!("{list:?}")))
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

const BY_KEY: &str =
    concat!("SELECT ", task_columns!(), " FROM task t WHERE t.external_key = $1 AND t.deleted_at IS NULL");

/// Reads the task that is called so where it came from, if there is one.
pub(crate) async fn find_by_key<T: Tx>(tx: &mut T, key: &str) -> Result<Option<Task>, Error> {
    let row = first(tx, BY_KEY.into(), params![key]).await?;
    row.map(|mut row| from_row(&mut row)).transpose()
}

fn present(task: TaskRef, row: Option<Row>) -> Result<Task, Error> {
    let mut row = row.ok_or(Error::NoTask(task))?;
    let found = from_row(&mut row)?;
    if found.deleted_at.is_some() { Err(Error::NoTask(task)) } else { Ok(found) }
}

const INSERT: &str = "INSERT INTO task (id, title, description, kind, state, priority, doors, max_retries, \
       signal_source, signal_payload, hypothesis, not_before, queued_at, created_at, updated_at, \
       boost, needs, owner, project, parent, depth, gated_by_parent, parent_open, open_blockers, \
       artifact, artifact_present, external_key) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, \
       $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) \
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
            task.boost,
            task.needs.to_string(),
            &task.owner,
            task.project.map(|project| project.0),
            task.parent.map(|parent| parent.0),
            task.depth,
            task.gated_by_parent,
            task.parent_open,
            task.open_blockers,
            &task.artifact,
            task.artifact_present,
            &task.external_key,
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
       updated_at = $26, started_at = $27, completed_at = $28, deleted_at = $29, boost = $30, needs = $31, \
       owner = $32, project = $33, parent = $34, depth = $35, gated_by_parent = $36, parent_open = $37, \
       open_blockers = $38, artifact = $39, artifact_present = $40, commits = $41, pull_requests = $42, \
       question = $43, answer = $44, prompt_broken = $45 \
     WHERE number = $1 AND state = $2 AND fence = $3";

/// Writes a changed task, provided it is still in the state it was read in.
pub(crate) async fn update<T: Tx>(tx: &mut T, before: &Task, after: &Task) -> Result<(), Error> {
    let mut values = params![before.number.0, before.state.as_str(), before.fence.0];
    values.extend(own_values(after));
    values.extend(other_values(after));
    let changed = tx.execute(UPDATE.into(), values).await?;
    expect_rows("a task's update", 1, changed)
}

fn own_values(task: &Task) -> Vec<Value> {
    params![
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
        &task.agent_summary,
        &task.result,
        &task.last_error,
        micros(task.not_before),
        micros(task.queued_at),
        task.fence.0,
        task.attempt,
        task.dispatch.map(|id| id.to_string()),
        task.counters.crash,
        task.counters.unavailable,
        task.counters.retry,
        task.counters.lost,
        task.updated_at.as_micros(),
        micros(task.started_at),
        micros(task.completed_at),
        micros(task.deleted_at),
    ]
}

fn other_values(task: &Task) -> Vec<Value> {
    params![
        task.boost,
        task.needs.to_string(),
        &task.owner,
        task.project.map(|project| project.0),
        task.parent.map(|parent| parent.0),
        task.depth,
        task.gated_by_parent,
        task.parent_open,
        task.open_blockers,
        &task.artifact,
        task.artifact_present,
        &task.commits,
        &task.pull_requests,
        &task.question,
        &task.answer,
        task.prompt_broken,
    ]
}

/// What other tasks and time change about a waiting task.
const UPDATE_FACTS: Each = Each {
    postgres: "UPDATE task \
       SET not_before = u.not_before, updated_at = u.updated_at, depth = u.depth, \
         parent_open = u.parent_open, open_blockers = u.open_blockers, artifact_present = u.artifact_present \
       FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], \
         $7::bigint[]) AS u (number, not_before, updated_at, depth, parent_open, open_blockers, \
         artifact_present) \
       WHERE task.number = u.number",
    sqlite: "UPDATE task \
       SET not_before = $2, updated_at = $3, depth = $4, parent_open = $5, open_blockers = $6, \
         artifact_present = $7 \
       WHERE number = $1",
};

/// Writes what other tasks and time change about locked tasks; nothing else of them.
pub(crate) async fn update_facts<T: Tx>(tx: &mut T, tasks: &[&Task]) -> Result<(), Error> {
    let rows = tasks
        .iter()
        .map(|task| {
            params![
                task.number.0,
                micros(task.not_before),
                task.updated_at.as_micros(),
                task.depth,
                task.parent_open,
                task.open_blockers,
                task.artifact_present,
            ]
        })
        .collect();
    expect_rows("an update of facts", tasks.len(), tx.execute_each(UPDATE_FACTS, rows).await?)
}

const LOCK_MANY: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        task_columns!(),
        " FROM task t WHERE t.number = ANY($1) ORDER BY t.number FOR UPDATE"
    ),
    sqlite: concat!(
        "SELECT ",
        task_columns!(),
        " FROM task t WHERE t.number IN (SELECT value FROM json_each($1)) ORDER BY t.number"
    ),
};
const GET_MANY: Sql = Sql {
    postgres: concat!("SELECT ", task_columns!(), " FROM task t WHERE t.number = ANY($1) ORDER BY t.number"),
    sqlite: LOCK_MANY.sqlite,
};

/// Locks tasks in the order of their numbers, deleted or not.
pub(crate) async fn lock_many<T: Tx>(tx: &mut T, numbers: Vec<i64>) -> Result<Vec<Task>, Error> {
    many(tx, LOCK_MANY, numbers).await
}

/// Reads tasks in the order of their numbers, deleted or not.
pub(crate) async fn get_many<T: Tx>(tx: &mut T, numbers: Vec<i64>) -> Result<Vec<Task>, Error> {
    many(tx, GET_MANY, numbers).await
}

async fn many<T: Tx>(tx: &mut T, sql: Sql, numbers: Vec<i64>) -> Result<Vec<Task>, Error> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx.query(sql, params![numbers]).await?;
    rows.into_iter().map(|mut row| from_row(&mut row)).collect()
}
