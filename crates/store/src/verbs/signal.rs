//! Signals: what the world says, each with the task that is made of it.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{SignalId, TaskNumber};
use extraboard_core::signal::{Severity, Signal};
use extraboard_core::task::Task;
use serde_json::json;

use super::idempotency::{self, IdempotencyKey};
use super::task_create::TaskCreate;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::task;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::{Row, params};

const SCOPE: &str = "signal_create";

/// Takes a signal in, and makes a task of it: both or neither.
#[derive(Clone, Debug)]
pub struct SignalCreate {
    /// Its permanent id.
    pub id: SignalId,
    /// Who said it.
    pub source: String,
    /// What it is called there.
    pub source_id: Option<String>,
    /// What sort of thing was said.
    pub signal_type: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was said, as JSON.
    pub payload: String,
    /// What the source calls this delivery: a second time it changes nothing.
    pub delivery: Option<String>,
    /// The task to make of it, by whom and when. It has no key of its own.
    pub task: TaskCreate,
    /// The caller's key for this request.
    pub key: Option<IdempotencyKey>,
}

/// A signal and its task.
#[derive(Clone, Debug)]
pub struct SignalTaken {
    /// The signal.
    pub signal: Signal,
    /// The task that was made of it.
    pub task: Task,
    /// Whether it came before.
    pub is_repeated: bool,
}

/// The second of two that bring the same delivery at once waits for the first.
const DELIVER: &str =
    "INSERT INTO delivery (source, id, signal) VALUES ($1, $2, $3) ON CONFLICT (source, id) DO NOTHING";
const DELIVERED: &str = "SELECT signal FROM delivery WHERE source = $1 AND id = $2";

impl Verb for SignalCreate {
    type Output = SignalTaken;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<SignalTaken, Error> {
        if let Some(delivery) = &self.delivery {
            let names = params![self.source.as_str(), delivery.as_str()];
            let mut values = names.clone();
            values.extend(params![self.id.to_string()]);
            if tx.execute(DELIVER.into(), values).await? == 0 {
                let row = first(tx, DELIVERED.into(), names).await?;
                let id = row.ok_or_else(|| Error::Broken("a delivery is gone".to_owned()))?.text()?;
                return known(tx, BY_ID, params![id]).await;
            }
        }
        let Some(key) = &self.key else { return self.create(tx).await };
        let ctx = &self.task.ctx;
        if idempotency::take(tx, ctx, SCOPE, key, (TaskNumber(0), None)).await? {
            let taken = self.create(tx).await?;
            idempotency::fulfil(tx, ctx, SCOPE, key, taken.task.number).await?;
            return Ok(taken);
        }
        let kept = idempotency::find(tx, ctx, SCOPE, key).await?;
        let kept = kept.ok_or_else(|| Error::Broken("a key was taken and is gone".to_owned()))?;
        kept.check(key)?;
        known(tx, BY_TASK, params![kept.task.0]).await
    }
}

const INSERT: &str = "INSERT INTO signal (id, source, source_id, type, severity, payload, task, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

impl SignalCreate {
    async fn create<T: Tx>(&self, tx: &mut T) -> Result<SignalTaken, Error> {
        let task = self.task.run(tx).await?;
        let ctx = &self.task.ctx;
        let params = params![
            self.id.to_string(),
            self.source.as_str(),
            &self.source_id,
            self.signal_type.as_str(),
            self.severity.as_str(),
            self.payload.as_str(),
            task.number.0,
            ctx.now.as_micros(),
        ];
        expect_rows("taking a signal in", 1, tx.execute(INSERT.into(), params).await?)?;
        let data = json!({
            "signal": self.id.to_string(),
            "source": self.source,
            "type": self.signal_type,
            "severity": self.severity.as_str(),
        });
        let event = NewEvent::new(EventType::SignalReceived, ctx, task.number).data(data);
        event::insert_all(tx, vec![event]).await?;
        let signal = Signal {
            id: self.id,
            source: self.source.clone(),
            source_id: self.source_id.clone(),
            signal_type: self.signal_type.clone(),
            severity: self.severity,
            payload: self.payload.clone(),
            task: task.id,
            created_at: ctx.now,
        };
        Ok(SignalTaken { signal, task, is_repeated: false })
    }
}

macro_rules! signal_columns {
    () => {
        "s.id, s.source, s.source_id, s.type, s.severity, s.payload, t.id, s.created_at"
    };
}

const BY_ID: &str = concat!(
    "SELECT ",
    signal_columns!(),
    ", s.task FROM signal s JOIN task t ON t.number = s.task WHERE s.id = $1"
);
const BY_TASK: &str = concat!(
    "SELECT ",
    signal_columns!(),
    ", s.task FROM signal s JOIN task t ON t.number = s.task WHERE s.task = $1"
);

fn from_row(row: &mut Row) -> Result<Signal, Error> {
    Ok(Signal {
        id: row.parse()?,
        source: row.text()?,
        source_id: row.opt_text()?,
        signal_type: row.text()?,
        severity: row.parse()?,
        payload: row.text()?,
        task: row.parse()?,
        created_at: Timestamp::from_micros(row.int()?),
    })
}

/// Reads a signal that came before, and its task, which may be deleted by now.
async fn known<T: Tx>(
    tx: &mut T,
    sql: &'static str,
    params: Vec<crate::value::Value>,
) -> Result<SignalTaken, Error> {
    let row = first(tx, sql.into(), params).await?;
    let mut row = row.ok_or_else(|| Error::Broken("a signal is gone".to_owned()))?;
    let signal = from_row(&mut row)?;
    let number = TaskNumber(row.int()?);
    let task = task::get_even_deleted(tx, number).await?;
    Ok(SignalTaken { signal, task, is_repeated: true })
}

/// Lists signals, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct SignalList {
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = concat!(
    "SELECT ",
    signal_columns!(),
    " FROM signal s JOIN task t ON t.number = s.task ORDER BY s.created_at DESC, s.id DESC LIMIT $1 OFFSET $2"
);

impl Verb for SignalList {
    type Output = (Vec<Signal>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Signal>, i64), Error> {
        let rows = tx.query(PAGE.into(), params![self.limit, self.offset]).await?;
        let page = rows.into_iter().map(|mut row| from_row(&mut row)).collect::<Result<_, _>>()?;
        let row = first(tx, "SELECT COUNT(*) FROM signal".into(), params![]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok((page, total))
    }
}
