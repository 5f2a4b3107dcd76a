//! Schema migrations: embedded, forward only, one transaction under a lock.

use extraboard_core::clock::Timestamp;
use rusqlite::Connection;
use sqlx::{Executor as _, Postgres, Row as _, Transaction};

use crate::error::Error;
use crate::{postgres, sqlite};

struct Migration {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migration {
    ($name:literal) => {
        Migration {
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }
    };
}

/// Every migration; the version of a schema is how many of them were applied.
const MIGRATIONS: &[Migration] = &[
    migration!("0001_spine"),
    migration!("0002_rank_graph_gates"),
    migration!("0003_pull_door"),
    migration!("0004_issue_loop"),
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migration (
       version    BIGINT PRIMARY KEY,
       name       TEXT NOT NULL,
       applied_at BIGINT NOT NULL
     )";
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM schema_migration";

/// Tells whether a file has tables, and none of ours.
const FOREIGN: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table') \
     AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_migration')";

/// Returns the migrations that follow a version, with their own versions.
fn after(version: i64) -> Result<impl Iterator<Item = (i64, &'static Migration)>, Error> {
    let known = i64::try_from(MIGRATIONS.len()).expect("there are few migrations");
    if version > known {
        return Err(Error::Newer { found: version, known });
    }
    Ok((1..).zip(MIGRATIONS).filter(move |(number, _)| *number > version))
}

/// Brings an SQLite schema up to date.
pub(crate) fn sqlite(connection: &mut Connection, now: Timestamp) -> Result<(), Error> {
    let tx = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(sqlite::failed)?;
    if tx.query_row(FOREIGN, [], |row| row.get(0)).map_err(sqlite::failed)? {
        let message = "is an SQLite database of another program".to_owned();
        let url = tx.path().unwrap_or_default().to_owned();
        return Err(Error::BadUrl { url, message });
    }
    tx.execute_batch(TABLE).map_err(sqlite::failed)?;
    let version = tx.query_row(VERSION, [], |row| row.get(0)).map_err(sqlite::failed)?;
    for (number, migration) in after(version)? {
        tx.execute_batch(migration.sqlite).map_err(sqlite::failed)?;
        tx.execute(
            "INSERT INTO schema_migration (version, name, applied_at) VALUES (?1, ?2, ?3)",
            (number, migration.name, now.as_micros()),
        )
        .map_err(sqlite::failed)?;
    }
    tx.commit().map_err(sqlite::failed)
}

/// Brings a PostgreSQL schema up to date; other servers wait meanwhile.
pub(crate) async fn postgres(tx: &mut Transaction<'_, Postgres>, now: Timestamp) -> Result<(), Error> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(postgres::MIGRATION_LOCK)
        .execute(&mut **tx)
        .await
        .map_err(postgres::failed)?;
    tx.execute(TABLE).await.map_err(postgres::failed)?;
    let row = sqlx::query(VERSION).fetch_one(&mut **tx).await.map_err(postgres::failed)?;
    let version = row.try_get(0).map_err(postgres::failed)?;
    for (number, migration) in after(version)? {
        sqlx::raw_sql(migration.postgres).execute(&mut **tx).await.map_err(postgres::failed)?;
        sqlx::query("INSERT INTO schema_migration (version, name, applied_at) VALUES ($1, $2, $3)")
            .bind(number)
            .bind(migration.name)
            .bind(now.as_micros())
            .execute(&mut **tx)
            .await
            .map_err(postgres::failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use extraboard_core::doors::Door;
    use extraboard_core::kind::Kind;
    use extraboard_core::report::Outcome;
    use extraboard_core::state::State;

    use super::*;

    fn check_list(column: &str, words: &[&str]) {
        let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        let list = format!("({})", quoted.join(","));
        for schema in [MIGRATIONS[0].sqlite, MIGRATIONS[0].postgres] {
            let flat = schema.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(&format!("({column} IN {list}")), "{column} IN {list}");
        }
    }

    #[test]
    fn check_constraints_list_the_words_of_core() {
        check_list("state", &State::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
        check_list("kind", &Kind::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
        check_list("door", &Door::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
        check_list("outcome", &Outcome::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    }
}
