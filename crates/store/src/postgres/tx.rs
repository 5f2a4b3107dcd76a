//! The transaction seam over a PostgreSQL connection.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Column as _, Postgres, Row as _, Transaction, TypeInfo as _, ValueRef as _};

use super::{Failure, classify};
use crate::error::Error;
use crate::tx::{Dialect, Each, Sql, Tx, Verb};
use crate::value::{Cell, Row, Value};

/// An open transaction; if the database asks for a retry it remembers so.
pub(crate) struct PgTx {
    tx: Transaction<'static, Postgres>,
    retry: Option<sqlx::Error>,
}

impl PgTx {
    /// Runs a verb and gives the transaction back for its end. One that failed is rolled
    /// back at once: left to the pool, its locks would stay for a moment longer.
    pub(crate) async fn run<V: Verb>(
        tx: Transaction<'static, Postgres>,
        verb: &V,
    ) -> Result<(V::Output, Transaction<'static, Postgres>), Failure> {
        let mut tx = Self { tx, retry: None };
        let result = verb.run(&mut tx).await;
        let failure = match (result, tx.retry) {
            (Ok(output), None) => return Ok((output, tx.tx)),
            (_, Some(error)) => Failure::Retry(error),
            (Err(error), None) => Failure::Final(error),
        };
        // If even this fails the connection is broken, and its locks are gone with it.
        let _ = tx.tx.rollback().await;
        Err(failure)
    }

    fn failed(&mut self, error: sqlx::Error) -> Error {
        match classify(error) {
            Failure::Retry(error) => {
                let seen = Error::Unavailable(error.to_string().into());
                self.retry = Some(error);
                seen
            }
            Failure::Final(error) => error,
        }
    }

    async fn execute_all(&mut self, text: &'static str, params: Vec<Value>) -> Result<u64, Error> {
        match bind(text, params).execute(&mut *self.tx).await {
            Ok(done) => Ok(done.rows_affected()),
            Err(error) => Err(self.failed(error)),
        }
    }
}

impl Tx for PgTx {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn query(&mut self, sql: Sql, params: Vec<Value>) -> Result<Vec<Row>, Error> {
        match bind(sql.postgres, params).fetch_all(&mut *self.tx).await {
            Ok(rows) => rows.iter().map(read_row).collect(),
            Err(error) => Err(self.failed(error)),
        }
    }

    async fn execute(&mut self, sql: Sql, params: Vec<Value>) -> Result<u64, Error> {
        self.execute_all(sql.postgres, params).await
    }

    async fn execute_each(&mut self, each: Each, rows: Vec<Vec<Value>>) -> Result<u64, Error> {
        if rows.is_empty() {
            return Ok(0);
        }
        match bind_columns(each.postgres, rows)?.execute(&mut *self.tx).await {
            Ok(done) => Ok(done.rows_affected()),
            Err(error) => Err(self.failed(error)),
        }
    }
}

type PgQuery = Query<'static, Postgres, PgArguments>;

fn bind(text: &'static str, params: Vec<Value>) -> PgQuery {
    params.into_iter().fold(sqlx::query(text), |query, param| match param {
        Value::Int(int) => query.bind(int),
        Value::Text(text) => query.bind(text),
        Value::Ints(ints) => query.bind(ints),
    })
}

/// Turns rows into one array per column.
fn bind_columns(text: &'static str, rows: Vec<Vec<Value>>) -> Result<PgQuery, Error> {
    let width = rows.first().map_or(0, Vec::len);
    let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
    let mut query = sqlx::query(text);
    for _ in 0..width {
        let (mut ints, mut texts) = (Vec::new(), Vec::new());
        for row in &mut rows {
            match row.next() {
                Some(Value::Int(int)) => ints.push(int),
                Some(Value::Text(text)) => texts.push(text),
                _ => return Err(Error::Broken("rows of a statement differ in shape".to_owned())),
            }
        }
        query = match (ints.is_empty(), texts.is_empty()) {
            (false, true) => query.bind(ints),
            (true, false) => query.bind(texts),
            _ => return Err(Error::Broken("a column of a statement mixes types".to_owned())),
        };
    }
    Ok(query)
}

fn read_row(row: &PgRow) -> Result<Row, Error> {
    let cells = (0..row.columns().len()).map(|index| read_cell(row, index));
    cells.collect::<Result<_, _>>().map(Row::new).map_err(super::failed)
}

fn read_cell(row: &PgRow, index: usize) -> Result<Cell, sqlx::Error> {
    if row.try_get_raw(index)?.is_null() {
        return Ok(Cell::Null);
    }
    Ok(match row.column(index).type_info().name() {
        "INT8" => Cell::Int(row.try_get(index)?),
        "INT4" => Cell::Int(row.try_get::<i32, _>(index)?.into()),
        _ => Cell::Text(row.try_get(index)?),
    })
}
