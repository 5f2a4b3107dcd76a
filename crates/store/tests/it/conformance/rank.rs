//! Rank: what a score is made of, with real parents, failures, goals and time.

use extraboard_core::clock::Span;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Profile, ProfileName, Score};
use extraboard_core::project::GoalStatus;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{GoalEdit, GoalPatch, ProjectRef, TaskBump, TaskDraft, TaskEdit};

use crate::harness::{TestStore, below, person};

/// Makes a line of tasks that wait for nothing, each below the one before.
pub(crate) async fn ladder(ctx: &TestStore, levels: usize) -> Vec<TaskNumber> {
    let mut ladder: Vec<TaskNumber> = Vec::new();
    for level in 0..levels {
        let title = format!("level {level}");
        let draft = match ladder.last() {
            Some(parent) => below(*parent, &title),
            None => TaskDraft::new(title),
        };
        ladder.push(ctx.create(TaskDraft { state: State::Backlog, ..draft }).await.number);
    }
    ladder
}

pub(crate) async fn depth_first(ctx: &TestStore) {
    ctx.profile(Profile::shipped(ProfileName::DepthFirst)).await;
}

/// Adds the parts of a score one by one.
fn sum(score: &Score) -> i64 {
    [
        score.priority_weight,
        score.boost,
        score.type_bonus,
        score.goal_bonus,
        score.age_bonus,
        score.patience,
        score.depth_bonus,
        score.retry_penalty,
    ]
    .iter()
    .sum()
}

/// Returns the parts of a waiting task's score, as queue and why show them.
async fn score_of(ctx: &TestStore, task: TaskNumber) -> Score {
    let shown = ctx.why(task, None).await.score.unwrap();
    assert_eq!(sum(&shown), shown.total());
    if let Some(entry) = ctx.entries().await.iter().find(|entry| entry.task.number == task) {
        assert_eq!(entry.score, shown);
    }
    shown
}

async fn totals(ctx: &TestStore) -> Vec<(String, i64)> {
    ctx.entries().await.into_iter().map(|entry| (entry.task.title, entry.score.total())).collect()
}

pub(crate) async fn a9_the_parts_of_a_pipeline_score_are_what_the_seed_says(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let goal = ctx.goal(&project).await;
    let draft = TaskDraft {
        kind: Kind::Signal,
        priority: Priority::new(75).unwrap(),
        boost: 5,
        project: Some(ProjectRef::Id(project.id)),
        ..TaskDraft::new("signal")
    };
    let task = ctx.create(draft).await.number;
    ctx.pass(Span::from_mins(3 * 24 * 60 + 23 * 60));
    let expected = Score {
        priority_weight: 75,
        boost: 5,
        type_bonus: 50,
        goal_bonus: 20,
        age_bonus: 3,
        ..Score::default()
    };
    assert_eq!(score_of(ctx, task).await, expected);
    assert_eq!(expected.total(), 153);
    let edit = GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
    ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal: goal.id, edit }).await.unwrap();
    assert_eq!(score_of(ctx, task).await, Score { goal_bonus: 0, ..expected });
}

pub(crate) async fn a9_an_active_goal_is_worth_20_points_in_line(ctx: &TestStore) {
    let [with, without] = [ctx.project("with").await, ctx.project("without").await];
    let draft = |project: &extraboard_core::project::Project, points| TaskDraft {
        priority: Priority::new(points).unwrap(),
        project: Some(ProjectRef::Id(project.id)),
        ..TaskDraft::new(format!("{} {points}", project.name))
    };
    for points in [30, 50] {
        ctx.create(draft(&with, points)).await;
    }
    for points in [49, 51] {
        ctx.create(draft(&without, points)).await;
    }
    let off = ["without 51", "with 50", "without 49", "with 30"];
    assert_eq!(ctx.queue_titles().await, off);
    let goal = ctx.goal(&with).await;
    ctx.rerank().await;
    assert_eq!(ctx.queue_titles().await, ["with 50", "without 51", "with 30", "without 49"]);
    for (status, bonus) in [(GoalStatus::Abandoned, 0), (GoalStatus::Active, 20), (GoalStatus::Achieved, 0)] {
        let edit = GoalEdit { status: Some(status), ..GoalEdit::default() };
        ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal: goal.id, edit }).await.unwrap();
        ctx.rerank().await;
        let entries = ctx.entries().await;
        let of_project = entries.iter().filter(|entry| entry.task.project == Some(with.number));
        assert!(of_project.clone().all(|entry| entry.score.goal_bonus == bonus), "{status}");
        assert_eq!(of_project.count(), 2);
    }
    assert_eq!(ctx.queue_titles().await, off);
}

pub(crate) async fn a9_the_parts_of_a_depth_first_score_are_what_the_seed_says(ctx: &TestStore) {
    depth_first(ctx).await;
    let ladder = ladder(ctx, 2).await;
    let draft = TaskDraft { kind: Kind::Code, boost: 7, ..below(ladder[1], "code") };
    let task = ctx.create(draft).await.number;
    ctx.fail(&ctx.claim().await, FailureClass::Crash).await;
    ctx.pass(Span::from_mins(50 + 2 * 60 + 59));
    ctx.advance().await;
    let expected = Score {
        priority_weight: 0,
        boost: 7,
        type_bonus: 100,
        goal_bonus: 0,
        age_bonus: 50,
        patience: 2,
        depth_bonus: 20,
        retry_penalty: -5,
    };
    assert_eq!(score_of(ctx, task).await, expected);
    assert_eq!(expected.total(), 174);
}

pub(crate) async fn l1_the_worked_example_is_135_130_111(ctx: &TestStore) {
    use FailureClass::{AttemptTimeout, Crash, ExecutionFailed};
    depth_first(ctx).await;
    let ladder = ladder(ctx, 3).await;
    let code = |title| TaskDraft { kind: Kind::Code, ..below(ladder[2], title) };
    let failed = ctx.create(code("failed four times")).await.number;
    for class in [Crash, ExecutionFailed, AttemptTimeout, Crash] {
        ctx.fail(&ctx.claim().await, class).await;
        ctx.pass(Span::from_mins(15));
    }
    ctx.apply(failed, Verb::Park).await;
    ctx.create(TaskDraft { kind: Kind::Phase, ..below(ladder[1], "30 minutes") }).await;
    ctx.pass(Span::from_mins(25));
    ctx.create(code("5 minutes")).await;
    ctx.pass(Span::from_mins(4));
    ctx.apply(failed, Verb::Admit).await;
    ctx.pass(Span::from_mins(1));
    let expected = [("5 minutes", 135), ("30 minutes", 130), ("failed four times", 111)];
    assert_eq!(totals(ctx).await, expected.map(|(title, total)| (title.to_owned(), total)));
    for (title, _) in expected {
        assert_eq!(ctx.claim().await.task.title, title);
    }
}

pub(crate) async fn l2_the_penalty_for_failures_is_at_most_30(ctx: &TestStore) {
    depth_first(ctx).await;
    let draft = TaskDraft { kind: Kind::Code, max_retries: 100, ..TaskDraft::new("code") };
    let task = ctx.create(draft).await.number;
    let mut penalties = Vec::new();
    for class in [FailureClass::Crash, FailureClass::AttemptTimeout, FailureClass::ExecutionFailed]
        .into_iter()
        .chain([FailureClass::ExecutionFailed; 5])
    {
        ctx.fail(&ctx.claim().await, class).await;
        penalties.push(score_of(ctx, task).await.retry_penalty);
        ctx.pass(Span::from_mins(15));
    }
    assert_eq!(penalties, [-5, -10, -15, -20, -25, -30, -30, -30]);
    // What is not the task's own failure costs nothing.
    ctx.report(&ctx.claim().await, Report::Release).await;
    assert_eq!(score_of(ctx, task).await.retry_penalty, -30);
    ctx.complete(&ctx.claim().await).await;
    ctx.apply(task, Verb::Reopen).await;
    assert_eq!(score_of(ctx, task).await.retry_penalty, 0);
}

pub(crate) async fn l2_a_failure_moves_a_task_back_in_line(ctx: &TestStore) {
    depth_first(ctx).await;
    for title in ["first", "second"] {
        ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new(title) }).await;
    }
    let [first, second] = [ctx.claim().await, ctx.claim().await];
    ctx.fail(&first, FailureClass::ExecutionFailed).await;
    ctx.report(&second, Report::Release).await;
    ctx.pass(Span::from_mins(1));
    ctx.advance().await;
    assert_eq!(totals(ctx).await, [("second".to_owned(), 101), ("first".to_owned(), 96)]);
}

pub(crate) async fn l3_age_gives_at_most_50_and_then_patience_a_point_an_hour(ctx: &TestStore) {
    depth_first(ctx).await;
    let task = ctx.create(TaskDraft { kind: Kind::Plan, ..TaskDraft::new("plan") }).await.number;
    let mut waited = 0;
    for (minutes, expected) in [
        (0, (0, 0)),
        (1, (1, 0)),
        (49, (49, 0)),
        (50, (50, 0)),
        (51, (50, 0)),
        (109, (50, 0)),
        (110, (50, 1)),
        (50 + 600, (50, 10)),
    ] {
        ctx.pass(Span::from_mins(minutes - waited));
        waited = minutes;
        let score = score_of(ctx, task).await;
        assert_eq!((score.age_bonus, score.patience), expected, "{minutes} minutes");
        assert_eq!(score.total(), 40 + expected.0 + expected.1);
    }
}

pub(crate) async fn l3_pipeline_age_has_no_cap(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    ctx.pass(Span::from_days(4_000));
    let score = score_of(ctx, task).await;
    assert_eq!((score.age_bonus, score.patience, score.total()), (4_000, 0, 50 + 20 + 4_000));
}

pub(crate) async fn l4_each_level_of_depth_gives_10(ctx: &TestStore) {
    depth_first(ctx).await;
    let ladder = ladder(ctx, 8).await;
    let root = ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("0") }).await;
    assert_eq!((root.depth, score_of(ctx, root.number).await.depth_bonus), (0, 0));
    for (level, parent) in (1..).zip(ladder) {
        let draft = TaskDraft { kind: Kind::Code, ..below(parent, &level.to_string()) };
        let task = ctx.create(draft).await;
        assert_eq!((task.depth, score_of(ctx, task.number).await.depth_bonus), (level, level * 10));
    }
    assert_eq!(ctx.queue_titles().await, ["8", "7", "6", "5", "4", "3", "2", "1", "0"]);
}

pub(crate) async fn l4_re_parenting_re_ranks_descendants(ctx: &TestStore) {
    depth_first(ctx).await;
    let ladder = ladder(ctx, 4).await;
    let top = ctx.add("top").await.number;
    let child = ctx.create(below(top, "child")).await.number;
    let grandchild = ctx.create(below(child, "grandchild")).await.number;
    ctx.create(TaskDraft { kind: Kind::Phase, ..below(ladder[3], "rival") }).await;
    assert_eq!(ctx.queue_titles().await, ["rival", "grandchild", "child", "top"]);
    let parent = |parent: Option<TaskNumber>| TaskEdit {
        parent: Some(parent.map(extraboard_core::id::TaskRef::Number)),
        ..TaskEdit::default()
    };
    assert_eq!(ctx.edit(top, parent(Some(ladder[3]))).await.depth, 4);
    let depths = async || [ctx.get(child).await.depth, ctx.get(grandchild).await.depth];
    assert_eq!(depths().await, [5, 6]);
    assert_eq!(ctx.queue_titles().await, ["grandchild", "rival", "child", "top"]);
    ctx.audit().await;
    assert_eq!(ctx.edit(top, parent(None)).await.depth, 0);
    assert_eq!(depths().await, [1, 2]);
    assert_eq!(ctx.queue_titles().await, ["rival", "grandchild", "child", "top"]);
    ctx.audit().await;
    ctx.edit(child, parent(None)).await;
    assert_eq!(depths().await, [0, 1]);
}

pub(crate) async fn a_boost_counts_point_by_point(ctx: &TestStore) {
    let [one, other] = [ctx.add("one").await.number, ctx.add("other").await.number];
    let bump = async |task, by| {
        let task = extraboard_core::id::TaskRef::Number(task);
        ctx.store.write(TaskBump { ctx: ctx.ctx(person()), task, by }).await.unwrap().boost
    };
    assert_eq!(bump(other, 1).await, 1);
    assert_eq!(ctx.queue_titles().await, ["other", "one"]);
    assert_eq!(bump(one, 1).await, 1);
    assert_eq!(ctx.queue_titles().await, ["one", "other"]);
    assert_eq!(bump(one, -3).await, -2);
    assert_eq!(score_of(ctx, one).await.boost, -2);
    assert_eq!(ctx.queue_titles().await, ["other", "one"]);
    assert_eq!(bump(one, i64::MAX).await, 10_000);
    assert_eq!(bump(one, i64::MIN).await, -10_000);
    assert_eq!(bump(one, -1).await, -10_000);
    ctx.apply(one, Verb::Park).await;
    assert_eq!(bump(one, 10_005).await, 5);
    ctx.apply(one, Verb::Admit).await;
    assert_eq!(ctx.queue_titles().await, ["one", "other"]);
}
