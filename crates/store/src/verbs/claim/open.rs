//! Write what a claim decided: tasks leave the line, dispatches are opened, events told.

use crate::error::Error;
use crate::placement::LEAVE_LINE;
use crate::rows::dispatch;
use crate::rows::event::{self, NewEvent};
use crate::tx::{Dialect, Each, Tx, expect_rows};
use crate::value::{Value, params};

use super::Claimed;

/// All of it in one statement on PostgreSQL, where every further one is a round trip
/// under the claim lock. Each step goes on with what the one before it changed, so that
/// the number of events says whether all of them did. From the line a task is deleted
/// by its number: by rank it would be missed if it was ranked anew meanwhile.
pub(super) const OPEN: &str = "WITH u AS ( \
       SELECT * \
       FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], \
         $7::text[], $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::text[], $13::text[], \
         $14::text[], $15::text[], $16::text[], $17::text[], $18::text[]) WITH ORDINALITY \
         AS u (number, dispatch, now, attempt, fence, holder, door, lease, prompt, kind, project, adapter, \
           provider, account, type, actor, data, version, nr)), \
     gone AS (DELETE FROM line USING u WHERE line.task = u.number AND line.task = ANY($1) RETURNING line.task), \
     claimed AS ( \
       UPDATE task \
       SET state = 'running', dispatch = u.dispatch, fence = task.fence + 1, attempt = task.attempt + 1, \
         not_before = NULL, started_at = COALESCE(task.started_at, u.now), updated_at = u.now, \
         prompt_broken = 0 \
       FROM u JOIN gone ON gone.task = u.number \
       WHERE task.number = u.number AND task.number = ANY($1) AND task.state = 'queued' AND task.dispatch IS NULL \
       RETURNING task.number), \
     opened AS ( \
       INSERT INTO dispatch (id, task, attempt, fence, holder, door, phase, lease_micros, lease_until, \
         started_at, heartbeat_at, prompt, kind, project, adapter, provider, account, version) \
       SELECT u.dispatch, u.number, u.attempt, u.fence, u.holder, u.door, 'open', u.lease, u.now + u.lease, \
         u.now, u.now, u.prompt, u.kind, u.project, u.adapter, u.provider, u.account, u.version \
       FROM u JOIN claimed ON claimed.number = u.number \
       RETURNING dispatch.task) \
     INSERT INTO event (type, task, dispatch, actor, at, data) \
     SELECT u.type, u.number, u.dispatch, u.actor, u.now, u.data \
     FROM u JOIN opened ON opened.task = u.number \
     ORDER BY u.nr";
/// The same update by itself.
const CLAIM: &str = "UPDATE task \
     SET state = 'running', dispatch = $2, fence = fence + 1, attempt = attempt + 1, \
       not_before = NULL, started_at = COALESCE(started_at, $3), updated_at = $3, prompt_broken = 0 \
     WHERE number = $1 AND state = 'queued' AND dispatch IS NULL";

/// Writes claims and what is told of them; counts that do not match abort it all.
pub(super) async fn write<T: Tx>(
    tx: &mut T,
    claims: Vec<&Claimed>,
    told: Vec<NewEvent>,
) -> Result<(), Error> {
    if claims.is_empty() {
        return Ok(());
    }
    match tx.dialect() {
        Dialect::Postgres => {
            let rows = claims.iter().zip(&told).map(|(claimed, event)| row(claimed, event)).collect();
            // SQLite never gets here.
            let each = Each { postgres: OPEN, sqlite: "" };
            expect_rows("claiming", claims.len(), tx.execute_each(each, rows).await?)
        }
        Dialect::Sqlite => step_by_step(tx, &claims, told).await,
    }
}

/// Does the same where statements cost no round trips and cannot be nested.
async fn step_by_step<T: Tx>(tx: &mut T, claims: &[&Claimed], told: Vec<NewEvent>) -> Result<(), Error> {
    let numbers: Vec<_> = claims.iter().map(|claimed| claimed.task.number.0).collect();
    expect_rows("leaving the line", claims.len(), tx.execute(LEAVE_LINE, params![numbers]).await?)?;
    for claimed in claims {
        let dispatch = &claimed.dispatch;
        let params = params![claimed.task.number.0, dispatch.id.to_string(), dispatch.started_at.as_micros()];
        expect_rows("claiming", 1, tx.execute(CLAIM.into(), params).await?)?;
        dispatch::insert(tx, dispatch).await?;
    }
    event::insert_all(tx, told).await
}

fn row(claimed: &Claimed, event: &NewEvent) -> Vec<Value> {
    let dispatch = &claimed.dispatch;
    params![
        dispatch.task.0,
        dispatch.id.to_string(),
        dispatch.started_at.as_micros(),
        dispatch.attempt,
        dispatch.fence.0,
        dispatch.holder.as_str(),
        dispatch.door.as_str(),
        dispatch.lease.as_micros(),
        &dispatch.prompt,
        dispatch.kind.as_str(),
        dispatch.project.map(|project| project.0),
        &dispatch.adapter,
        dispatch.account.as_ref().map(|account| account.provider.clone()),
        dispatch.account.as_ref().map(|account| account.account.clone()),
        event.event_type.as_str(),
        event.actor.as_str(),
        event.data.to_string(),
        dispatch.version.map(|version| version.to_string()),
    ]
}
