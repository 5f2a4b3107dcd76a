//! Moving a task to one side of another, by the smallest change of its points.

use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::project::ProjectStatus;
use extraboard_core::state::Verb;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ProjectEdit, ProjectRef, Side, TaskBump, TaskDraft, TaskReorder, TaskReordered,
};

use super::rank::depth_first;
use crate::harness::{TestStore, person};

async fn reorder(
    ctx: &TestStore,
    task: TaskNumber,
    side: Side,
    other: TaskNumber,
) -> Result<TaskReordered, Error> {
    let (task, other) = (TaskRef::Number(task), TaskRef::Number(other));
    ctx.store.write(TaskReorder { ctx: ctx.ctx(person()), task, side, other }).await
}

/// Moves a task; returns its boost and place.
async fn placed(ctx: &TestStore, task: TaskNumber, side: Side, other: TaskNumber) -> (i64, Option<i64>) {
    let moved = reorder(ctx, task, side, other).await.unwrap();
    (moved.task.boost, moved.position)
}

async fn add(ctx: &TestStore, title: &str, points: i64) -> TaskNumber {
    let priority = Priority::new(points).unwrap();
    ctx.create(TaskDraft { priority, ..TaskDraft::new(title) }).await.number
}

pub(crate) async fn a_task_moves_by_as_few_points_as_it_takes(ctx: &TestStore) {
    let [high, middle, low] =
        [add(ctx, "high", 90).await, add(ctx, "middle", 50).await, add(ctx, "low", 10).await];
    // At 40 points more it would tie with what came in earlier.
    assert_eq!(placed(ctx, low, Side::Before, middle).await, (41, Some(2)));
    assert_eq!(ctx.queue_titles().await, ["high", "low", "middle"]);
    // A tie is enough for what came in first.
    assert_eq!(placed(ctx, high, Side::After, low).await, (-40, Some(2)));
    assert_eq!(ctx.queue_titles().await, ["low", "high", "middle"]);
    assert_eq!(placed(ctx, middle, Side::Before, low).await, (1, Some(1)));
    assert_eq!(placed(ctx, low, Side::After, high).await, (40, Some(3)));
    assert_eq!(ctx.queue_titles().await, ["middle", "high", "low"]);
    for title in ["middle", "high", "low"] {
        assert_eq!(ctx.claim().await.task.title, title);
    }
}

pub(crate) async fn a_task_that_stands_right_is_not_touched(ctx: &TestStore) {
    let [high, low] = [add(ctx, "high", 90).await, add(ctx, "low", 10).await];
    let before = ctx.get(high).await;
    ctx.pass(Span::from_secs(1));
    assert_eq!(placed(ctx, high, Side::Before, low).await, (0, Some(1)));
    assert_eq!(placed(ctx, low, Side::After, high).await, (0, Some(2)));
    assert_eq!(ctx.get(high).await, before);
    let edited = |event: &&extraboard_store::verbs::Event| event.event_type == EventType::TaskEdited;
    assert_eq!(ctx.events().await.iter().filter(edited).count(), 0);
}

pub(crate) async fn a_move_goes_by_the_age_both_have_now(ctx: &TestStore) {
    depth_first(ctx).await;
    let plan = ctx.create(TaskDraft { kind: Kind::Plan, ..TaskDraft::new("plan") }).await.number;
    ctx.pass(Span::from_mins(110));
    let code = ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("code") }).await.number;
    ctx.create(TaskDraft { kind: Kind::Phase, ..TaskDraft::new("phase") }).await;
    // 40 + 50 + 1 against 100.
    assert_eq!(placed(ctx, plan, Side::Before, code).await, (9, Some(1)));
    assert_eq!(ctx.queue_titles().await, ["plan", "code", "phase"]);
    assert_eq!(placed(ctx, plan, Side::After, code).await, (8, Some(2)));
    assert_eq!(ctx.queue_titles().await, ["code", "plan", "phase"]);
    assert_eq!(ctx.claim().await.task.title, "code");
    assert_eq!(ctx.claim().await.task.title, "plan");
}

pub(crate) async fn a_place_is_counted_in_the_whole_line(ctx: &TestStore) {
    let project = ctx.project("paused").await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("paused") };
    ctx.create(TaskDraft { priority: Priority::new(100).unwrap(), ..draft }).await;
    let [high, low] = [add(ctx, "high", 90).await, add(ctx, "low", 10).await];
    assert_eq!(placed(ctx, low, Side::After, high).await, (0, Some(3)));
    let paused = ProjectEdit { status: Some(ProjectStatus::Paused), ..ProjectEdit::default() };
    ctx.edit_project(&project, paused).await;
    assert_eq!(placed(ctx, low, Side::After, high).await, (0, Some(3)));
}

pub(crate) async fn a_move_needs_two_different_tasks_in_line(ctx: &TestStore) {
    let task = ctx.add("in line").await.number;
    let held = {
        let blocked_by = vec![(ctx.relation_id(), TaskRef::Number(task))];
        ctx.create(TaskDraft { blocked_by, ..TaskDraft::new("held") }).await.number
    };
    let due = Some(ctx.now().plus(Span::from_secs(1)));
    let later = ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("later") }).await.number;
    let parked = ctx.add("parked").await.number;
    ctx.apply(parked, Verb::Park).await;
    for other in [held, later, parked] {
        for (moved, side, other) in [(task, Side::Before, other), (other, Side::After, task)] {
            let refused = reorder(ctx, moved, side, other).await.unwrap_err();
            let Error::NotWaiting(TaskRef::Number(named)) = refused else { panic!("{refused}") };
            assert_ne!(named, task);
        }
    }
    for (side, word) in [(Side::Before, "before"), (Side::After, "after")] {
        let same = reorder(ctx, task, side, task).await.unwrap_err();
        assert!(matches!(same, Error::Invalid { field, .. } if field == word), "{same}");
        let missing = reorder(ctx, task, side, TaskNumber(99)).await.unwrap_err();
        assert!(matches!(missing, Error::Invalid { field, .. } if field == word), "{missing}");
        let missing = reorder(ctx, TaskNumber(99), side, task).await.unwrap_err();
        assert!(matches!(missing, Error::NoTask(_)), "{missing}");
    }
    assert_eq!(ctx.get(task).await.boost, 0);
}

pub(crate) async fn a_move_that_takes_too_many_points_is_refused(ctx: &TestStore) {
    let [one, other] = [add(ctx, "one", 50).await, add(ctx, "other", 50).await];
    let bump = TaskBump { ctx: ctx.ctx(person()), task: TaskRef::Number(one), by: 10_000 };
    ctx.store.write(bump).await.unwrap();
    let refused = reorder(ctx, other, Side::Before, one).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "before", .. }), "{refused}");
    assert_eq!(refused.to_string(), "before: this takes a boost beyond 10000");
    assert_eq!(ctx.get(other).await.boost, 0);
    // From the other side it is possible.
    assert_eq!(placed(ctx, one, Side::After, other).await, (-1, Some(2)));
}
