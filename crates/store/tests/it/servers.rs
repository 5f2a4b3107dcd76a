//! What only PostgreSQL has: many servers, and transactions that overlap.
//!
//! Where an order of steps matters it is forced: a transaction of the test's own holds
//! what a verb needs next, until all others wait.

mod claims;
mod events;
mod graph;
mod rank;

use std::sync::Arc;
use std::time::Duration;

use extraboard_store::error::Error;
use extraboard_store::{Store, Verb};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _};
use tokio::task::JoinHandle;

use crate::database::{Database, connect};
use crate::harness::TestStore;

const STUCK_AFTER: Duration = Duration::from_secs(20);

/// Stops every verb where it tells what it did, near its end, with all its locks.
const EVENTS: &str = "LOCK TABLE event IN SHARE MODE";
/// Stops whatever enters the line after it has read what it is to be ranked by.
const FIRST_LANE: &str =
    "INSERT INTO lane (project, kind, needs, owner, doors) VALUES (1, 'task', '', '', 7)";
/// Stops whatever enters the line before it reads that: a change of ranks takes this lock.
const RANK_LOCK: &str = "SELECT pg_advisory_xact_lock(x'78620004'::bigint)";

/// What a transaction of the test's own holds until it is let go.
struct Hold(PgConnection);

impl Hold {
    async fn of(ctx: &TestStore, sql: &str) -> Self {
        let mut connection = connect(ctx.database.url()).await;
        connection.execute("BEGIN").await.unwrap();
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.unwrap();
        Self(connection)
    }

    /// Holds a task's row.
    async fn of_task(ctx: &TestStore, number: extraboard_core::id::TaskNumber) -> Self {
        Self::of(ctx, &format!("SELECT 1 FROM task WHERE number = {number} FOR UPDATE")).await
    }

    async fn let_go(mut self) {
        self.0.execute("ROLLBACK").await.unwrap();
    }
}

/// Begins a verb and leaves it to itself.
fn begin<V: Verb>(store: &Arc<Store>, verb: V) -> JoinHandle<Result<V::Output, Error>> {
    let store = Arc::clone(store);
    tokio::spawn(async move { store.write(verb).await })
}

/// Counts the sessions that wait for a lock.
async fn waiting(database: &Database) -> i64 {
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
       WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'";
    database.raw_int(waiting).await
}

/// Looks until so many sessions wait for locks.
async fn until_waiting(database: &Database, count: i64) {
    let looked = async {
        while waiting(database).await < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(STUCK_AFTER, looked).await.expect("somebody waits before long");
}

/// Looks until so many sessions wait for locks, or a verb that should is through.
async fn until_waiting_or<T>(database: &Database, count: i64, verb: &JoinHandle<T>) {
    let looked = async {
        while waiting(database).await < count && !verb.is_finished() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(STUCK_AFTER, looked).await.expect("somebody waits before long");
}

/// Waits for a verb that nothing is in the way of any more.
async fn finished<T>(verb: JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(STUCK_AFTER, verb).await.expect("a verb ends before long").unwrap()
}
