//! Order: the queue is the order of claims at any clock value, and nobody starves.

use extraboard_core::clock::Span;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::report::FailureClass;
use extraboard_core::state::Verb;
use extraboard_store::verbs::{ProjectRef, TaskDraft};

use super::rank::{depth_first, ladder};
use crate::harness::{TestStore, below};

const PAGE: i64 = 7;

/// Adds tasks of every kind, many priorities, depths and ages.
async fn fill(ctx: &TestStore) {
    let ladder = ladder(ctx, 4).await;
    let project = ctx.project("with a goal").await;
    ctx.goal(&project).await;
    for index in 0..60_usize {
        let small = i64::try_from(index).unwrap();
        ctx.pass(Span::from_secs(small * 613 % 331));
        let draft = match index % 5 {
            0 => TaskDraft::new(index.to_string()),
            level => below(ladder[level - 1], &index.to_string()),
        };
        let project = (index % 3 == 0).then_some(ProjectRef::Id(project.id));
        ctx.create(TaskDraft {
            kind: Kind::ALL[index * 5 % Kind::ALL.len()],
            priority: Priority::new(1 + small * 37 % 100).unwrap(),
            boost: small * 11 % 17 - 8,
            project,
            ..draft
        })
        .await;
    }
}

/// Reads the whole queue page by page; the points shown never grow from task to task.
async fn pages(ctx: &TestStore) -> Vec<TaskNumber> {
    let mut entries = Vec::new();
    for page in 0.. {
        let page = ctx.store.read(ctx.queueing(page * PAGE, PAGE)).await.unwrap().entries;
        if page.is_empty() {
            break;
        }
        entries.extend(page);
    }
    assert!(entries.is_sorted_by(|one, next| one.score.total() >= next.score.total()));
    entries.into_iter().map(|entry| entry.task.number).collect()
}

/// Claims some at many clock values: singly, in batches, and at last all that are left.
async fn check_order(ctx: &TestStore, profile: Profile) {
    ctx.profile(profile).await;
    fill(ctx).await;
    for (round, minutes) in (0..).zip([0, 1, 9, 17, 26, 33, 40, 49, 51, 60, 61, 300, 3_000, 90_000]) {
        ctx.pass(Span::from_secs(minutes * 60 + 7));
        let queue = pages(ctx).await;
        if round % 2 == 0 {
            for expected in queue.iter().take(3) {
                assert_eq!(ctx.claim().await.task.number, *expected, "after {minutes} more minutes");
            }
        } else {
            let answers = ctx.claim_all((0..4).map(|_| ctx.request("a")).collect()).await;
            let claimed: Vec<_> =
                answers.into_iter().map(|answer| answer.unwrap().unwrap().task.number).collect();
            assert_eq!(claimed, queue[..4], "after {minutes} more minutes");
        }
        assert_eq!(pages(ctx).await, queue[if round % 2 == 0 { 3 } else { 4 }..]);
    }
    for expected in pages(ctx).await {
        assert_eq!(ctx.claim().await.task.number, expected);
    }
    assert!(ctx.try_claim().await.is_err());
}

pub(crate) async fn a3_queue_order_equals_claim_order_at_any_time_in_pipeline(ctx: &TestStore) {
    check_order(ctx, Profile::shipped(ProfileName::Pipeline)).await;
}

pub(crate) async fn a3_queue_order_equals_claim_order_at_any_time_in_depth_first(ctx: &TestStore) {
    check_order(ctx, Profile::shipped(ProfileName::DepthFirst)).await;
}

pub(crate) async fn a3_queue_order_equals_claim_order_with_numbers_of_ones_own(ctx: &TestStore) {
    let mut profile = Profile::shipped(ProfileName::DepthFirst);
    let numbers = [
        ("priority_weight", 1),
        ("goal_bonus", -15),
        ("age_boost_per_minute", 3),
        ("age_boost_max", 40),
        ("patience_per_hour", 7),
        ("depth_boost_per_level", -4),
    ];
    for (key, number) in numbers {
        profile.set(key, number).unwrap();
    }
    check_order(ctx, profile).await;
}

pub(crate) async fn a3_the_cap_of_age_changes_the_order_when_it_is_crossed(ctx: &TestStore) {
    depth_first(ctx).await;
    ctx.create(TaskDraft { kind: Kind::Spec, ..TaskDraft::new("old spec") }).await;
    ctx.pass(Span::from_mins(25));
    ctx.create(TaskDraft { kind: Kind::Phase, ..TaskDraft::new("young phase") }).await;
    // 60 + 49 against 80 + 24: a point a minute each, until one of them has all its points.
    ctx.pass(Span::from_mins(24));
    assert_eq!(ctx.queue_titles().await, ["old spec", "young phase"]);
    ctx.pass(Span::from_mins(5));
    assert_eq!(ctx.queue_titles().await, ["old spec", "young phase"]);
    ctx.pass(Span::from_mins(2));
    assert_eq!(ctx.queue_titles().await, ["young phase", "old spec"]);
    assert_eq!(ctx.claim().await.task.title, "young phase");
    ctx.audit().await;
}

/// Claims once a span beside a stream of the best fresh tasks there are; returns how
/// many spans the old task waited.
async fn passed_over(ctx: &TestStore, old: TaskNumber, span: Span, best: &[TaskDraft]) -> i64 {
    for spans in 1..1_000 {
        ctx.pass(span);
        for draft in best {
            ctx.create(draft.clone()).await;
        }
        if ctx.claim().await.task.number == old {
            return spans;
        }
    }
    panic!("#{old} starves");
}

/// The bound: 50 minutes, and an hour for each point between the two.
pub(crate) async fn l14_in_depth_first_the_worst_plan_is_first_after_patience_made_up_for_it(
    ctx: &TestStore,
) {
    depth_first(ctx).await;
    let ladder = ladder(ctx, 8).await;
    let plan = TaskDraft { kind: Kind::Plan, max_retries: 100, ..TaskDraft::new("worst") };
    let plan = ctx.create(plan).await.number;
    for _ in 0..6 {
        ctx.fail(&ctx.claim().await, FailureClass::ExecutionFailed).await;
        ctx.pass(Span::from_mins(15));
    }
    ctx.apply(plan, Verb::Park).await;
    ctx.apply(plan, Verb::Admit).await;
    let best = TaskDraft { kind: Kind::Code, ..below(ladder[7], "best") };
    // 10 + 50 against 180: 120 hours and 50 minutes, so at the 121st claim.
    assert_eq!(passed_over(ctx, plan, Span::from_mins(60), &[best]).await, 121);
}

pub(crate) async fn l14_in_depth_first_a_plan_is_not_starved_by_more_than_can_be_worked_off(ctx: &TestStore) {
    depth_first(ctx).await;
    let plan = ctx.create(TaskDraft { kind: Kind::Plan, ..TaskDraft::new("plan") }).await.number;
    let code = || TaskDraft { kind: Kind::Code, ..TaskDraft::new("code") };
    // What came in the first 59 hours, two an hour, stays ahead for good; nothing else does.
    assert_eq!(passed_over(ctx, plan, Span::from_mins(60), &[code(), code()]).await, 119);
}

pub(crate) async fn l14_in_pipeline_a_day_of_age_makes_up_for_a_point(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    ctx.goal(&project).await;
    let worst =
        TaskDraft { kind: Kind::Monitor, priority: Priority::new(1).unwrap(), ..TaskDraft::new("worst") };
    let worst = ctx.create(worst).await.number;
    let best = TaskDraft {
        kind: Kind::Signal,
        priority: Priority::new(100).unwrap(),
        project: Some(ProjectRef::Id(project.id)),
        ..TaskDraft::new("best")
    };
    // 11 against 170; of equals the older one is first.
    assert_eq!(passed_over(ctx, worst, Span::from_days(1), &[best]).await, 159);
}
