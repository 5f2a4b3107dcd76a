//! Cycles: refused when they are written, and named.

use extraboard_core::graph::RelationType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::state::{State, Verb};
use extraboard_store::error::Error;
use extraboard_store::verbs::{RelationDelete, TaskDraft, TaskEdit};

use crate::harness::{TestStore, below, person};

async fn tasks(ctx: &TestStore, count: usize) -> Vec<TaskNumber> {
    let mut numbers = Vec::new();
    for index in 0..count {
        numbers.push(ctx.add(&index.to_string()).await.number);
    }
    numbers
}

fn under(parent: TaskNumber, gated: bool) -> TaskEdit {
    TaskEdit {
        parent: Some(Some(TaskRef::Number(parent))),
        gated_by_parent: Some(gated),
        ..TaskEdit::default()
    }
}

/// Puts a task below another one, or says why not.
async fn set_parent(ctx: &TestStore, task: TaskNumber, edit: TaskEdit) -> Result<(), Error> {
    Box::pin(ctx.store.write(ctx.patching(person(), task, edit, None))).await.map(drop)
}

/// Fails unless this is the refusal of exactly that cycle, and nothing was written.
async fn check_cycle(ctx: &TestStore, refused: Result<(), Error>, expected: &[TaskNumber]) {
    let Err(Error::Cycle(cycle)) = refused else { panic!("{refused:?}") };
    assert_eq!(cycle, expected);
    let named: Vec<_> = expected.iter().map(|number| format!("#{number}")).collect();
    let text = Error::Cycle(cycle).to_string();
    assert_eq!(text, format!("this would make issues wait for themselves: {}", named.join(" → ")));
    ctx.audit().await;
}

pub(crate) async fn a6_a_task_cannot_block_itself(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    for word in RelationType::ALL {
        let refused = ctx.store.write(ctx.relating(task, *word, task)).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field: "relatedIssueId", .. }), "{word}: {refused}");
    }
    check_cycle(ctx, set_parent(ctx, task, under(task, false)).await, &[task, task]).await;
    check_cycle(ctx, set_parent(ctx, task, under(task, true)).await, &[task, task]).await;
    assert_eq!(ctx.get(task).await.parent, None);
}

pub(crate) async fn a6_cycles_of_relations_are_refused_and_named(ctx: &TestStore) {
    for length in [2, 5] {
        let tasks = tasks(ctx, length).await;
        for pair in tasks.windows(2) {
            ctx.block(pair[0], pair[1]).await.unwrap();
        }
        let (first, last) = (tasks[0], tasks[length - 1]);
        let mut cycle = vec![last];
        cycle.extend(&tasks);
        for relation in [
            ctx.relating(first, RelationType::BlockedBy, last),
            ctx.relating(last, RelationType::Blocks, first),
        ] {
            check_cycle(ctx, ctx.store.write(relation).await.map(drop), &cycle).await;
        }
        assert_eq!(ctx.get(first).await.open_blockers, 0);
        // Without one of its parts there is no cycle.
        let middle = ctx.block(tasks[length - 2], last).await.unwrap();
        assert!(middle.existed);
        let relation = middle.related.relation.id;
        ctx.store.write(RelationDelete { ctx: ctx.ctx(person()), relation }).await.unwrap();
        ctx.block(last, first).await.unwrap();
    }
}

pub(crate) async fn a6_a_detour_that_does_not_close_is_not_a_cycle(ctx: &TestStore) {
    let tasks = tasks(ctx, 4).await;
    for (blocker, blocked) in [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (1, 2)] {
        ctx.block(tasks[blocker], tasks[blocked]).await.unwrap();
    }
    assert_eq!(ctx.queue_titles().await, ["0"]);
    for title in ["0", "1", "2", "3"] {
        let claimed = ctx.claim().await;
        assert_eq!(claimed.task.title, title);
        ctx.complete(&claimed).await;
    }
}

pub(crate) async fn l13_cycles_of_parents_are_refused_gated_or_not(ctx: &TestStore) {
    for (length, gated) in [(2, false), (2, true), (5, false), (5, true)] {
        let tasks = tasks(ctx, length).await;
        for pair in tasks.windows(2) {
            set_parent(ctx, pair[1], under(pair[0], gated)).await.unwrap();
        }
        let (first, last) = (tasks[0], tasks[length - 1]);
        let mut cycle = vec![first];
        cycle.extend(&tasks[1..]);
        cycle.push(first);
        check_cycle(ctx, set_parent(ctx, first, under(last, gated)).await, &cycle).await;
        assert_eq!(ctx.get(first).await.parent, None);
        assert_eq!(ctx.get(last).await.depth, i64::try_from(length).unwrap() - 1);
    }
}

pub(crate) async fn a6_cycles_of_relations_and_gating_parents_are_refused(ctx: &TestStore) {
    let tasks = tasks(ctx, 4).await;
    set_parent(ctx, tasks[1], under(tasks[0], true)).await.unwrap();
    ctx.block(tasks[1], tasks[2]).await.unwrap();
    set_parent(ctx, tasks[3], under(tasks[2], true)).await.unwrap();
    let closing = ctx.block(tasks[3], tasks[0]).await.map(drop);
    check_cycle(ctx, closing, &[tasks[3], tasks[0], tasks[1], tasks[2], tasks[3]]).await;
    // The other part of it may be the last one, too.
    let child = ctx.add("child").await.number;
    ctx.block(child, tasks[0]).await.unwrap();
    let closing = set_parent(ctx, child, under(tasks[3], true)).await;
    let cycle = [tasks[3], child, tasks[0], tasks[1], tasks[2], tasks[3]];
    check_cycle(ctx, closing, &cycle).await;
    assert_eq!(ctx.get(child).await.parent, None);
}

pub(crate) async fn a6_a_parent_that_does_not_gate_makes_no_cycle_until_it_does(ctx: &TestStore) {
    let [parent, child] = [ctx.add("parent").await.number, ctx.add("child").await.number];
    set_parent(ctx, child, under(parent, false)).await.unwrap();
    ctx.block(child, parent).await.unwrap();
    assert_eq!(ctx.queue_titles().await, ["child"]);
    let gate = TaskEdit { gated_by_parent: Some(true), ..TaskEdit::default() };
    check_cycle(ctx, set_parent(ctx, child, gate).await, &[parent, child, parent]).await;
    assert!(!ctx.get(child).await.gated_by_parent);
    // A child that waits for what it blocks cannot be made either.
    let gated = TaskDraft { gated_by_parent: true, ..below(parent, "gated") };
    let gated = ctx.create(gated).await.number;
    check_cycle(ctx, ctx.block(gated, parent).await.map(drop), &[gated, parent, gated]).await;
}

pub(crate) async fn a6_what_may_come_back_still_counts_and_what_is_deleted_does_not(ctx: &TestStore) {
    let tasks = tasks(ctx, 3).await;
    ctx.block(tasks[0], tasks[1]).await.unwrap();
    ctx.block(tasks[1], tasks[2]).await.unwrap();
    // A canceled blocker does not hold, but it can be reopened.
    ctx.apply(tasks[1], Verb::Cancel).await;
    let closing = ctx.block(tasks[2], tasks[0]).await.map(drop);
    check_cycle(ctx, closing, &[tasks[2], tasks[0], tasks[1], tasks[2]]).await;
    ctx.delete(tasks[1]).await;
    ctx.block(tasks[2], tasks[0]).await.unwrap();
    assert_eq!(ctx.queue_titles().await, ["2"]);
    assert_eq!(ctx.get(tasks[0]).await.state, State::Queued);
}
