//! Idempotency keys: the same request, answered the same way for a day.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::id::{DispatchId, TaskNumber};

use super::Ctx;
use crate::error::Error;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// How long a key is remembered.
const KEPT: Span = Span::from_days(1);

/// A key a caller sent, with what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The caller's key.
    pub key: String,
    /// A digest of the request's parameters.
    pub fingerprint: String,
}

/// What a key stands for.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) fingerprint: String,
    pub(crate) task: TaskNumber,
    pub(crate) dispatch: Option<DispatchId>,
}

impl Kept {
    /// Fails if the key was used for something else.
    pub(crate) fn check(&self, key: &IdempotencyKey) -> Result<(), Error> {
        if self.fingerprint == key.fingerprint { Ok(()) } else { Err(Error::KeyMismatch) }
    }
}

fn cutoff(now: Timestamp) -> i64 {
    now.minus(KEPT).as_micros()
}

/// Returns what a key stands for, if it is remembered.
pub(crate) async fn find<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    scope: &'static str,
    key: &IdempotencyKey,
) -> Result<Option<Kept>, Error> {
    let sql = "SELECT fingerprint, task, dispatch \
       FROM idempotency \
       WHERE caller = $1 AND scope = $2 AND key = $3 AND at > $4";
    let params = params![ctx.caller.to_string(), scope, key.key.as_str(), cutoff(ctx.now)];
    let Some(mut row) = first(tx, sql.into(), params).await? else { return Ok(None) };
    Ok(Some(Kept { fingerprint: row.text()?, task: TaskNumber(row.int()?), dispatch: row.opt_parse()? }))
}

const RESERVE: &str = "INSERT INTO idempotency (caller, scope, key, fingerprint, task, dispatch, at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) \
     ON CONFLICT (caller, scope, key) DO UPDATE \
     SET fingerprint = EXCLUDED.fingerprint, task = EXCLUDED.task, dispatch = EXCLUDED.dispatch, \
       at = EXCLUDED.at \
     WHERE idempotency.at <= $8";

/// Takes a key for a request; tells whether it was free.
///
/// If another transaction is taking the same key this waits for its end.
pub(crate) async fn take<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    scope: &'static str,
    key: &IdempotencyKey,
    kept: (TaskNumber, Option<DispatchId>),
) -> Result<bool, Error> {
    let params = params![
        ctx.caller.to_string(),
        scope,
        key.key.as_str(),
        key.fingerprint.as_str(),
        kept.0.0,
        kept.1.map(|id| id.to_string()),
        ctx.now.as_micros(),
        cutoff(ctx.now),
    ];
    Ok(tx.execute(RESERVE.into(), params).await? == 1)
}

/// Records which task a taken key stands for.
pub(crate) async fn fulfil<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    scope: &'static str,
    key: &IdempotencyKey,
    task: TaskNumber,
) -> Result<(), Error> {
    let sql = "UPDATE idempotency SET task = $4 WHERE caller = $1 AND scope = $2 AND key = $3";
    let params = params![ctx.caller.to_string(), scope, key.key.as_str(), task.0];
    expect_rows("keeping a key", 1, tx.execute(sql.into(), params).await?)
}

/// Forgets keys that are too old to matter.
#[derive(Clone, Copy, Debug)]
pub struct IdempotencyPrune {
    /// The present.
    pub now: Timestamp,
}

impl Verb for IdempotencyPrune {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        let sql = "DELETE FROM idempotency \
           WHERE (caller, scope, key) IN \
             (SELECT caller, scope, key FROM idempotency WHERE at <= $1 ORDER BY at LIMIT $2)";
        // An hour late, so that no request in flight loses the key it just found.
        let past = self.now.minus(Span::from_mins(60));
        let pruned = tx.execute(sql.into(), params![cutoff(past), super::TURN_MAX]).await?;
        Ok(usize::try_from(pruned).unwrap_or(usize::MAX))
    }
}
