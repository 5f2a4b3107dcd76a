//! Parents: what gated children wait for, and how deep and wide a tree may be.

use extraboard_core::event::EventType;
use extraboard_core::graph::{CHILDREN_MAX, DEPTH_MAX};
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::report::FailureClass;
use extraboard_core::state::{State, Verb};
use extraboard_core::task::Place;
use extraboard_core::why::{Obstacle, Verdict};
use extraboard_store::error::Error;
use extraboard_store::verbs::{TaskDraft, TaskEdit, TaskRelatives};

use super::rank::ladder;
use crate::harness::{TestStore, below, person};

fn gated(parent: TaskNumber, title: &str) -> TaskDraft {
    TaskDraft { gated_by_parent: true, ..below(parent, title) }
}

fn gate(gated: bool) -> TaskEdit {
    TaskEdit { gated_by_parent: Some(gated), ..TaskEdit::default() }
}

fn under(parent: Option<TaskNumber>) -> TaskEdit {
    TaskEdit { parent: Some(parent.map(TaskRef::Number)), ..TaskEdit::default() }
}

async fn place(ctx: &TestStore, number: TaskNumber) -> Place {
    ctx.get(number).await.place()
}

pub(crate) async fn l5_a_gated_child_waits_for_its_parent(ctx: &TestStore) {
    let parent = ctx.add("parent").await.number;
    let child = ctx.create(gated(parent, "child")).await.number;
    let grandchild = ctx.create(gated(child, "grandchild")).await.number;
    ctx.create(below(parent, "ungated")).await;
    assert_eq!(ctx.queue_titles().await, ["parent", "ungated"]);
    let claimed = ctx.claim().await;
    assert_eq!([place(ctx, child).await, place(ctx, grandchild).await], [Place::Held; 2]);
    ctx.complete(&claimed).await;
    assert_eq!(ctx.queue_titles().await, ["child", "ungated"]);
    let claimed = ctx.claim().await;
    assert_eq!(claimed.task.number, child);
    ctx.complete(&claimed).await;
    assert_eq!(ctx.queue_titles().await, ["grandchild", "ungated"]);
    let freed = ctx.events().await.into_iter().filter(|event| event.event_type == EventType::TaskFreed);
    assert_eq!(freed.map(|event| event.task.unwrap()).collect::<Vec<_>>(), [child, grandchild]);
}

pub(crate) async fn l5_a_gated_task_without_a_parent_waits_for_nothing(ctx: &TestStore) {
    let task = ctx.create(TaskDraft { gated_by_parent: true, ..TaskDraft::new("t") }).await;
    assert_eq!((task.parent_open, task.place()), (false, Place::Line));
    let done = ctx.add("done").await.number;
    ctx.apply(done, Verb::Close).await;
    let child = ctx.create(gated(done, "child of what is done")).await;
    assert_eq!((child.parent_open, child.depth, child.place()), (false, 1, Place::Line));
    let refused = ctx.store.write(ctx.creation(gated(TaskNumber(99), "t"))).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "parentId", .. }), "{refused}");
}

pub(crate) async fn l5_the_gate_can_be_turned_on_and_off(ctx: &TestStore) {
    let parent = ctx.add("parent").await.number;
    let child = ctx.create(gated(parent, "child")).await.number;
    for _ in 0..2 {
        ctx.edit(child, gate(false)).await;
        assert_eq!(ctx.queue_titles().await, ["parent", "child"]);
        ctx.edit(child, gate(true)).await;
        assert_eq!(ctx.queue_titles().await, ["parent"]);
        ctx.audit().await;
    }
    ctx.edit(child, gate(false)).await;
    ctx.complete(&ctx.claim().await).await;
    ctx.edit(child, gate(true)).await;
    assert_eq!(ctx.queue_titles().await, ["child"]);
    ctx.apply(parent, Verb::Reopen).await;
    assert_eq!(ctx.queue_titles().await, ["parent"]);
    ctx.edit(child, gate(false)).await;
    assert_eq!(ctx.queue_titles().await, ["parent", "child"]);
}

pub(crate) async fn l5_another_parent_holds_or_frees(ctx: &TestStore) {
    let [open, done] = [ctx.add("open").await.number, ctx.add("done").await.number];
    ctx.apply(done, Verb::Close).await;
    let child = ctx.create(gated(open, "child")).await.number;
    for (parent, expected) in
        [(Some(done), Place::Line), (Some(open), Place::Held), (None, Place::Line), (Some(open), Place::Held)]
    {
        let edited = ctx.edit(child, under(parent)).await;
        assert_eq!((edited.parent, edited.place()), (parent, expected));
        ctx.audit().await;
    }
    // What happens to a former parent does not matter any more.
    ctx.edit(child, under(Some(done))).await;
    ctx.complete(&ctx.claim().await).await;
    ctx.apply(open, Verb::Reopen).await;
    assert_eq!(place(ctx, child).await, Place::Line);
    let relatives = ctx.store.read(TaskRelatives { task: TaskRef::Number(child) }).await.unwrap();
    assert_eq!(relatives.parent.map(|parent| parent.number), Some(done));
}

/// Fails unless a child cannot ever start, because of that parent.
async fn check_impossible(ctx: &TestStore, child: TaskNumber, obstacle: Obstacle) {
    assert_eq!(place(ctx, child).await, Place::Held);
    let why = ctx.why(child, None).await;
    assert_eq!((why.verdict, why.obstacles), (Verdict::Impossible, vec![obstacle]));
    ctx.audit().await;
}

pub(crate) async fn l12_a_parent_that_cannot_be_done_makes_its_children_impossible(ctx: &TestStore) {
    let parent = ctx.create(TaskDraft { max_retries: 0, ..TaskDraft::new("parent") }).await.number;
    let child = ctx.create(gated(parent, "child")).await.number;
    let in_state = |state| Obstacle::Parent { number: parent, state, deleted: false };
    assert_eq!(ctx.why(child, None).await.obstacles, [in_state(State::Queued)]);
    for (class, state) in
        [(FailureClass::ExecutionFailed, State::Failed), (FailureClass::AttemptTimeout, State::TimedOut)]
    {
        ctx.fail(&ctx.claim().await, class).await;
        let obstacle = in_state(state);
        assert_eq!(obstacle.detail(), format!("its parent #{parent} is {state}"));
        check_impossible(ctx, child, obstacle).await;
        ctx.apply(parent, Verb::Retry).await;
        assert_eq!(ctx.why(child, None).await.verdict, Verdict::Held);
    }
    ctx.apply(parent, Verb::Cancel).await;
    check_impossible(ctx, child, in_state(State::Canceled)).await;
    ctx.apply(parent, Verb::Reopen).await;
    ctx.delete(parent).await;
    let deleted = Obstacle::Parent { number: parent, state: State::Canceled, deleted: true };
    assert_eq!(deleted.detail(), format!("its parent #{parent} was deleted"));
    check_impossible(ctx, child, deleted).await;
    ctx.edit(child, under(None)).await;
    assert_eq!(ctx.queue_titles().await, ["child"]);
}

pub(crate) async fn l12_a_parent_that_is_deleted_when_it_was_done_holds_again(ctx: &TestStore) {
    let parent = ctx.add("parent").await.number;
    let [child, ungated] =
        [ctx.create(gated(parent, "child")).await.number, ctx.create(below(parent, "ungated")).await.number];
    ctx.complete(&ctx.claim().await).await;
    ctx.delete(parent).await;
    let obstacle = Obstacle::Parent { number: parent, state: State::Done, deleted: true };
    check_impossible(ctx, child, obstacle).await;
    assert_eq!(ctx.queue_titles().await, ["ungated"]);
    assert_eq!(ctx.why(ungated, None).await.verdict, Verdict::Next);
    ctx.edit(child, gate(false)).await;
    assert_eq!(ctx.queue_titles().await, ["child", "ungated"]);
}

pub(crate) async fn a_tree_is_at_most_8_levels_deep(ctx: &TestStore) {
    let ladder = ladder(ctx, 9).await;
    assert_eq!(ctx.get(ladder[8]).await.depth, DEPTH_MAX);
    let too_deep = |result: Result<(), Error>| {
        let refused = result.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field: "parentId", .. }), "{refused}");
        assert!(refused.to_string().contains("at most 8 levels"), "{refused}");
    };
    too_deep(ctx.store.write(ctx.creation(below(ladder[8], "ninth"))).await.map(drop));
    // A whole tree is moved, or nothing of it.
    let top = ctx.add("top").await.number;
    let child = ctx.create(below(top, "child")).await.number;
    let patch = |parent| ctx.patching(person(), top, under(Some(parent)), None);
    too_deep(ctx.store.write(patch(ladder[7])).await.map(drop));
    assert_eq!((ctx.get(top).await.parent, ctx.get(child).await.depth), (None, 1));
    ctx.store.write(patch(ladder[6])).await.unwrap();
    assert_eq!(ctx.get(child).await.depth, DEPTH_MAX);
}

pub(crate) async fn children_of_a_task_are_limited(ctx: &TestStore) {
    let parent = ctx.add("parent").await.number;
    let child = ctx.create(below(parent, "child")).await.number;
    let other = ctx.add("other").await.number;
    let many = format!(
        "INSERT INTO task (number, id, title, kind, state, priority, doors, max_retries, created_at, updated_at,
             parent, depth)
           WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {CHILDREN_MAX} - 1)
           SELECT 100000 + n, '00000000-0000-7000-8000-' || (100000000000 + n), 't', 'task', 'done', 50, 7, 3,
             1, 1, {parent}, 1 FROM s"
    );
    ctx.database.raw(&many).await.unwrap();
    let created = ctx.store.write(ctx.creation(below(parent, "one too many"))).await;
    let moved = ctx.store.write(ctx.patching(person(), other, under(Some(parent)), None)).await;
    // Whoever is there already may stay.
    let same = ctx.store.write(ctx.patching(person(), child, under(Some(parent)), None)).await;
    ctx.database.raw("DELETE FROM task WHERE number > 100000").await.unwrap();
    for refused in [created.map(drop), moved.map(drop)] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field: "parentId", .. }), "{refused}");
        assert!(refused.to_string().contains("10000 children"), "{refused}");
    }
    same.unwrap();
}
