//! The whole at a glance: counts, what happened last, and how prompts do.

use extraboard_core::clock::Span;
use extraboard_core::graph::RelationType;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::project::GoalStatus;
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{
    Activity, ActivityRead, GoalDelete, GoalEdit, GoalPatch, PromptStatsRead, Stats, StatsRead, TaskDraft,
    TaskEdit, TemplateDelete, TemplateEdit, TemplateRef,
};

use crate::harness::{TestStore, below, person};

/// How many children are shown with a task.
const CHILDREN_SHOWN: usize = 50;

impl TestStore {
    async fn stats(&self) -> Stats {
        self.store.read(StatsRead { now: self.now() }).await.unwrap()
    }

    async fn activity(&self, limit: usize) -> Vec<Activity> {
        self.sequence().await;
        let (shown, total) = self.store.read(ActivityRead { limit }).await.unwrap();
        assert!(shown.len() <= usize::try_from(total).unwrap());
        shown
    }

    async fn active_titles(&self, limit: usize) -> Vec<String> {
        self.activity(limit).await.into_iter().map(|activity| activity.task.title).collect()
    }

    /// Changes something about a task.
    async fn touch(&self, number: TaskNumber) {
        self.pass(Span::from_secs(1));
        self.edit(number, TaskEdit { boost: Some(1), ..TaskEdit::default() }).await;
    }
}

pub(crate) async fn an_empty_desk_has_nothing_to_show(ctx: &TestStore) {
    let stats = ctx.stats().await;
    assert_eq!((stats.tasks, stats.completed_last_day, stats.goals), (vec![], 0, (0, 0, 0)));
    assert_eq!(ctx.active_titles(20).await, Vec::<String>::new());
    assert!(ctx.store.read(PromptStatsRead).await.unwrap().is_empty());
}

pub(crate) async fn counts_leave_out_what_is_deleted(ctx: &TestStore) {
    ctx.create(TaskDraft { kind: Kind::Signal, ..TaskDraft::new("t") }).await;
    ctx.claim().await;
    for state in [State::Queued, State::Queued, State::Backlog] {
        ctx.create(TaskDraft { state, ..TaskDraft::new("t") }).await;
    }
    ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("t") }).await;
    let expected = [
        (State::Backlog, Kind::Task, 1),
        (State::Queued, Kind::Code, 1),
        (State::Queued, Kind::Task, 2),
        (State::Running, Kind::Signal, 1),
    ];
    assert_eq!(ctx.stats().await.tasks, expected);
    let gone = ctx.add("gone").await.number;
    ctx.delete(gone).await;
    assert_eq!(ctx.stats().await.tasks, expected);
}

pub(crate) async fn only_the_last_day_counts_as_completed_lately(ctx: &TestStore) {
    let finish = async || {
        ctx.add("t").await;
        ctx.complete(&ctx.claim().await).await.task.number
    };
    finish().await;
    ctx.pass(Span::from_micros(1));
    let second = finish().await;
    assert_eq!(ctx.stats().await.completed_last_day, 2);
    ctx.pass(Span::from_micros(Span::from_days(1).as_micros() - 1));
    assert_eq!(ctx.stats().await.completed_last_day, 1);
    let canceled = ctx.add("given up").await.number;
    ctx.apply(canceled, Verb::Cancel).await;
    let closed = ctx.add("done by hand").await.number;
    ctx.apply(closed, Verb::Close).await;
    assert_eq!(ctx.stats().await.completed_last_day, 2);
    ctx.delete(closed).await;
    ctx.apply(second, Verb::Reopen).await;
    assert_eq!(ctx.stats().await.completed_last_day, 0);
}

pub(crate) async fn goals_are_counted_by_where_they_stand(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let mut goals = Vec::new();
    for status in [GoalStatus::Active, GoalStatus::Achieved, GoalStatus::Abandoned, GoalStatus::Active] {
        let goal = ctx.goal(&project).await.id;
        let edit = GoalEdit { status: Some(status), ..GoalEdit::default() };
        ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal, edit }).await.unwrap();
        goals.push(goal);
    }
    assert_eq!(ctx.stats().await.goals, (4, 2, 1));
    ctx.store.write(GoalDelete { ctx: ctx.ctx(person()), goal: goals[0] }).await.unwrap();
    assert_eq!(ctx.stats().await.goals, (3, 1, 1));
}

pub(crate) async fn what_happened_last_comes_first(ctx: &TestStore) {
    let [a, b, _] = [ctx.add("a").await.number, ctx.add("b").await.number, ctx.add("c").await.number];
    assert_eq!(ctx.active_titles(20).await, ["c", "b", "a"]);
    ctx.touch(a).await;
    assert_eq!(ctx.active_titles(20).await, ["a", "c", "b"]);
    // What happens below a task happens to it.
    ctx.pass(Span::from_secs(1));
    let child = ctx.create(below(b, "child")).await.number;
    let grandchild = ctx.create(below(child, "grandchild")).await.number;
    assert_eq!(ctx.active_titles(20).await, ["b", "a", "c"]);
    ctx.touch(a).await;
    ctx.touch(grandchild).await;
    let activity = ctx.activity(20).await;
    assert_eq!((activity[0].task.number, activity[0].latest), (b, ctx.now()));
    assert_eq!(activity[1].latest, ctx.now().minus(Span::from_secs(1)));
    assert_eq!(ctx.active_titles(2).await, ["b", "a"]);
}

pub(crate) async fn what_the_log_has_forgotten_is_still_shown(ctx: &TestStore) {
    for title in ["a", "b", "c"] {
        ctx.add(title).await;
    }
    ctx.sequence().await;
    ctx.database.raw("DELETE FROM event WHERE task <> 1").await.unwrap();
    assert_eq!(ctx.active_titles(20).await, ["a", "c", "b"]);
    assert_eq!(ctx.active_titles(2).await, ["a", "c"]);
    // Before anything has a position, the newest come first.
    ctx.database.raw("DELETE FROM event").await.unwrap();
    assert_eq!(ctx.active_titles(2).await, ["c", "b"]);
}

pub(crate) async fn activity_is_grouped_by_the_task_at_the_top(ctx: &TestStore) {
    let [a, b] = [ctx.add("a").await.number, ctx.add("b").await.number];
    let [one, two] = [ctx.create(below(a, "one")).await.number, ctx.create(below(a, "two")).await.number];
    let gone = ctx.create(below(a, "gone")).await.number;
    let part = ctx.create(below(b, "part")).await.number;
    ctx.create(below(part, "part of a part")).await;
    ctx.block(one, two).await.unwrap();
    ctx.store.write(ctx.relating(part, RelationType::Related, one)).await.unwrap();
    ctx.store.write(ctx.relating(two, RelationType::Related, gone)).await.unwrap();
    ctx.delete(gone).await;
    let mut activity = ctx.activity(20).await;
    activity.sort_by_key(|activity| activity.task.number);
    let titles = |activity: &Activity| -> Vec<String> {
        activity.children.iter().map(|child| child.title.clone()).collect()
    };
    assert_eq!(
        (titles(&activity[0]), titles(&activity[1])),
        (vec!["one".to_owned(), "two".to_owned()], vec!["part".to_owned()])
    );
    let related = |activity: &Activity| -> Vec<_> {
        activity.related.iter().map(|related| (related.relation_type, related.other.number)).collect()
    };
    // Each relation once, seen from one of its tasks; none to what is deleted.
    let seen = [related(&activity[0]), related(&activity[1])].concat();
    assert!(seen.contains(&(RelationType::Blocks, two)), "{seen:?}");
    assert!(seen.contains(&(RelationType::Related, one)) || seen.contains(&(RelationType::Related, part)));
    assert_eq!(seen.len(), 2, "{seen:?}");
}

pub(crate) async fn activity_is_bounded_and_without_what_is_deleted(ctx: &TestStore) {
    let [large, gone] = [ctx.add("large").await.number, ctx.add("gone").await.number];
    for number in 0..CHILDREN_SHOWN + 2 {
        ctx.create(below(large, &number.to_string())).await;
    }
    assert!(ctx.activity(20).await[1].children.is_empty(), "the crowd belongs to the first");
    ctx.delete(gone).await;
    let activity = ctx.activity(20).await;
    assert_eq!((activity.len(), activity[0].task.number), (1, large));
    let shown: Vec<_> = activity[0].children.iter().map(|child| child.title.clone()).collect();
    assert_eq!(shown, (0..CHILDREN_SHOWN).map(|number| number.to_string()).collect::<Vec<_>>());
    for number in 0..30 {
        ctx.add(&format!("more {number}")).await;
    }
    assert_eq!(ctx.active_titles(20).await.len(), 20);
    assert_eq!(ctx.active_titles(100).await.len(), 31);
}

pub(crate) async fn templates_are_shown_with_their_last_versions(ctx: &TestStore) {
    ctx.bare_template("bare", TemplateEdit::default()).await;
    let first = ctx.template("a", TemplateEdit::default()).await;
    let (template, _) = ctx.version_now(&first).await;
    for _ in 2..=7 {
        ctx.version(&template, "draft").await;
    }
    ctx.template("gone", TemplateEdit::default()).await;
    let (gone, epoch) = (TemplateRef::new("gone"), ctx.version_id());
    let delete = TemplateDelete { ctx: ctx.ctx(person()), template: gone, epoch };
    Box::pin(ctx.store.write(delete)).await.unwrap();
    let stats = ctx.store.read(PromptStatsRead).await.unwrap();
    let slugs: Vec<_> = stats.iter().map(|stats| stats.template.slug.as_str()).collect();
    assert_eq!(slugs, ["a", "bare"]);
    assert_eq!((&stats[0].template, &stats[0].active), (&template, &Some(first)));
    let recent: Vec<_> = stats[0].recent.iter().map(|version| version.number).collect();
    assert_eq!(recent, [7, 6, 5, 4, 3]);
    assert_eq!((&stats[1].active, stats[1].recent.len()), (&None, 0));
}
