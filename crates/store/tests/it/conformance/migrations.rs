//! Migrations: forward only, and never over a newer schema.

use extraboard_core::clock::Span;
use extraboard_core::gate::{Limits, Nothing};
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::inbox::InboxKind;
use extraboard_core::kind::Kind;
use extraboard_core::profile::ProfileName;
use extraboard_core::token::TokenScope;
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Claimed, InboxList, ProjectGet, ProjectRef, PromptsCount, RulesRead, TaskGet, TemplateEdit, TokenKnown,
};

use crate::database::Database;
use crate::harness::{START, TestStore, opening};

/// Waits until nobody has the database open, then opens it again.
async fn reopen(ctx: TestStore) -> (Database, Result<Store, Error>) {
    let TestStore { store, database, .. } = ctx;
    store.close().await;
    drop(store);
    let store = Store::open(database.url(), &opening("again")).await;
    (database, store)
}

pub(crate) async fn opening_again_keeps_everything(ctx: &TestStore) {
    let other = ctx.another().await;
    let task = other.add("t").await;
    let (database, store) = reopen(other).await;
    let kept = store.unwrap().read(TaskGet { task: TaskRef::Number(TaskNumber(1)) }).await.unwrap();
    assert_eq!(kept.task, task);
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 4);
}

pub(crate) async fn a_database_of_a_newer_version_is_refused_and_untouched(ctx: &TestStore) {
    let other = ctx.another().await;
    other.add("t").await;
    let newer = "INSERT INTO schema_migration (version, name, applied_at) VALUES (99, 'later', 1);
       DROP TABLE timer";
    other.database.raw(newer).await.unwrap();
    let (database, store) = reopen(other).await;
    let refused = store.unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 99, .. }));
    let message = refused.to_string();
    assert!(message.contains("schema version 99") && message.contains("newer xb"), "{message}");
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 5);
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM task").await, 1);
    assert!(database.raw("SELECT * FROM timer").await.is_err());
}

pub(crate) async fn a_migration_that_fails_leaves_nothing_behind(ctx: &TestStore) {
    let other = ctx.another().await;
    let clash = "DROP TABLE dispatch; DROP TABLE line; DELETE FROM schema_migration";
    other.database.raw(clash).await.unwrap();
    let (database, store) = reopen(other).await;
    assert!(matches!(store.unwrap_err(), Error::Broken(_)));
    assert!(database.raw("SELECT * FROM line").await.is_err());
    assert_eq!(database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 0);
}

/// A database as the first version left it: a line by priority and age, a timer, a
/// dispatch that is not closed.
async fn first_version(ctx: &TestStore, rows: &str) -> TestStore {
    let (database, spine) = match &ctx.database {
        Database::Sqlite { .. } => {
            (Database::sqlite(), include_str!("../../../migrations/sqlite/0001_spine.sql"))
        }
        Database::Postgres { .. } => {
            (Database::postgres(), include_str!("../../../migrations/postgres/0001_spine.sql"))
        }
    };
    let noted = "CREATE TABLE schema_migration (
         version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL);
       INSERT INTO schema_migration (version, name, applied_at) VALUES (1, '0001_spine', 1)";
    database.raw(&format!("{spine};{noted};{rows}")).await.unwrap();
    TestStore::over(database).await
}

/// Rows as the first version wrote them.
fn old_rows() -> String {
    let (now, day) = (START.as_micros(), Span::from_days(1).as_micros());
    let task = |number: i64, kind: &str, state: &str, rest: &str| {
        format!(
            "INSERT INTO task (id, title, kind, state, priority, doors, max_retries, created_at, updated_at,
               queued_at, not_before, dispatch, fence, attempt)
             VALUES ('00000000-0000-7000-8000-{:012}', '{kind} {state}', '{kind}', '{state}', {}, 7, 3, 1, 1,
               {rest});",
            number,
            70 - number
        )
    };
    let dispatch = "00000000-0000-7000-8000-0000000000d1";
    [
        task(1, "task", "queued", &format!("{now}, NULL, NULL, 0, 0")),
        task(2, "signal", "queued", &format!("{now}, NULL, NULL, 0, 0")),
        task(3, "task", "queued", &format!("{now}, {}, NULL, 1, 1", now + day)),
        task(4, "code", "running", &format!("{now}, NULL, '{dispatch}', 1, 1")),
        task(5, "plan", "done", "NULL, NULL, NULL, 0, 0"),
        task(6, "code", "queued", &format!("{now}, NULL, NULL, 0, 0")),
        task(7, "code", "blocked", "NULL, NULL, NULL, 1, 1"),
        "INSERT INTO event (pos, type, task, actor, at, data) VALUES (1, 'task.created', 1, 'a', 1, '{}'),
           (NULL, 'task.edited', 1, 'b', 2, '{}'), (NULL, 'task.edited', 1, 'c', 3, '{}');
         UPDATE sequencer SET last_pos = 1;
         INSERT INTO token (hash, scope, subject, origin, created_at) VALUES ('h', 'admin', 'ann', 'f', 1);"
            .to_owned(),
        "INSERT INTO lane (kind, doors) VALUES ('task', 7), ('signal', 7), ('code', 7);".to_owned(),
        format!(
            "INSERT INTO line (task, lane, arrival, queued_at)
             VALUES (1, 1, {now} - 69 * {day}, {now}), (2, 2, {now} - 68 * {day}, {now}),
               (6, 3, {now} - 64 * {day}, {now});"
        ),
        format!("INSERT INTO timer (task, due_at) VALUES (3, {});", now + day),
        format!(
            "INSERT INTO dispatch (id, task, attempt, fence, holder, door, phase, lease_micros, lease_until,
               started_at, heartbeat_at)
             VALUES ('{dispatch}', 4, 1, 1, 'agent:a', 'pull', 'open', {day}, {now} + {day}, {now}, {now})"
        ),
    ]
    .concat()
}

pub(crate) async fn a_database_of_the_first_version_is_brought_up_to_date(ctx: &TestStore) {
    let old = first_version(ctx, &old_rows()).await;
    assert_eq!(old.database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 4);
    let (rules, reranking) = old.store.read(RulesRead).await.unwrap();
    assert_eq!((rules.version, rules.profile.name, reranking), (0, ProfileName::Pipeline, true));
    old.audit().await;
    // Until tasks have moved they stand as they did.
    let titles = ["task queued", "signal queued", "code queued"];
    assert_eq!(old.queue_titles().await, titles);
    old.rerank().await;
    old.audit().await;
    assert_eq!(old.queue_titles().await, ["signal queued", "task queued", "code queued"]);
    assert_eq!(old.entries().await[0].score.total(), 68 + 50);
    // What runs is counted by its kind.
    old.limits(Limits { kinds: [(Kind::Code, 1)].into(), ..Limits::default() }).await;
    for title in ["signal queued", "task queued"] {
        assert_eq!(old.claim().await.task.title, title);
    }
    assert_eq!(old.try_claim().await.unwrap_err(), Nothing::Limit);
    let running = old.store.read(TaskGet { task: TaskRef::Number(TaskNumber(4)) }).await.unwrap();
    let dispatch = running.dispatch.unwrap();
    assert_eq!((dispatch.kind, &dispatch.account, dispatch.project), (Kind::Code, &None, None));
    old.complete(&Claimed { task: running.task, dispatch }).await;
    assert_eq!(old.claim().await.task.title, "code queued");
    old.pass(Span::from_days(1));
    assert_eq!(old.claim().await.task.number, TaskNumber(3));
    // New tasks take the lanes that were there, and new numbers.
    assert_eq!(old.add("new").await.number, TaskNumber(8));
    assert_eq!(old.database.raw_int("SELECT COUNT(*) FROM lane").await, 3);
    old.audit().await;
}

pub(crate) async fn what_waited_for_a_person_or_a_position_still_does_after_an_update(ctx: &TestStore) {
    let old = first_version(ctx, &old_rows()).await;
    let told: Vec<_> = old.events().await.into_iter().map(|event| (event.pos.0, event.actor)).collect();
    assert_eq!(told, [(1, "a".to_owned()), (2, "b".to_owned()), (3, "c".to_owned())]);
    old.add("new").await;
    assert_eq!(old.events().await.last().unwrap().pos.0, 4);
    let list = InboxList { kinds: Vec::new(), limit: 10, offset: 0 };
    let inbox = old.store.read(list).await.unwrap().items;
    assert_eq!((inbox.len(), inbox[0].task, inbox[0].kind), (1, TaskNumber(7), InboxKind::Blocked));
    let known = TokenKnown { hash: "h".to_owned(), now: old.now() };
    let token = old.store.read(known).await.unwrap().unwrap();
    assert_eq!((token.scope, token.subject.as_str()), (TokenScope::Admin, "ann"));
}

/// The migrations of a database before templates came, for SQLite and PostgreSQL.
const BEFORE_TEMPLATES: [[&str; 3]; 2] = [
    [
        include_str!("../../../migrations/sqlite/0001_spine.sql"),
        include_str!("../../../migrations/sqlite/0002_rank_graph_gates.sql"),
        include_str!("../../../migrations/sqlite/0003_pull_door.sql"),
    ],
    [
        include_str!("../../../migrations/postgres/0001_spine.sql"),
        include_str!("../../../migrations/postgres/0002_rank_graph_gates.sql"),
        include_str!("../../../migrations/postgres/0003_pull_door.sql"),
    ],
];

/// A database as the third version left it, with everything the first one had and a project.
async fn third_version(ctx: &TestStore) -> TestStore {
    let (database, [spine, second, third]) = match &ctx.database {
        Database::Sqlite { .. } => (Database::sqlite(), BEFORE_TEMPLATES[0]),
        Database::Postgres { .. } => (Database::postgres(), BEFORE_TEMPLATES[1]),
    };
    let noted = "CREATE TABLE schema_migration (
         version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL);
       INSERT INTO schema_migration (version, name, applied_at)
       VALUES (1, '0001_spine', 1), (2, '0002_rank_graph_gates', 1), (3, '0003_pull_door', 1);
       INSERT INTO project (id, name, status, health, created_at, updated_at)
       VALUES ('00000000-0000-7000-8000-0000000000e1', 'payments', 'active', 'on_track', 1, 1)";
    database.raw(&format!("{spine};{};{second};{third};{noted}", old_rows())).await.unwrap();
    TestStore::over(database).await
}

pub(crate) async fn a_database_from_before_templates_is_brought_up_to_date(ctx: &TestStore) {
    let old = third_version(ctx).await;
    assert_eq!(old.database.raw_int("SELECT COUNT(*) FROM schema_migration").await, 4);
    for number in 1..=7 {
        let task = old.get(TaskNumber(number)).await;
        assert_eq!((task.labels, task.external_key, task.prompt_broken), (vec![], None, false));
    }
    let running = old.store.read(TaskGet { task: TaskRef::Number(TaskNumber(4)) }).await.unwrap();
    let dispatch = running.dispatch.unwrap();
    assert_eq!((dispatch.version, &dispatch.summary), (None, &None));
    let project = ProjectGet { project: ProjectRef::Name("payments".to_owned()) };
    assert_eq!(old.store.read(project).await.unwrap().project.settings, None);
    // Nothing of the old log is counted, and what comes is.
    let version = old.template("a", TemplateEdit::default()).await;
    old.complete(&Claimed { task: running.task, dispatch }).await;
    let claimed = old.claim_prompted().await;
    assert_eq!(claimed.dispatch.version, Some(version.id));
    old.complete(&claimed).await;
    old.sequence().await;
    assert!(!old.store.write(PromptsCount).await.unwrap());
    let worked = old.version_now(&version).await.1.worked;
    assert_eq!((worked.used, worked.completed, worked.failed), (1, 1, 0));
    old.rerank().await;
    old.audit().await;
}

pub(crate) async fn a_first_version_without_a_line_has_nothing_to_move(ctx: &TestStore) {
    let old = first_version(ctx, "SELECT 1").await;
    let (_, reranking) = old.store.read(RulesRead).await.unwrap();
    assert!(!reranking);
    old.add("t").await;
    old.audit().await;
}
