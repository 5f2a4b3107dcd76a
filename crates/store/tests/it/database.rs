//! Fresh databases, and the tests' own connections to them.

use extraboard_testkit::database::fresh_postgres_url;
use rusqlite::Connection;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use tempfile::TempDir;

/// A database that no other test knows.
pub(crate) enum Database {
    Sqlite {
        url: String,
        /// Removed with the test.
        directory: TempDir,
    },
    Postgres {
        url: String,
    },
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        let directory = TempDir::new().unwrap();
        let url = format!("sqlite:{}", directory.path().join("desk.db").display());
        Self::Sqlite { url, directory }
    }

    pub(crate) fn postgres() -> Self {
        Self::Postgres { url: fresh_postgres_url() }
    }

    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Sqlite { url, .. } | Self::Postgres { url } => url,
        }
    }

    /// Runs statements of the test's own, behind the store's back.
    pub(crate) async fn raw(&self, sql: &str) -> Result<(), String> {
        match self {
            Self::Sqlite { directory, .. } => {
                let connection = Connection::open(directory.path().join("desk.db")).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
                connection.execute_batch(sql).map_err(|error| error.to_string())
            }
            Self::Postgres { url } => {
                let mut connection = connect(url).await;
                let done = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await;
                done.map(|_| ()).map_err(|error| error.to_string())
            }
        }
    }

    /// Reads one number.
    pub(crate) async fn raw_int(&self, sql: &str) -> i64 {
        match self {
            Self::Sqlite { directory, .. } => {
                let connection = Connection::open(directory.path().join("desk.db")).unwrap();
                connection.query_row(sql, [], |row| row.get(0)).unwrap()
            }
            Self::Postgres { url } => {
                let mut connection = connect(url).await;
                sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut connection).await.unwrap()
            }
        }
    }
}

/// Opens a connection of the test's own.
pub(crate) async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap()
}
