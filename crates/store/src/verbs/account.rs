//! The gates of provider accounts: closed by refusals, opened by time and success.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::dispatch::Dispatch;
use extraboard_core::event::EventType;
use extraboard_core::gate::{Account, AccountGate};
use extraboard_core::report::{FailureClass, Report};
use serde_json::json;

use super::Ctx;
use super::claim::section::account_gates;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// Returns the account a dispatch is worked on, as claimed or as reported.
pub(crate) fn of(dispatch: &Dispatch, report: Option<&Report>) -> Option<Account> {
    let named = || match report {
        Some(Report::Fail { provider: Some(provider), .. }) => {
            Some(Account { provider: provider.clone(), account: String::new() })
        }
        _ => None,
    };
    dispatch.account.clone().or_else(named)
}

/// Closes the gate of an account that refused, and opens that of one that works.
pub(crate) async fn heard<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    dispatch: &Dispatch,
    report: Option<&Report>,
) -> Result<(), Error> {
    let Some(account) = of(dispatch, report) else { return Ok(()) };
    match report {
        Some(Report::Fail { class: FailureClass::RateLimited, retry_after, .. }) => {
            hit(tx, ctx, dispatch, &account, *retry_after).await
        }
        Some(Report::Complete(_)) => clear(tx, ctx, &account).await.map(|_| ()),
        _ => Ok(()),
    }
}

const FIRST: &str = "INSERT INTO account_gate (provider, account, hits, until) \
     VALUES ($1, $2, 0, 0) \
     ON CONFLICT (provider, account) DO NOTHING";
const LOCK: &str = "SELECT hits, until FROM account_gate WHERE provider = $1 AND account = $2 FOR UPDATE";
const HIT: &str = "UPDATE account_gate SET hits = $3, until = $4 WHERE provider = $1 AND account = $2";

async fn hit<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    dispatch: &Dispatch,
    account: &Account,
    retry_after: Option<Span>,
) -> Result<(), Error> {
    let key = || params![account.provider.as_str(), account.account.as_str()];
    tx.execute(FIRST.into(), key()).await?;
    let row = first(tx, LOCK.into(), key()).await?;
    // Somebody's success may have opened it between the two statements.
    let before = if let Some(mut row) = row {
        AccountGate { hits: row.int()?, until: Timestamp::from_micros(row.int()?) }
    } else {
        tx.execute(FIRST.into(), key()).await?;
        AccountGate::default()
    };
    let after = before.hit(ctx.now, retry_after);
    let mut params = key();
    params.extend(params![after.hits, after.until.as_micros()]);
    expect_rows("closing a gate", 1, tx.execute(HIT.into(), params).await?)?;
    let event = NewEvent::new(EventType::AccountLimited, ctx, dispatch.task).dispatch(dispatch.id);
    let data = json!({
        "provider": account.provider,
        "account": account.account,
        "hits": after.hits,
        "untilMicros": after.until.as_micros(),
    });
    event::insert_all(tx, vec![event.data(data)]).await
}

/// Opens a gate; tells whether it was closed.
async fn clear<T: Tx>(tx: &mut T, ctx: &Ctx, account: &Account) -> Result<bool, Error> {
    let sql = "DELETE FROM account_gate WHERE provider = $1 AND account = $2";
    let params = params![account.provider.as_str(), account.account.as_str()];
    if tx.execute(sql.into(), params).await? == 0 {
        return Ok(false);
    }
    let data = json!({ "provider": account.provider, "account": account.account });
    let event = NewEvent::of_desk(EventType::AccountCleared, ctx).data(data);
    event::insert_all(tx, vec![event]).await?;
    Ok(true)
}

/// Lists the accounts that refused.
#[derive(Clone, Copy, Debug)]
pub struct GateList;

impl Verb for GateList {
    type Output = Vec<(Account, AccountGate)>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<(Account, AccountGate)>, Error> {
        let mut gates: Vec<_> = account_gates(tx).await?.into_iter().collect();
        gates.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(gates)
    }
}

/// Opens the gate of an account before its time; tells whether it was closed.
#[derive(Clone, Debug)]
pub struct GateClear {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which account.
    pub account: Account,
}

impl Verb for GateClear {
    type Output = bool;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool, Error> {
        clear(tx, &self.ctx, &self.account).await
    }
}
