//! The `dispatch` table.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::gate::Account;
use extraboard_core::id::{DispatchId, Fence, ProjectNumber, TaskNumber};
use extraboard_core::reason::Reason;
use extraboard_core::report::Retryable;

use crate::error::Error;
use crate::tx::{Tx, expect_rows, first};
use crate::value::{Row, Value, params};

/// The columns of a dispatch, in the order [`from_row`] reads them.
macro_rules! dispatch_columns {
    () => {
        "d.id, d.task, d.attempt, d.fence, d.holder, d.door, d.kind, d.project, d.adapter, d.provider, \
         d.account, d.phase, d.reason, d.closed_at, d.outcome, \
         d.lease_micros, d.lease_until, d.started_at, d.heartbeat_at, d.progress, d.result, d.error, \
         d.retryable, d.cost_micros, d.tokens_in, d.tokens_out, d.prompt, d.version, \
         d.summary"
    };
}

pub(crate) use dispatch_columns;

/// Reads the columns of [`dispatch_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Dispatch, Error> {
    Ok(Dispatch {
        id: row.parse()?,
        task: TaskNumber(row.int()?),
        attempt: row.int()?,
        fence: Fence(row.int()?),
        holder: row.text()?,
        door: row.parse()?,
        kind: row.parse()?,
        project: row.opt_int()?.map(ProjectNumber),
        adapter: row.opt_text()?,
        account: account(row)?,
        phase: phase(row)?,
        outcome: row.opt_parse()?,
        lease: Span::from_micros(row.int()?),
        lease_until: Timestamp::from_micros(row.int()?),
        started_at: Timestamp::from_micros(row.int()?),
        heartbeat_at: Timestamp::from_micros(row.int()?),
        progress: row.opt_text()?,
        result: row.opt_text()?,
        error: row.opt_text()?,
        retryable: if row.int()? == 0 { Retryable::No } else { Retryable::Yes },
        cost_micros: row.opt_int()?,
        tokens_in: row.opt_int()?,
        tokens_out: row.opt_int()?,
        prompt: row.opt_text()?,
        version: row.opt_parse()?,
        summary: row.opt_text()?,
    })
}

fn account(row: &mut Row) -> Result<Option<Account>, Error> {
    let (provider, account) = (row.opt_text()?, row.opt_text()?);
    Ok(provider.map(|provider| Account { provider, account: account.unwrap_or_default() }))
}

fn phase(row: &mut Row) -> Result<Phase, Error> {
    let word = row.text()?;
    let reason: Option<Reason> = row.opt_parse()?;
    let closed_at = row.opt_int()?.map(Timestamp::from_micros);
    match (word.as_str(), reason, closed_at) {
        ("open", None, None) => Ok(Phase::Open),
        ("ending", Some(reason), None) => Ok(Phase::Ending(reason)),
        ("closed", reason, Some(at)) => Ok(Phase::Closed { reason, at }),
        _ => Err(Error::unreadable(format!("a dispatch that is {word:?} for {reason:?}"))),
    }
}

const BY_ID: &str = concat!("SELECT ", dispatch_columns!(), " FROM dispatch d WHERE d.id = $1");
const LOCK: &str = concat!("SELECT ", dispatch_columns!(), " FROM dispatch d WHERE d.id = $1 FOR UPDATE");

/// Reads a dispatch.
pub(crate) async fn get<T: Tx>(tx: &mut T, id: DispatchId) -> Result<Dispatch, Error> {
    let row = first(tx, BY_ID.into(), params![id.to_string()]).await?;
    from_row(&mut row.ok_or(Error::NoDispatch(id))?)
}

/// Reads which task a dispatch is of.
pub(crate) async fn task_of<T: Tx>(tx: &mut T, id: DispatchId) -> Result<TaskNumber, Error> {
    let row = first(tx, "SELECT task FROM dispatch WHERE id = $1".into(), params![id.to_string()]).await?;
    row.ok_or(Error::NoDispatch(id))?.int().map(TaskNumber)
}

/// Reads a dispatch and locks its row; its task's row is locked before.
pub(crate) async fn lock<T: Tx>(tx: &mut T, id: DispatchId) -> Result<Dispatch, Error> {
    let row = first(tx, LOCK.into(), params![id.to_string()]).await?;
    from_row(&mut row.ok_or(Error::NoDispatch(id))?)
}

const INSERT: &str = "INSERT INTO dispatch (id, task, attempt, fence, holder, door, phase, lease_micros, \
       lease_until, started_at, heartbeat_at, prompt, kind, project, adapter, provider, account, version) \
     VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8 + $7, $8, $8, $9, $10, $11, $12, $13, $14, $15)";

/// Inserts a dispatch that was just opened.
pub(crate) async fn insert<T: Tx>(tx: &mut T, dispatch: &Dispatch) -> Result<(), Error> {
    expect_rows("opening a dispatch", 1, tx.execute(INSERT.into(), insert_row(dispatch)).await?)
}

fn insert_row(dispatch: &Dispatch) -> Vec<Value> {
    params![
        dispatch.id.to_string(),
        dispatch.task.0,
        dispatch.attempt,
        dispatch.fence.0,
        dispatch.holder.as_str(),
        dispatch.door.as_str(),
        dispatch.lease.as_micros(),
        dispatch.started_at.as_micros(),
        &dispatch.prompt,
        dispatch.kind.as_str(),
        dispatch.project.map(|project| project.0),
        &dispatch.adapter,
        dispatch.account.as_ref().map(|account| account.provider.clone()),
        dispatch.account.as_ref().map(|account| account.account.clone()),
        dispatch.version.map(|version| version.to_string()),
    ]
}

const UPDATE: &str = "UPDATE dispatch \
     SET phase = $3, reason = $4, closed_at = $5, outcome = $6, lease_until = $7, heartbeat_at = $8, \
       progress = $9, result = $10, error = $11, cost_micros = $12, tokens_in = $13, tokens_out = $14, \
       retryable = $15, summary = $16 \
     WHERE id = $1 AND phase = $2";

/// Writes a changed dispatch, provided it is still in the phase it was read in.
pub(crate) async fn update<T: Tx>(tx: &mut T, before: &Dispatch, after: &Dispatch) -> Result<(), Error> {
    let closed_at = match after.phase {
        Phase::Closed { at, .. } => Some(at.as_micros()),
        Phase::Open | Phase::Ending(_) => None,
    };
    let changed = tx
        .execute(
            UPDATE.into(),
            params![
                before.id.to_string(),
                before.phase.as_str(),
                after.phase.as_str(),
                after.phase.reason().map(|reason| reason.as_str().to_owned()),
                closed_at,
                after.outcome.map(|outcome| outcome.as_str().to_owned()),
                after.lease_until.as_micros(),
                after.heartbeat_at.as_micros(),
                &after.progress,
                &after.result,
                &after.error,
                after.cost_micros,
                after.tokens_in,
                after.tokens_out,
                i64::from(after.retryable == Retryable::Yes),
                &after.summary,
            ],
        )
        .await?;
    expect_rows("a dispatch's update", 1, changed)
}
