//! The seam between verbs and databases.
//!
//! A verb is written once over [`Tx`]. Statements use `$1` placeholders and
//! PostgreSQL's row locks; SQLite's side rewrites the former and drops the
//! latter, because there the one writer is the lock. Where the dialects really
//! differ a [`Sql`] carries both texts and says why beside them.

use std::future::Future;

use crate::error::Error;
use crate::value::{Row, Value};

/// The database behind a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// A statement, in both dialects.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self { postgres: text, sqlite: text }
    }
}

/// A statement for many rows: once with arrays on PostgreSQL, where round trips
/// cost most, and once for each row on SQLite, where there are none.
#[derive(Clone, Copy, Debug)]
pub struct Each {
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
}

/// An open transaction.
pub trait Tx: Send {
    /// Returns which database this is.
    fn dialect(&self) -> Dialect;

    /// Runs a statement and returns its rows.
    fn query(&mut self, sql: Sql, params: Vec<Value>)
    -> impl Future<Output = Result<Vec<Row>, Error>> + Send;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: Sql, params: Vec<Value>) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Runs a statement for each row and returns how many rows were changed.
    fn execute_each(
        &mut self,
        each: Each,
        rows: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<u64, Error>> + Send;
}

/// What a transaction begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Nothing.
    Plain,
    /// The claim lock, in the same round trip: it is held by one desk at a time, so each
    /// one saved under it counts for all of them. (SQLite has one writer.)
    ClaimLock,
    /// The lock of whoever gives positions, in the same round trip.
    SequencerLock,
}

/// A domain verb: one transaction, one meaning.
///
/// The trait is sealed by `Tx`, which only this crate can name.
pub trait Verb: Send + Sync + 'static {
    /// What it answers.
    type Output: Send + 'static;

    /// What the transaction begins with.
    #[doc(hidden)]
    const BEGIN: Begin = Begin::Plain;

    /// Runs the verb. It may run again if the database asks for a retry, so it
    /// must not keep anything outside the transaction.
    #[doc(hidden)]
    fn run<T: Tx>(&self, tx: &mut T) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}

/// Runs a statement and returns its first row, if there is one.
pub(crate) async fn first<T: Tx>(tx: &mut T, sql: Sql, params: Vec<Value>) -> Result<Option<Row>, Error> {
    Ok(tx.query(sql, params).await?.into_iter().next())
}

/// Fails unless exactly that many rows were changed.
pub(crate) fn expect_rows(what: &str, expected: usize, changed: u64) -> Result<(), Error> {
    if usize::try_from(changed) == Ok(expected) {
        return Ok(());
    }
    Err(Error::Broken(format!("{what} changed {changed} rows where {expected} were expected")))
}
