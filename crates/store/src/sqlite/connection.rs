//! Connections to an SQLite file and the transaction seam over them.

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, Value as SqliteValue, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Statement};

use crate::error::Error;
use crate::tx::{Dialect, Each, Sql, Tx, Verb};
use crate::value::{Cell, Row, Value};

/// How many prepared statements a connection keeps.
const STATEMENTS_MAX: usize = 256;

/// Opens the connection that writes; the file exists.
///
/// Its cache is kept small: whenever a page was split, a commit walks through all of it.
/// The log is checkpointed less often than by default, since pages are mostly written
/// more than once, and not so seldom that it grows on and on.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, Error> {
    let connection = Connection::open(path).map_err(|error| unusable(path, &error))?;
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA busy_timeout = 5000;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 4000;",
        )
        .map_err(|error| unusable(path, &error))?;
    keep_plans(connection, path)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, Error> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| unusable(path, &error))?;
    connection
        .execute_batch("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384;")
        .map_err(|error| unusable(path, &error))?;
    keep_plans(connection, path)
}

/// Keeps statements as they were prepared: otherwise those with a bound limit are
/// prepared anew whenever it changes.
fn keep_plans(connection: Connection, path: &Path) -> Result<Connection, Error> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|error| unusable(path, &error))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(connection)
}

fn unusable(path: &Path, error: &rusqlite::Error) -> Error {
    Error::BadUrl { url: path.display().to_string(), message: format!("cannot open it as SQLite: {error}") }
}

/// Tells a database that is busy, full or gone from a statement that is wrong.
pub(crate) fn failed(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::ReadOnly,
        ) => Error::Unavailable(Box::new(error)),
        _ => Error::Broken(format!("SQLite refused a statement: {error}")),
    }
}

/// A transaction on a connection; whoever made it begins and ends it.
pub(crate) struct SqliteTx<'a> {
    connection: &'a mut Connection,
    texts: &'a mut Texts,
}

impl<'a> SqliteTx<'a> {
    pub(crate) fn new(connection: &'a mut Connection, texts: &'a mut Texts) -> Self {
        Self { connection, texts }
    }

    /// Runs a verb to its end. Its future cannot be pending: nothing in it waits.
    pub(crate) fn run<V: Verb>(&mut self, verb: &V) -> Result<V::Output, Error> {
        let future = pin!(verb.run(self));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(Error::Broken("a verb waited inside a transaction".to_owned())),
        }
    }

    fn query_now(&mut self, sql: Sql, params: &[Value]) -> Result<Vec<Row>, Error> {
        let text = self.texts.of(sql.sqlite);
        let mut statement = self.connection.prepare_cached(text).map_err(failed)?;
        read_rows(&mut statement, rusqlite::params_from_iter(params)).map_err(failed)
    }

    fn execute_now(&mut self, text: &'static str, rows: &[Vec<Value>]) -> Result<u64, Error> {
        let text = self.texts.of(text);
        let mut statement = self.connection.prepare_cached(text).map_err(failed)?;
        let mut changed = 0;
        for row in rows {
            changed += statement.execute(rusqlite::params_from_iter(row)).map_err(failed)? as u64;
        }
        Ok(changed)
    }
}

impl Tx for SqliteTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn query(
        &mut self,
        sql: Sql,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<Row>, Error>> + Send {
        std::future::ready(self.query_now(sql, &params))
    }

    fn execute(&mut self, sql: Sql, params: Vec<Value>) -> impl Future<Output = Result<u64, Error>> + Send {
        std::future::ready(self.execute_now(sql.sqlite, &[params]))
    }

    fn execute_each(
        &mut self,
        each: Each,
        rows: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<u64, Error>> + Send {
        std::future::ready(self.execute_now(each.sqlite, &rows))
    }
}

fn read_rows(statement: &mut Statement<'_>, params: impl Params) -> rusqlite::Result<Vec<Row>> {
    let columns = statement.column_count();
    let mut rows = statement.query(params)?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|index| row.get_ref(index).map(cell)).collect::<Result<_, _>>()?;
        read.push(Row::new(cells));
    }
    Ok(read)
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(int) => Cell::Int(int),
        // No column of ours holds floating-point numbers or blobs; as text they
        // are refused where they are read.
        ValueRef::Real(real) => Cell::Text(real.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Cell::Text(match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(text).into_owned(),
        }),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(Some(int)) => ToSqlOutput::from(*int),
            Self::Text(Some(text)) => ToSqlOutput::from(text.as_str()),
            Self::Int(None) | Self::Text(None) => ToSqlOutput::Owned(SqliteValue::Null),
            Self::Ints(ints) => ToSqlOutput::Owned(SqliteValue::Text(format!("{ints:?}"))),
        })
    }
}

/// Statements as SQLite wants them, by their original text.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<&'static str, String>);

impl Texts {
    fn of(&mut self, text: &'static str) -> &str {
        self.0.entry(text).or_insert_with(|| for_sqlite(text))
    }
}

/// Turns `$1` into `?1` and drops row locks: the one writer is the lock.
fn for_sqlite(text: &str) -> String {
    let unlocked = text.find("FOR UPDATE").map_or(text, |start| &text[..start]);
    unlocked.replace('$', "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_rewritten_and_row_locks_dropped() {
        assert_eq!(
            for_sqlite("SELECT a FROM b WHERE c = $1 AND d = $12 FOR UPDATE OF b SKIP LOCKED"),
            "SELECT a FROM b WHERE c = ?1 AND d = ?12 "
        );
    }
}
