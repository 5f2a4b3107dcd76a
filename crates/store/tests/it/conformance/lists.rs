//! Lists: filters, pages, totals.

use extraboard_core::clock::Span;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::state::State;
use extraboard_store::verbs::{CountsRead, TaskDraft, TaskFilter, TaskList, TaskPage};

use crate::database::Database;
use crate::harness::TestStore;

async fn list(ctx: &TestStore, filter: TaskFilter) -> TaskPage {
    ctx.store.read(TaskList { filter, after: TaskNumber(0), offset: 0, limit: 100 }).await.unwrap()
}

fn titles(page: &TaskPage) -> Vec<&str> {
    page.tasks.iter().map(|view| view.task.title.as_str()).collect()
}

pub(crate) async fn a_list_is_filtered_by_state_kind_and_priority(ctx: &TestStore) {
    let drafts = [
        ("plan", Kind::Plan, State::Queued, 10),
        ("code", Kind::Code, State::Backlog, 50),
        ("spec", Kind::Spec, State::Triage, 90),
    ];
    for (title, kind, state, points) in drafts {
        let priority = Priority::new(points).unwrap();
        ctx.create(TaskDraft { kind, state, priority, ..TaskDraft::new(title) }).await;
    }
    let claimed = ctx.claim().await;
    let all = list(ctx, TaskFilter::default()).await;
    assert_eq!((titles(&all), all.total, all.total_capped), (vec!["plan", "code", "spec"], 3, false));
    assert_eq!(all.tasks[0].dispatch, Some(claimed.dispatch));
    assert_eq!((all.tasks[1].dispatch.clone(), all.next), (None, None));
    let states = |states: &[State]| TaskFilter { states: states.to_vec(), ..TaskFilter::default() };
    assert_eq!(titles(&list(ctx, states(&[State::Running])).await), ["plan"]);
    assert_eq!(titles(&list(ctx, states(&[State::Triage, State::Backlog])).await), ["code", "spec"]);
    assert_eq!(titles(&list(ctx, states(&[State::Queued])).await), Vec::<&str>::new());
    let kinds = TaskFilter { kinds: vec![Kind::Spec, Kind::Plan], ..TaskFilter::default() };
    assert_eq!(titles(&list(ctx, kinds).await), ["plan", "spec"]);
    let priority = TaskFilter { priority: Some((50, 90)), ..TaskFilter::default() };
    assert_eq!(titles(&list(ctx, priority).await), ["code", "spec"]);
    let both = TaskFilter { kinds: vec![Kind::Spec], priority: Some((1, 50)), ..TaskFilter::default() };
    assert_eq!(list(ctx, both).await.total, 0);
}

pub(crate) async fn pages_by_key_are_stable_under_inserts_and_deletes(ctx: &TestStore) {
    let mut numbers = Vec::new();
    for title in ["a", "b", "c", "d", "e"] {
        numbers.push(ctx.add(title).await.number);
    }
    let page = |after| TaskList { filter: TaskFilter::default(), after, offset: 0, limit: 2 };
    let first = ctx.store.read(page(TaskNumber(0))).await.unwrap();
    assert_eq!((titles(&first), first.next), (vec!["a", "b"], Some(numbers[1])));
    ctx.delete(numbers[0]).await;
    ctx.delete(numbers[1]).await;
    ctx.add("f").await;
    let second = ctx.store.read(page(numbers[1])).await.unwrap();
    assert_eq!((titles(&second), second.next), (vec!["c", "d"], Some(numbers[3])));
    let third = ctx.store.read(page(numbers[3])).await.unwrap();
    assert_eq!((titles(&third), third.next, third.total), (vec!["e", "f"], None, 4));
}

pub(crate) async fn a_page_may_be_asked_for_by_offset(ctx: &TestStore) {
    for title in ["a", "b", "c", "d", "e"] {
        ctx.add(title).await;
    }
    let page = |offset| TaskList { filter: TaskFilter::default(), after: TaskNumber(0), offset, limit: 2 };
    for (offset, expected) in [(0, vec!["a", "b"]), (3, vec!["d", "e"]), (4, vec!["e"]), (5, vec![])] {
        assert_eq!(titles(&ctx.store.read(page(offset)).await.unwrap()), expected, "{offset}");
    }
}

/// Writes many queued tasks and their places in line, faster than one by one.
async fn add_crowd(ctx: &TestStore, tasks: i64) {
    let numbers = match ctx.database {
        Database::Postgres { .. } => format!("generate_series(1, {tasks}) AS n (n)"),
        Database::Sqlite { .. } => format!(
            "(WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {tasks})
              SELECT n FROM n)"
        ),
    };
    let now = ctx.now().as_micros();
    let arrival = ctx.now().minus(Span::from_days(70)).as_micros();
    let sql = format!(
        "INSERT INTO task (id, title, kind, state, priority, doors, max_retries, queued_at, created_at,
           updated_at)
         SELECT '00000000-0000-7000-8000-' || (100000000000 + n), 't', 'task', 'queued', 50, 7, 3, {now},
           {now}, {now}
         FROM {numbers};
         INSERT INTO lane (project, kind, needs, owner, doors) VALUES (0, 'task', '', '', 7);
         INSERT INTO line (task, lane, arrival, queued_at)
         SELECT t.number, n.id, {arrival}, t.queued_at FROM task t CROSS JOIN lane n;
         INSERT INTO line_head (level, arrival) VALUES (0, {arrival});"
    );
    ctx.database.raw(&sql).await.unwrap();
}

pub(crate) async fn totals_are_counted_to_ten_thousand(ctx: &TestStore) {
    let totals = async || {
        let tasks = list(ctx, TaskFilter::default()).await;
        let queue = ctx.store.read(ctx.queueing(9_999, 5)).await.unwrap();
        [(tasks.total, tasks.total_capped), (queue.total, queue.total_capped)]
    };
    add_crowd(ctx, 10_000).await;
    assert_eq!(totals().await, [(10_000, false); 2]);
    ctx.add("one more").await;
    assert_eq!(totals().await, [(10_000, true); 2]);
}

pub(crate) async fn counts_are_of_what_there_is(ctx: &TestStore) {
    for title in ["a", "b", "c"] {
        ctx.add(title).await;
    }
    ctx.claim().await;
    let deleted = ctx.add("d").await;
    ctx.delete(deleted.number).await;
    ctx.sequence().await;
    let counts = ctx.store.read(CountsRead).await.unwrap();
    assert_eq!(counts.states, [(State::Queued, 2), (State::Running, 1)]);
    assert_eq!((counts.line, counts.unclosed, counts.pos.0), (2, 1, 6));
}
