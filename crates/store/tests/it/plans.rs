//! The claim's plan on PostgreSQL: the index gives the order, nothing is sorted or scanned.

use extraboard_store::postgres::SESSION;
use extraboard_store::verbs::CLAIM_STATEMENTS;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use crate::database::connect;
use crate::harness::TestStore;

const WAITING: i64 = 120_000;
const LANES: i64 = 12;

/// Parameter types and values of each claim statement.
const ARGUMENTS: [(&str, &str); 6] = [
    ("bigint, bigint, bigint", "0, 0, 64"),
    ("bigint[], bigint[], bigint", "ARRAY[0, 1, 2]::bigint[], ARRAY[0, 0, 0]::bigint[], 64"),
    ("bigint[], bigint[], bigint", "ARRAY[1, 3, 5]::bigint[], ARRAY[0, 1, 2]::bigint[], 64"),
    ("bigint[]", "ARRAY[5, 50, 500, 5000]::bigint[]"),
    ("bigint, bigint", "0, 64"),
    (
        "bigint[], text[], bigint[], bigint[], bigint[], text[], text[], bigint[], text[], text[], bigint[], \
         text[], text[], text[], text[], text[], text[]",
        "ARRAY[5], ARRAY['d'], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY['a'], ARRAY['pull'], ARRAY[1], ARRAY['p'], \
         ARRAY['task'], ARRAY[NULL::bigint], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY['t'], ARRAY['a'], \
         ARRAY['{}']",
    ),
];

/// Connects as the store does; statistics are gathered only if the test does so.
async fn quiet(ctx: &TestStore) -> PgConnection {
    let mut connection = connect(ctx.database.url()).await;
    connection.execute(sqlx::raw_sql(SESSION)).await.unwrap();
    for table in ["line", "task"] {
        let sql = format!("ALTER TABLE {table} SET (autovacuum_enabled = off)");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    }
    connection
}

/// Fills tasks and line.
async fn fill(connection: &mut PgConnection) {
    let sql = format!(
        "INSERT INTO lane (id, kind, doors) SELECT n, 'task' || n, 7 FROM generate_series(1, {LANES}) AS n;
         INSERT INTO task (number, id, title, kind, state, priority, doors, max_retries, queued_at,
           created_at, updated_at)
         SELECT n, 'id-' || n, 't', 'task', 'queued', 50, 7, 3, n, n, n
         FROM generate_series(1, {WAITING}) AS n;
         INSERT INTO line (task, lane, level, arrival, queued_at)
         SELECT n, 1 + n % {LANES}, n % 7, (n * 7919) % 1000003, n FROM generate_series(1, {WAITING}) AS n;
         INSERT INTO line_head (level, arrival) SELECT level, 0 FROM generate_series(0, 6) AS level
         ON CONFLICT (level) DO UPDATE SET arrival = 0;"
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
}

/// Returns the generic plan of every claim statement, as the store prepares them.
async fn plans(connection: &mut PgConnection) -> Vec<String> {
    connection.execute("DEALLOCATE ALL").await.unwrap();
    for (index, (statement, (types, _))) in CLAIM_STATEMENTS.into_iter().zip(ARGUMENTS).enumerate() {
        let prepare = format!("PREPARE claim_{index} ({types}) AS {statement}");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(prepare))).await.unwrap();
    }
    prepared_plans(connection).await
}

/// Returns the plans of statements that were prepared before.
async fn prepared_plans(connection: &mut PgConnection) -> Vec<String> {
    let mut plans = Vec::new();
    for (index, (_, values)) in ARGUMENTS.into_iter().enumerate() {
        let explain = format!("EXPLAIN EXECUTE claim_{index} ({values})");
        let rows = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(explain))).await.unwrap();
        let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        plans.push(lines.join("\n"));
    }
    plans
}

/// Tells whether a plan sorts, or reads all of the waiting tasks. What a claim opens is
/// sorted as it was asked for: that is no longer than the batch.
fn is_costly(plan: &str) -> bool {
    let sorts = plan.contains("Sort") && !plan.starts_with("Insert on event");
    sorts || ["line", "task"].iter().any(|table| reads_all(plan, table))
}

/// Tells whether a plan reads a table from end to end, be it through an index.
fn reads_all(plan: &str, table: &str) -> bool {
    let lines: Vec<_> = plan.lines().collect();
    lines.iter().enumerate().any(|(index, line)| {
        let scans = |how: &str| line.contains(how) && line.contains(&format!(" on {table} "));
        let seeks = lines.get(index + 1).is_some_and(|next| next.contains("Index Cond:"));
        scans("Seq Scan") || (scans("Index Scan") || scans("Index Only Scan")) && !seeks
    })
}

#[tokio::test]
async fn a_claim_neither_sorts_nor_scans_the_waiting_tasks() {
    let ctx = TestStore::postgres().await;
    let mut connection = quiet(&ctx).await;
    for when in ["empty", "filled, without statistics", "filled, with statistics"] {
        match when {
            "empty" => {}
            "filled, without statistics" => fill(&mut connection).await,
            _ => drop(connection.execute("ANALYZE").await.unwrap()),
        }
        for plan in plans(&mut connection).await {
            assert!(when == "empty" || !is_costly(&plan), "{when}:\n{plan}");
        }
    }
}

#[tokio::test]
async fn a_plan_made_while_the_line_was_short_does_when_it_is_long() {
    let ctx = TestStore::postgres().await;
    ctx.add("only").await;
    let mut connection = quiet(&ctx).await;
    ctx.delete(extraboard_core::id::TaskNumber(1)).await;
    connection
        .execute("TRUNCATE line, lane, dispatch, relation, artifact, comment, inbox, task; ANALYZE")
        .await
        .unwrap();
    plans(&mut connection).await;
    fill(&mut connection).await;
    for plan in prepared_plans(&mut connection).await {
        assert!(!is_costly(&plan), "{plan}");
    }
}

#[tokio::test]
async fn the_check_of_plans_fails_without_the_indexes() {
    let ctx = TestStore::postgres().await;
    let mut connection = quiet(&ctx).await;
    fill(&mut connection).await;
    connection.execute("ANALYZE").await.unwrap();
    let costly = async |connection: &mut PgConnection| {
        plans(connection).await.iter().map(|plan| is_costly(plan)).collect::<Vec<_>>()
    };
    assert_eq!(costly(&mut connection).await, [false, false, false, false, false, false]);
    connection.execute("DROP INDEX line_rank").await.unwrap();
    assert_eq!(costly(&mut connection).await, [true, true, false, false, true, false]);
    connection.execute("DROP INDEX line_lane_rank").await.unwrap();
    assert_eq!(costly(&mut connection).await, [true, true, true, false, true, false]);
}
