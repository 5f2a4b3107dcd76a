//! The claim's plan on PostgreSQL: the index gives the order, nothing is sorted or scanned.

use extraboard_store::Store;
use extraboard_store::postgres::SESSION;
use extraboard_store::verbs::{CLAIM_STATEMENTS, Seed, SeedSort, TemplateEdit};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use crate::database::connect;
use crate::harness::{TestStore, opening};

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
         text[], text[], text[], text[], text[], text[], text[]",
        "ARRAY[5], ARRAY['d'], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY['a'], ARRAY['pull'], ARRAY[1], ARRAY['p'], \
         ARRAY['task'], ARRAY[NULL::bigint], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY['t'], ARRAY['a'], \
         ARRAY['{}'], ARRAY[NULL]",
    ),
];

/// Connects as the store does; statistics are gathered only if the test does so.
async fn quiet(ctx: &TestStore) -> PgConnection {
    let mut connection = connect(ctx.database.url()).await;
    connection.execute(sqlx::raw_sql(SESSION)).await.unwrap();
    for table in ["line"].into_iter().chain(TABLES) {
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
        .execute("TRUNCATE line, lane, dispatch, relation, artifact, comment, inbox, signal, prompt_review, task; ANALYZE")
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

/// How many tasks there are in families, and in how many more they are to be found as fast.
const FEW: i64 = 1_500;
const MANY: i64 = 15_000;
/// How many are handed out at once.
const BATCH: usize = 10;
/// How many blocks more may be read of a table without a reason.
const SLACK: i64 = 100;

/// Counts the blocks that were ever read of a table and its indexes.
const BLOCKS: &str = "SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit \
     FROM pg_statio_user_tables \
     WHERE relname = $1";
/// The tables a prompt is made of.
const TABLES: [&str; 5] = ["task", "relation", "dispatch", "comment", "task_label"];

/// Waits until all servers are gone, which is when they have told what they read, then
/// returns how much that was of each table.
async fn blocks(connection: &mut PgConnection) -> [i64; TABLES.len()] {
    let others = "SELECT COUNT(*) FROM pg_stat_activity \
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let gone = async {
        while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut *connection).await.unwrap() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), gone).await.expect("servers end before long");
    let mut read = [0; TABLES.len()];
    for (count, table) in read.iter_mut().zip(TABLES) {
        *count = sqlx::query_scalar(BLOCKS).bind(table).fetch_one(&mut *connection).await.unwrap();
    }
    read
}

/// A database full of families, and what a batch of claims reads of it.
struct Families {
    ctx: TestStore,
    connection: PgConnection,
}

impl Families {
    /// Fills a database, and leaves it to the test alone.
    async fn of(members: i64) -> Self {
        let ctx = TestStore::postgres().await;
        let connection = quiet(&ctx).await;
        let seed = Seed { first: 1, last: members, now: ctx.now(), sort: SeedSort::Families };
        ctx.store.write(seed).await.unwrap();
        ctx.template("a", TemplateEdit::default()).await;
        let blocked = "INSERT INTO relation (id, type, task, other, created_at) \
           SELECT 'r' || number, 'blocks', parent, number, 1 FROM task WHERE parent IS NOT NULL";
        ctx.database.raw(blocked).await.unwrap();
        ctx.store.close().await;
        Self { ctx, connection }
    }

    /// Hands a batch out over a server of its own; returns how much was read of each table.
    async fn read_by_a_batch(&mut self) -> [i64; TABLES.len()] {
        let before = blocks(&mut self.connection).await;
        let server = Store::open(self.ctx.database.url(), &opening("a reader")).await.unwrap();
        let requests = (0..BATCH).map(|_| self.ctx.request("a")).collect();
        for answer in Box::pin(server.write(self.ctx.prompted_batch(requests))).await.unwrap() {
            let prompt = answer.unwrap().unwrap().dispatch.prompt.unwrap();
            for told in ["parent #", "sibling #", "blocked by #", "comment by ", "label "] {
                assert!(prompt.lines().any(|line| line.starts_with(told)), "{told}: {prompt}");
            }
        }
        server.close().await;
        let after = blocks(&mut self.connection).await;
        std::array::from_fn(|table| after[table] - before[table])
    }

    /// Runs a statement over a connection that tells what it read before anything is counted.
    async fn execute(&self, sql: &str) {
        self.ctx.database.raw(sql).await.unwrap();
    }
}

/// Lists the tables of which ten times as many rows make much more to read. Indexes that are
/// a level deeper do so a little.
fn growing(few: [i64; TABLES.len()], many: [i64; TABLES.len()]) -> Vec<&'static str> {
    let grows = |(few, many): (i64, i64)| few == 0 || many > 2 * few + SLACK;
    let tables = TABLES.into_iter().zip(few.into_iter().zip(many));
    tables.filter(|(_, read)| grows(*read)).map(|(table, _)| table).collect()
}

#[tokio::test]
async fn a_claim_reads_no_more_for_prompts_where_there_are_more_tasks() {
    let [mut few, mut many] = [Families::of(FEW).await, Families::of(MANY).await];
    // A vacuum tells how large tables are, and nothing of what stands in them.
    for gathered in ["SELECT 1", "VACUUM", "ANALYZE"] {
        few.execute(gathered).await;
        many.execute(gathered).await;
        let read = (few.read_by_a_batch().await, many.read_by_a_batch().await);
        assert_eq!(growing(read.0, read.1), Vec::<&str>::new(), "{gathered}: {read:?}");
    }
}

#[tokio::test]
async fn the_check_of_what_is_read_fails_without_the_indexes() {
    let [mut few, mut many] = [Families::of(FEW).await, Families::of(MANY).await];
    let few = few.read_by_a_batch().await;
    let indexes = [
        ("task", "task_parent"),
        ("relation", "relation_other"),
        ("dispatch", "dispatch_fence"),
        ("comment", "comment_task"),
    ];
    for (table, index) in indexes {
        let definition = "SELECT indexdef FROM pg_indexes WHERE indexname = $1";
        let again: String =
            sqlx::query_scalar(definition).bind(index).fetch_one(&mut many.connection).await.unwrap();
        many.execute(&format!("DROP INDEX {index}")).await;
        let read = many.read_by_a_batch().await;
        assert_eq!(growing(few, read), [table], "without {index}: {few:?} {read:?}");
        many.execute(&again).await;
    }
}
