//! PostgreSQL: a pool, generic plans, and a retry for what the database asks to be retried.

mod tx;

use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::error::Error;
use crate::migrate;
use crate::store::Opening;
use crate::tx::{Begin, Verb};

/// The lock that serialises migrations.
pub(crate) const MIGRATION_LOCK: i64 = 0x7862_0001;
/// The lock every claim takes first.
pub(crate) const CLAIM_LOCK: i64 = 0x7862_0002;
/// Two statements, so that the snapshot of the next one is taken under the lock.
const BEGIN_CLAIM: &str = "BEGIN; SELECT pg_advisory_xact_lock(2019688450)";
/// The lock of whoever gives positions.
#[cfg(test)]
const SEQUENCER_LOCK: i64 = 0x7862_0005;
/// Not a row lock: a turn that finds nothing to stamp has nothing to write then, and holds nobody up.
const BEGIN_SEQUENCE: &str = "BEGIN; SELECT pg_advisory_xact_lock(2019688453)";
/// The lock under which relations and parents change.
pub(crate) const GRAPH_LOCK: i64 = 0x7862_0003;
/// The lock that whatever enters the line shares, and a change of ranks takes.
pub(crate) const RANK_LOCK: i64 = 0x7862_0004;
/// Where the sequencer says that there are new positions.
pub(crate) const CHANNEL: &str = "extraboard_pos";

const CONNECTIONS_MAX: u32 = 16;
const STATEMENTS_MAX: usize = 256;
/// How long a verb waits for a connection before its caller is told to try again.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// How often a verb runs if the database asks for a retry.
const ATTEMPTS_MAX: usize = 10;

/// Session settings. Plans are generic so that they do not depend on values, and
/// do not scan tables: a plan made while the line was short must do when it is long.
/// They read indexes in their order, because what reads all first sorts all afterwards.
/// Where a scan is all there is its price is fictitious, and must not start the JIT.
/// Forgotten transactions must not hold back vacuum, and nothing waits for ever.
#[doc(hidden)]
pub const SESSION: &str = "SET plan_cache_mode = force_generic_plan;
     SET enable_seqscan = off;
     SET enable_bitmapscan = off;
     SET jit = off;
     SET idle_in_transaction_session_timeout = '60s';
     SET statement_timeout = '60s';
     SET default_transaction_isolation = 'read committed'";

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: PgPool,
}

impl Postgres {
    /// Connects and brings the schema up to date.
    pub(crate) async fn open(url: &str, opening: &Opening) -> Result<Self, Error> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| Error::BadUrl { url: redacted(url), message: error.to_string() })?
            .statement_cache_capacity(STATEMENTS_MAX)
            .application_name("extraboard")
            .disable_statement_logging();
        // A pool says nothing but "timed out" where a connection says why.
        let first = options.connect().await.map_err(|error| connect_failed(url, error))?;
        first.close().await.map_err(failed)?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(PATIENCE)
            .after_connect(|connection, _| {
                Box::pin(async move { connection.execute(SESSION).await.map(|_| ()) })
            })
            .connect_with(options)
            .await
            .map_err(|error| connect_failed(url, error))?;
        let mut tx = pool.begin().await.map_err(failed)?;
        migrate::postgres(&mut tx, opening.now).await?;
        tx.commit().await.map_err(failed)?;
        Ok(Self { pool })
    }

    /// Runs a verb, again if the database gave up on a deadlock or a conflict.
    pub(crate) async fn write<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        let mut attempt = 1;
        loop {
            match self.once(&verb).await {
                Err(Failure::Retry(error)) if attempt < ATTEMPTS_MAX => {
                    tracing::debug!(attempt, error = %error, "a transaction runs again: {error}");
                    attempt += 1;
                }
                Err(Failure::Retry(error)) => return Err(Error::Unavailable(Box::new(error))),
                Err(Failure::Final(error)) => return Err(error),
                Ok(output) => return Ok(output),
            }
        }
    }

    /// Runs a verb that only reads, in one snapshot.
    pub(crate) async fn read<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        let mut tx = self.pool.begin().await.map_err(failed)?;
        tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(failed)?;
        let (output, tx) = tx::PgTx::run(tx, &verb).await.map_err(Failure::into_error)?;
        tx.rollback().await.map_err(failed)?;
        Ok(output)
    }

    async fn once<V: Verb>(&self, verb: &V) -> Result<V::Output, Failure> {
        let tx = match V::BEGIN {
            Begin::Plain => self.pool.begin().await,
            Begin::ClaimLock => self.pool.begin_with(BEGIN_CLAIM).await,
            Begin::SequencerLock => self.pool.begin_with(BEGIN_SEQUENCE).await,
        };
        let (output, tx) = tx::PgTx::run(tx.map_err(classify)?, verb).await?;
        tx.commit().await.map_err(classify)?;
        Ok(output)
    }

    /// Returns the database's own time, in microseconds since 1970.
    pub(crate) async fn now_micros(&self) -> Result<i64, Error> {
        let row = sqlx::query("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
            .fetch_one(&self.pool)
            .await
            .map_err(failed)?;
        sqlx::Row::try_get(&row, 0).map_err(failed)
    }

    /// Frees the line's dead entries, which every claim would walk over.
    pub(crate) async fn vacuum_line(&self) -> Result<(), Error> {
        let statement = "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) line";
        self.pool.execute(statement).await.map(|_| ()).map_err(failed)
    }

    pub(crate) async fn listen(&self) -> Result<PgListener, Error> {
        let mut listener = PgListener::connect_with(&self.pool).await.map_err(failed)?;
        listener.listen(CHANNEL).await.map_err(failed)?;
        Ok(listener)
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A transaction that did not commit.
pub(crate) enum Failure {
    /// The database asks to run it again.
    Retry(sqlx::Error),
    /// Running it again would not help.
    Final(Error),
}

impl Failure {
    fn into_error(self) -> Error {
        match self {
            Self::Retry(error) => Error::Unavailable(Box::new(error)),
            Self::Final(error) => error,
        }
    }
}

/// Serialisation failure and deadlock: the statement was right, the moment was not.
const RETRY_CODES: [&str; 2] = ["40001", "40P01"];

pub(crate) fn classify(error: sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    match code {
        Some(code) if RETRY_CODES.contains(&code.as_str()) => Failure::Retry(error),
        _ => Failure::Final(failed(error)),
    }
}

/// Tells a database that is gone, stopping or overloaded from a statement that is wrong.
pub(crate) fn failed(error: sqlx::Error) -> Error {
    let Some(database) = error.as_database_error() else {
        return match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Encode(_) => {
                Error::Broken(format!("PostgreSQL answered something unexpected: {error}"))
            }
            _ => Error::Unavailable(Box::new(error)),
        };
    };
    let code = database.code().unwrap_or_default();
    // Classes 08 connection, 53 resources, 57 operator intervention, 58 system;
    // 25006 is a server that became read-only.
    let gone = ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || code == "25006";
    if gone {
        return Error::Unavailable(Box::new(error));
    }
    Error::Broken(format!("PostgreSQL refused a statement: {error}"))
}

fn connect_failed(url: &str, error: sqlx::Error) -> Error {
    let refused = error.as_database_error().map(|database| database.message().to_owned());
    match (refused, error) {
        (Some(message), _) => Error::BadUrl { url: redacted(url), message },
        (None, error) => Error::BadUrl { url: redacted(url), message: format!("cannot connect: {error}") },
    }
}

/// Returns the URL without its password, also where the URL is not a proper one:
/// whatever stands between the first colon and the last `@` could be it.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (user, rest) = match rest.rfind('@') {
        Some(at) => (rest[..at].split(':').next().unwrap_or_default(), &rest[at..]),
        None => ("", rest),
    };
    let Some((address, query)) = rest.split_once('?') else { return format!("{scheme}://{user}{rest}") };
    let kept: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("password=")).collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{address}{mark}{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_sequencers_begin_with_their_locks() {
        assert!(BEGIN_CLAIM.ends_with(&format!("pg_advisory_xact_lock({CLAIM_LOCK})")));
        assert!(BEGIN_SEQUENCE.ends_with(&format!("pg_advisory_xact_lock({SEQUENCER_LOCK})")));
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(redacted("postgres://me:s3cret@host:5432/db?x=1"), "postgres://me@host:5432/db?x=1");
        assert_eq!(redacted("postgres://me:p@ss@host/db"), "postgres://me@host/db");
        assert_eq!(redacted("postgres://me:p/a?s@host/db"), "postgres://me@host/db");
        assert_eq!(redacted("postgres://host/db"), "postgres://host/db");
        assert_eq!(redacted("postgres://host/db?user=me&password=s3cret"), "postgres://host/db?user=me");
        assert_eq!(redacted("postgres://host/db?password=s3cret"), "postgres://host/db");
    }
}
