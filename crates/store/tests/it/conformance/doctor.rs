//! The doctor: every kind of damage is found, named and put right.

use extraboard_core::event::EventType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::report::Report;
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{Checked, Doctor, DoctorRepair, TaskDraft, TaskEdit};

use super::blockers::blocked_by;
use crate::harness::{TestStore, below, person};

async fn examine(ctx: &TestStore) -> Checked {
    ctx.store.read(Doctor { after: TaskNumber(0), limit: 1_000 }).await.unwrap()
}

async fn repair(ctx: &TestStore) -> Checked {
    let (after, limit) = (TaskNumber(0), 1_000);
    ctx.store.write(DoctorRepair { ctx: ctx.ctx(person()), after, limit }).await.unwrap()
}

fn told(checked: &Checked) -> Vec<(i64, &'static str)> {
    checked.differences.iter().map(|difference| (difference.task.0, difference.what)).collect()
}

/// Does damage; it must be found and put right, and then there is none.
async fn check_damage(ctx: &TestStore, sql: &str, expected: &[(i64, &'static str)]) {
    ctx.audit().await;
    let line = ctx.queue_titles().await;
    ctx.database.raw(sql).await.unwrap();
    let found = examine(ctx).await;
    assert_eq!(told(&found), expected, "{sql}");
    let repaired = repair(ctx).await;
    assert_eq!(repaired.differences, found.differences, "{sql}");
    assert_eq!(told(&examine(ctx).await), [], "{sql}");
    assert_eq!(told(&repair(ctx).await), [], "{sql}");
    assert_eq!(ctx.queue_titles().await, line, "{sql}");
}

/// One task of each sort: in line, held, with a timer, running, done, parked.
async fn one_of_each(ctx: &TestStore) {
    ctx.create(TaskDraft { boost: 100, ..TaskDraft::new("running") }).await;
    ctx.claim().await;
    let parent = ctx.add("in line").await.number;
    let draft = TaskDraft { gated_by_parent: true, ..below(parent, "held") };
    let blockers = blocked_by(ctx, "", &[TaskNumber(1)]).blocked_by;
    ctx.create(TaskDraft { blocked_by: blockers, ..draft }).await;
    let due = Some(ctx.now().plus(extraboard_core::clock::Span::from_mins(1)));
    ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("later") }).await;
    let done = ctx.add("done").await.number;
    ctx.apply(done, Verb::Close).await;
    ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("parked") }).await;
    ctx.create(TaskDraft { kind: Kind::Code, ..below(TaskNumber(6), "code, in line") }).await;
}

pub(crate) async fn a_healthy_store_has_nothing_to_put_right(ctx: &TestStore) {
    one_of_each(ctx).await;
    let checked = examine(ctx).await;
    assert_eq!((checked.count, checked.next, told(&checked)), (7, None, vec![]));
    let before = ctx.events().await.len();
    assert_eq!(repair(ctx).await, checked);
    assert_eq!(ctx.events().await.len(), before);
}

pub(crate) async fn wrong_counters_are_put_right(ctx: &TestStore) {
    one_of_each(ctx).await;
    let set = |what: &str, task: i64| format!("UPDATE task SET {what} WHERE number = {task}");
    check_damage(ctx, &set("open_blockers = 2", 3), &[(3, "openBlockers")]).await;
    check_damage(ctx, &set("open_blockers = 1", 5), &[(5, "openBlockers")]).await;
    check_damage(ctx, &set("open_blockers = 1", 2), &[(2, "openBlockers")]).await;
    check_damage(ctx, &set("open_blockers = 0", 3), &[(3, "openBlockers")]).await;
    check_damage(ctx, &set("parent_open = 0", 3), &[(3, "parentOpen")]).await;
    check_damage(ctx, &set("parent_open = 1", 4), &[(4, "parentOpen")]).await;
    check_damage(ctx, &set("depth = 5", 7), &[(7, "depth")]).await;
    check_damage(ctx, &set("depth = 1", 4), &[(4, "depth")]).await;
}

pub(crate) async fn wrong_places_are_put_right(ctx: &TestStore) {
    one_of_each(ctx).await;
    let place = |task| [(task, "place")];
    let in_line = |task| {
        format!(
            "INSERT INTO line (task, lane, level, arrival, queued_at) \
             SELECT {task}, lane, level, arrival, queued_at FROM line WHERE task = 2"
        )
    };
    // Missing.
    check_damage(ctx, "DELETE FROM line WHERE task = 2", &place(2)).await;
    check_damage(ctx, "DELETE FROM held WHERE task = 3", &place(3)).await;
    check_damage(ctx, "DELETE FROM timer WHERE task = 4", &place(4)).await;
    // Where it does not belong.
    for task in [1, 3, 4, 5, 6] {
        check_damage(ctx, &in_line(task), &place(task)).await;
    }
    for task in [1, 2, 4, 5, 6] {
        check_damage(ctx, &format!("INSERT INTO held (task) VALUES ({task})"), &place(task)).await;
    }
    for task in [1, 2, 3, 5, 6] {
        check_damage(ctx, &format!("INSERT INTO timer (task, due_at) VALUES ({task}, 9)"), &place(task))
            .await;
    }
    // At the wrong moment, at the wrong rank, in the wrong lane.
    check_damage(ctx, "UPDATE timer SET due_at = due_at + 1", &place(4)).await;
    for column in ["arrival", "level", "queued_at"] {
        let sql = format!("UPDATE line SET {column} = {column} + 1 WHERE task = 2");
        check_damage(ctx, &sql, &place(2)).await;
    }
    let lane = "UPDATE line SET lane = (SELECT l.lane FROM line l WHERE l.task = 7) WHERE task = 2";
    check_damage(ctx, lane, &place(2)).await;
    check_damage(ctx, "UPDATE line SET lane = 999 WHERE task = 2", &place(2)).await;
    check_damage(ctx, "DELETE FROM line", &[(2, "place"), (7, "place")]).await;
    check_damage(ctx, "DELETE FROM line; DELETE FROM lane", &[(2, "place"), (7, "place")]).await;
    let told = ctx.events().await.into_iter().filter(|event| event.event_type == EventType::DoctorRepaired);
    let told: Vec<_> = told.collect();
    assert!(told.len() > 20 && told.iter().all(|event| event.actor == "person:ann"));
    assert!(told[0].data.contains("place is nowhere, expected line"), "{}", told[0].data);
}

pub(crate) async fn places_without_a_task_are_taken_away(ctx: &TestStore) {
    one_of_each(ctx).await;
    let strays = "INSERT INTO line (task, lane, level, arrival, queued_at) VALUES (90, 1, 0, 1, 1);
       INSERT INTO held (task) VALUES (91);
       INSERT INTO timer (task, due_at) VALUES (92, 1), (90, 1)";
    check_damage(ctx, strays, &[(90, "place"), (91, "place"), (92, "place")]).await;
    let count = "SELECT (SELECT COUNT(*) FROM line) + (SELECT COUNT(*) FROM held) \
       + (SELECT COUNT(*) FROM timer)";
    assert_eq!(ctx.database.raw_int(count).await, 4);
}

/// Does damage to what a task says of its dispatch, and has it put right.
async fn check_dispatch(ctx: &TestStore, task: TaskNumber, dispatch: &str) {
    ctx.audit().await;
    let line = ctx.queue_titles().await;
    let sql = format!("UPDATE task SET dispatch = {dispatch} WHERE number = {task}");
    ctx.database.raw(&sql).await.unwrap();
    assert!(told(&examine(ctx).await).contains(&(task.0, "dispatch")));
    repair(ctx).await;
    assert_eq!(told(&examine(ctx).await), []);
    assert_eq!(ctx.queue_titles().await, line);
}

pub(crate) async fn a_dispatch_that_is_not_named_is_named_again(ctx: &TestStore) {
    // Reopened while its dispatch is ending: queued, and not to be handed out yet.
    let task = ctx.add("t").await.number;
    let claimed = ctx.claim().await;
    ctx.apply(task, Verb::Cancel).await;
    ctx.apply(task, Verb::Reopen).await;
    check_dispatch(ctx, task, "NULL").await;
    ctx.complete(&claimed).await;
    assert_eq!(ctx.queue_titles().await, ["t"]);
}

pub(crate) async fn a_dispatch_that_is_closed_is_not_named_any_more(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    let claimed = ctx.claim().await;
    ctx.report(&claimed, Report::Release).await;
    check_dispatch(ctx, task, &format!("'{}'", claimed.dispatch.id)).await;
    assert_eq!(ctx.claim().await.task.number, task);
}

pub(crate) async fn a_wrong_depth_far_up_is_put_right_all_the_way_down(ctx: &TestStore) {
    // Children may have smaller numbers than their parents.
    let tasks = [ctx.add("child").await.number, ctx.add("parent").await.number, ctx.add("top").await.number];
    for pair in tasks.windows(2) {
        let parent = Some(Some(TaskRef::Number(pair[1])));
        ctx.edit(pair[0], TaskEdit { parent, ..TaskEdit::default() }).await;
    }
    for damage in ["depth = 7 WHERE number = 3", "depth = 8 WHERE number >= 2", "depth = 0"] {
        ctx.database.raw(&format!("UPDATE task SET {damage}")).await.unwrap();
        assert!(!examine(ctx).await.differences.is_empty(), "{damage}");
        for _ in 0..3 {
            repair(ctx).await;
        }
        assert_eq!(told(&examine(ctx).await), [], "{damage}");
        let depths =
            [ctx.get(tasks[0]).await.depth, ctx.get(tasks[1]).await.depth, ctx.get(tasks[2]).await.depth];
        assert_eq!(depths, [2, 1, 0], "{damage}");
    }
}

pub(crate) async fn the_doctor_looks_page_by_page(ctx: &TestStore) {
    one_of_each(ctx).await;
    ctx.database.raw("DELETE FROM line; INSERT INTO held (task) VALUES (90)").await.unwrap();
    let mut after = TaskNumber(0);
    let mut pages = Vec::new();
    loop {
        let page = ctx.store.read(Doctor { after, limit: 3 }).await.unwrap();
        pages.push((page.count, told(&page)));
        let Some(next) = page.next else { break };
        after = next;
    }
    assert_eq!(pages, [(3, vec![(2, "place")]), (3, vec![]), (1, vec![(7, "place"), (90, "place")])]);
    // A repair of one page leaves the others alone.
    let page = DoctorRepair { ctx: ctx.ctx(person()), after: TaskNumber(0), limit: 3 };
    ctx.store.write(page).await.unwrap();
    assert_eq!(told(&examine(ctx).await), [(7, "place"), (90, "place")]);
    repair(ctx).await;
}
