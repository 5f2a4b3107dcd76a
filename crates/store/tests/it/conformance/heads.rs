//! Heads: claims start where the line begins, and that never hides anybody.

use extraboard_core::clock::Span;
use extraboard_core::gate::Nothing;
use extraboard_core::id::TaskRef;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::GoalStatus;
use extraboard_core::report::Report;
use extraboard_core::state::Verb;
use extraboard_store::verbs::{
    DoctorRepair, GoalEdit, GoalPatch, HeadAdvance, ProjectRef, Side, TaskBump, TaskDraft, TaskReorder,
};

use super::rank::depth_first;
use crate::harness::{TestStore, person};

async fn move_on(ctx: &TestStore) {
    ctx.store.write(HeadAdvance).await.unwrap();
    ctx.audit().await;
}

fn draft(title: &str, points: i64) -> TaskDraft {
    TaskDraft { priority: Priority::new(points).unwrap(), ..TaskDraft::new(title) }
}

/// Moves the heads on, then fails unless claims find a task at the head.
async fn check_head(ctx: &TestStore, title: &str) {
    assert_eq!(ctx.queue_titles().await.first().map(String::as_str), Some(title));
    ctx.audit().await;
    let claimed = ctx.claim().await;
    assert_eq!(claimed.task.title, title);
    ctx.report(&claimed, Report::Release).await;
    move_on(ctx).await;
}

pub(crate) async fn whatever_gets_ahead_of_the_head_is_found(ctx: &TestStore) {
    ctx.create(draft("first", 50)).await;
    let second = ctx.create(draft("second", 40)).await.number;
    let third = ctx.create(draft("third", 30)).await.number;
    move_on(ctx).await;
    check_head(ctx, "first").await;
    ctx.create(draft("urgent", 100)).await;
    check_head(ctx, "urgent").await;
    let bump = TaskBump { ctx: ctx.ctx(person()), task: TaskRef::Number(second), by: 90 };
    ctx.store.write(bump).await.unwrap();
    check_head(ctx, "second").await;
    let (task, other) = (TaskRef::Number(third), TaskRef::Number(second));
    let reorder = TaskReorder { ctx: ctx.ctx(person()), task, side: Side::Before, other };
    ctx.store.write(reorder).await.unwrap();
    check_head(ctx, "third").await;
    ctx.apply(third, Verb::Park).await;
    move_on(ctx).await;
    check_head(ctx, "second").await;
    ctx.apply(third, Verb::Admit).await;
    check_head(ctx, "third").await;
}

pub(crate) async fn what_comes_due_or_is_freed_ahead_of_the_head_is_found(ctx: &TestStore) {
    let blocker = ctx.create(draft("blocker", 50)).await.number;
    let due = Some(ctx.now().plus(Span::from_mins(1)));
    ctx.create(TaskDraft { not_before: due, ..draft("due", 99) }).await;
    let blocked_by = vec![(ctx.relation_id(), TaskRef::Number(blocker))];
    ctx.create(TaskDraft { blocked_by, ..draft("freed", 100) }).await;
    move_on(ctx).await;
    ctx.pass(Span::from_mins(1));
    // The claim itself lets it join the line.
    let claimed = ctx.claim().await;
    assert_eq!(claimed.task.title, "due");
    ctx.complete(&claimed).await;
    move_on(ctx).await;
    ctx.complete(&ctx.claim().await).await;
    check_head(ctx, "freed").await;
}

pub(crate) async fn a_line_that_was_empty_begins_anew(ctx: &TestStore) {
    for profile in ProfileName::ALL {
        ctx.profile(Profile::shipped(*profile)).await;
        for _ in 0..2 {
            move_on(ctx).await;
            assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Empty);
            let task = ctx.add("t").await.number;
            check_head(ctx, "t").await;
            ctx.delete(task).await;
        }
    }
}

pub(crate) async fn each_level_has_a_head_of_its_own(ctx: &TestStore) {
    depth_first(ctx).await;
    for kind in [Kind::Plan, Kind::Phase, Kind::Code] {
        ctx.create(TaskDraft { kind, ..TaskDraft::new(kind.as_str()) }).await;
    }
    move_on(ctx).await;
    check_head(ctx, "code").await;
    // In one level the older one is ahead, though it comes in later.
    let old = ctx.create(TaskDraft { kind: Kind::Signal, ..TaskDraft::new("old") }).await.number;
    ctx.apply(old, Verb::Park).await;
    ctx.pass(Span::from_mins(10));
    ctx.create(TaskDraft { kind: Kind::Spec, boost: 50, ..TaskDraft::new("young spec") }).await;
    move_on(ctx).await;
    let queue = ["code", "young spec", "phase", "plan"];
    assert_eq!(ctx.queue_titles().await, queue);
    ctx.apply(old, Verb::Admit).await;
    let bump = TaskBump { ctx: ctx.ctx(person()), task: TaskRef::Number(old), by: 51 };
    ctx.store.write(bump).await.unwrap();
    assert_eq!(ctx.queue_titles().await, ["old", "code", "young spec", "phase", "plan"]);
    for title in ["old", "code", "young spec", "phase", "plan"] {
        assert_eq!(ctx.claim().await.task.title, title);
        move_on(ctx).await;
    }
}

pub(crate) async fn a_re_rank_takes_the_heads_along(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let goal = ctx.goal(&project).await;
    ctx.create(draft("other", 60)).await;
    ctx.create(TaskDraft { project: Some(ProjectRef::Id(project.id)), ..draft("of the project", 50) }).await;
    move_on(ctx).await;
    for (status, head) in [(GoalStatus::Achieved, "other"), (GoalStatus::Active, "of the project")] {
        let edit = GoalEdit { status: Some(status), ..GoalEdit::default() };
        ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal: goal.id, edit }).await.unwrap();
        ctx.rerank().await;
        check_head(ctx, head).await;
    }
    for name in [ProfileName::DepthFirst, ProfileName::Pipeline] {
        ctx.profile(Profile::shipped(name)).await;
        let queue = ctx.queue_titles().await;
        assert_eq!(queue.len(), 2);
        check_head(ctx, &queue[0]).await;
    }
}

pub(crate) async fn a_head_that_is_too_far_on_is_put_right(ctx: &TestStore) {
    for damage in ["UPDATE line_head SET arrival = arrival + 1", "DELETE FROM line_head"] {
        let task = ctx.add("t").await.number;
        ctx.database.raw(damage).await.unwrap();
        assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Empty, "{damage}");
        let (after, limit) = (extraboard_core::id::TaskNumber(0), 10);
        let repair = DoctorRepair { ctx: ctx.ctx(person()), after, limit };
        let found = ctx.store.write(repair).await.unwrap().differences;
        assert_eq!(found.iter().map(|one| (one.task, one.what)).collect::<Vec<_>>(), [(task, "place")]);
        ctx.audit().await;
        assert_eq!(ctx.claim().await.task.number, task, "{damage}");
    }
}
