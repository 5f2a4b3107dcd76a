//! Projects and goals: which tasks are handed out, and what a goal is worth to them.

use extraboard_core::gate::{Claimer, Gate, Nothing};
use extraboard_core::id::GoalId;
use extraboard_core::kind::Kind;
use extraboard_core::project::{Goal, GoalStatus, Health, Project, ProjectStatus};
use extraboard_core::state::Verb;
use extraboard_core::why::Verdict;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    GoalCreate, GoalDelete, GoalEdit, GoalGet, GoalList, GoalPatch, ProjectCreate, ProjectDelete,
    ProjectEdit, ProjectGet, ProjectList, ProjectPatch, ProjectRef, QueueScope, TaskDraft, TaskEdit,
};

use crate::harness::{TestStore, person, puller};

fn within(project: &Project, title: &str) -> TaskDraft {
    TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new(title) }
}

async fn set_status(ctx: &TestStore, project: &Project, status: ProjectStatus) {
    ctx.edit_project(project, ProjectEdit { status: Some(status), ..ProjectEdit::default() }).await;
}

async fn edit_goal(ctx: &TestStore, goal: GoalId, edit: GoalEdit) -> Goal {
    ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal, edit }).await.unwrap()
}

/// Tells whether a project has an active goal, as it says itself and as its tasks show.
async fn has_goal(ctx: &TestStore, project: &Project) -> bool {
    ctx.rerank().await;
    ctx.audit().await;
    let view = ctx.store.read(ProjectGet { project: ProjectRef::Id(project.id) }).await.unwrap();
    let of_project = |entry: &extraboard_store::verbs::QueueEntry| entry.task.project == Some(project.number);
    let entries = ctx.entries().await;
    let entry = entries.iter().find(|entry| of_project(entry)).unwrap();
    assert_eq!(entry.score.goal_bonus, if view.has_active_goal { 20 } else { 0 });
    view.has_active_goal
}

pub(crate) async fn a8_a_claimer_may_ask_for_one_project_only(ctx: &TestStore) {
    let [mine, other] = [ctx.project("mine").await, ctx.project("other").await];
    for (project, title) in [(&other, "other"), (&mine, "mine"), (&mine, "mine, too")] {
        ctx.create(within(project, title)).await;
    }
    ctx.add("outside").await;
    let claimer = Claimer { project: Some(mine.number), ..puller("a") };
    let queue = extraboard_store::verbs::Queue { claimer: claimer.clone(), ..ctx.queueing(0, 10) };
    let page = ctx.store.read(queue.clone()).await.unwrap();
    let titles: Vec<_> = page.entries.iter().map(|entry| entry.task.title.as_str()).collect();
    assert_eq!((titles, page.total), (vec!["mine", "mine, too"], 2));
    let all =
        ctx.store.read(extraboard_store::verbs::Queue { scope: QueueScope::All, ..queue }).await.unwrap();
    let gates: Vec<_> = all.entries.iter().map(|entry| entry.gates.clone()).collect();
    let other_project = || vec![Gate::OtherProject];
    assert_eq!(gates, [other_project(), vec![], vec![], other_project()]);
    assert_eq!(ctx.claim_as(&claimer).await.unwrap().task.title, "mine");
    assert_eq!(ctx.claim_as(&claimer).await.unwrap().task.title, "mine, too");
    assert_eq!(ctx.claim_as(&claimer).await.unwrap_err(), Nothing::NoMatch);
    assert_eq!(ctx.claim().await.task.title, "other");
}

pub(crate) async fn a8_paused_and_canceled_projects_are_not_worked_on(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let task = ctx.create(within(&project, "in the project")).await.number;
    for status in ProjectStatus::ALL {
        set_status(ctx, &project, *status).await;
        let closed = matches!(status, ProjectStatus::Paused | ProjectStatus::Canceled);
        let expected: &[&str] = if closed { &[] } else { &["in the project"] };
        assert_eq!(ctx.queue_titles().await, expected, "{status}");
        if closed {
            assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Paused);
        } else {
            let claimed = ctx.claim().await;
            ctx.report(&claimed, extraboard_core::report::Report::Release).await;
        }
        let why = ctx.why(task, None).await;
        let verdict = match status {
            ProjectStatus::Paused => Verdict::Blocked,
            ProjectStatus::Canceled => Verdict::Impossible,
            _ => Verdict::Next,
        };
        assert_eq!(why.verdict, verdict, "{status}");
    }
}

pub(crate) async fn a8_a_paused_crowd_at_the_head_hides_nothing(ctx: &TestStore) {
    let project = ctx.project("paused").await;
    for index in 0..100 {
        let kind = Kind::ALL[index % 3];
        ctx.create(TaskDraft { kind, boost: 50, ..within(&project, "paused") }).await;
    }
    ctx.add("free").await;
    set_status(ctx, &project, ProjectStatus::Paused).await;
    assert_eq!(ctx.queue_titles().await, ["free"]);
    assert_eq!(ctx.claim().await.task.title, "free");
    // A task that leaves the project is free at once, and one that enters is not.
    let moved = |project: Option<&Project>| TaskEdit {
        project: Some(project.map(|project| ProjectRef::Id(project.id))),
        ..TaskEdit::default()
    };
    let task = extraboard_core::id::TaskNumber(7);
    ctx.edit(task, moved(None)).await;
    assert_eq!(ctx.queue_titles().await, ["paused"]);
    ctx.edit(task, moved(Some(&project))).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Paused);
    set_status(ctx, &project, ProjectStatus::Active).await;
    assert_eq!(ctx.queue_titles().await.len(), 100);
}

pub(crate) async fn a_goal_counts_for_the_project_it_names_and_for_those_that_name_it(ctx: &TestStore) {
    let [named, naming, neither] =
        [ctx.project("named").await, ctx.project("naming").await, ctx.project("neither").await];
    for project in [&named, &naming, &neither] {
        ctx.create(within(project, "t")).await;
    }
    let goal = ctx.goal(&named).await;
    ctx.edit_project(&naming, ProjectEdit { goal: Some(Some(goal.id)), ..ProjectEdit::default() }).await;
    let goals =
        async || [has_goal(ctx, &named).await, has_goal(ctx, &naming).await, has_goal(ctx, &neither).await];
    assert_eq!(goals().await, [true, true, false]);
    let status = |status| GoalEdit { status: Some(status), ..GoalEdit::default() };
    for (word, expected) in
        [(GoalStatus::Achieved, false), (GoalStatus::Active, true), (GoalStatus::Abandoned, false)]
    {
        edit_goal(ctx, goal.id, status(word)).await;
        assert_eq!(goals().await, [expected, expected, false], "{word}");
    }
    edit_goal(ctx, goal.id, status(GoalStatus::Active)).await;
    ctx.edit_project(&naming, ProjectEdit { goal: Some(None), ..ProjectEdit::default() }).await;
    assert_eq!(goals().await, [true, false, false]);
    ctx.store.write(GoalDelete { ctx: ctx.ctx(person()), goal: goal.id }).await.unwrap();
    assert_eq!(goals().await, [false, false, false]);
    let gone = ctx.store.read(GoalGet { goal: goal.id }).await.unwrap_err();
    assert!(matches!(gone, Error::NoGoal(id) if id == goal.id), "{gone}");
}

pub(crate) async fn a_goal_takes_its_points_along_when_it_moves(ctx: &TestStore) {
    let [from, to] = [ctx.project("from").await, ctx.project("to").await];
    for project in [&from, &to] {
        ctx.create(within(project, &project.name)).await;
    }
    let goal = ctx.goal(&from).await;
    assert_eq!([has_goal(ctx, &from).await, has_goal(ctx, &to).await], [true, false]);
    assert_eq!(ctx.queue_titles().await, ["from", "to"]);
    let moved = |project: Option<&Project>| GoalEdit {
        project: Some(project.map(|project| ProjectRef::Id(project.id))),
        ..GoalEdit::default()
    };
    edit_goal(ctx, goal.id, moved(Some(&to))).await;
    assert_eq!([has_goal(ctx, &from).await, has_goal(ctx, &to).await], [false, true]);
    assert_eq!(ctx.queue_titles().await, ["to", "from"]);
    edit_goal(ctx, goal.id, moved(None)).await;
    assert_eq!([has_goal(ctx, &from).await, has_goal(ctx, &to).await], [false, false]);
}

pub(crate) async fn one_active_goal_of_many_is_enough(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    ctx.create(within(&project, "t")).await;
    let [one, other] = [ctx.goal(&project).await, ctx.goal(&project).await];
    let achieved = || GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
    edit_goal(ctx, one.id, achieved()).await;
    assert!(has_goal(ctx, &project).await);
    edit_goal(ctx, other.id, achieved()).await;
    assert!(!has_goal(ctx, &project).await);
}

pub(crate) async fn a_task_that_changes_its_project_changes_its_goal(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    ctx.goal(&project).await;
    ctx.rerank().await;
    ctx.add("first").await;
    let task = ctx.add("second").await.number;
    let edit = TaskEdit { project: Some(Some(ProjectRef::Id(project.id))), ..TaskEdit::default() };
    ctx.edit(task, edit).await;
    assert_eq!(ctx.queue_titles().await, ["second", "first"]);
    ctx.edit(task, TaskEdit { project: Some(None), ..TaskEdit::default() }).await;
    assert_eq!(ctx.queue_titles().await, ["first", "second"]);
}

pub(crate) async fn a_project_comes_back_as_it_was_written(ctx: &TestStore) {
    let created = ctx.project("payments").await;
    let goal = ctx.store.write(GoalCreate {
        ctx: ctx.ctx(person()),
        id: ctx.goal_id(),
        title: "a goal".to_owned(),
        edit: GoalEdit::default(),
    });
    let goal = goal.await.unwrap();
    ctx.pass(extraboard_core::clock::Span::from_secs(1));
    let edit = ProjectEdit {
        name: Some("Zahlungen 'x'".to_owned()),
        description: Some(Some("two\nlines".to_owned())),
        status: Some(ProjectStatus::Planned),
        health: Some(Health::AtRisk),
        goal: Some(Some(goal.id)),
        workspace: Some(Some("/srv/x".to_owned())),
        run_limit: Some(Some(0)),
        settings: Some(Some(r#"{"reviews":false}"#.to_owned())),
    };
    let edited = ctx.edit_project(&created, edit).await;
    let expected = Project {
        name: "Zahlungen 'x'".to_owned(),
        description: Some("two\nlines".to_owned()),
        status: ProjectStatus::Planned,
        health: Health::AtRisk,
        goal: Some(goal.id),
        workspace: Some("/srv/x".to_owned()),
        run_limit: Some(0),
        settings: Some(r#"{"reviews":false}"#.to_owned()),
        updated_at: ctx.now(),
        ..created.clone()
    };
    assert_eq!(edited.project, expected);
    assert!(edited.has_active_goal);
    let by_name = ProjectRef::Name("Zahlungen 'x'".to_owned());
    let read = ctx.store.read(ProjectGet { project: by_name }).await.unwrap();
    assert_eq!((read.project, read.goal), (expected, Some(goal.clone())));
    let (list, total) = ctx.store.read(ProjectList { offset: 0, limit: 10 }).await.unwrap();
    assert_eq!((list.len(), total), (1, 1));
    let (goals, total) = ctx.store.read(GoalList { offset: 0, limit: 10 }).await.unwrap();
    assert_eq!((goals, total), (vec![goal], 1));
}

pub(crate) async fn two_projects_never_share_a_name(ctx: &TestStore) {
    let one = ctx.project("one").await;
    let other = ctx.project("other").await;
    let refused = ctx
        .store
        .write(ProjectPatch {
            ctx: ctx.ctx(person()),
            project: ProjectRef::Id(other.id),
            edit: ProjectEdit { name: Some("one".to_owned()), ..ProjectEdit::default() },
        })
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    let delete =
        |project: &Project| ProjectDelete { ctx: ctx.ctx(person()), project: ProjectRef::Id(project.id) };
    ctx.store.write(delete(&one)).await.unwrap();
    let gone = ctx.store.write(delete(&one)).await.unwrap_err();
    assert!(matches!(gone, Error::NoProject(_)), "{gone}");
    // The name of what was deleted is free.
    ctx.edit_project(&other, ProjectEdit { name: Some("one".to_owned()), ..ProjectEdit::default() }).await;
}

pub(crate) async fn of_two_projects_made_at_once_with_one_name_one_is_refused(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..10 {
        let create = || ProjectCreate {
            ctx: ctx.ctx(person()),
            id: ctx.project_id(),
            name: format!("project {round}"),
            edit: ProjectEdit::default(),
        };
        let (one, other) = tokio::join!(one.write(create()), other.write(create()));
        let refused: Vec<_> = [one, other].into_iter().filter_map(Result::err).collect();
        assert!(matches!(refused[..], [Error::Conflict(_)]), "round {round}: {refused:?}");
    }
}

pub(crate) async fn a_project_with_unfinished_tasks_is_not_deleted(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let task = ctx.create(within(&project, "t")).await.number;
    let delete = || ProjectDelete { ctx: ctx.ctx(person()), project: ProjectRef::Id(project.id) };
    let refused = ctx.store.write(delete()).await.unwrap_err();
    assert!(matches!(refused, Error::StillNeeded(_)), "{refused}");
    assert!(refused.to_string().contains(&format!("#{task}")), "{refused}");
    ctx.apply(task, Verb::Cancel).await;
    ctx.store.write(delete()).await.unwrap();
    let refused = ctx.store.write(ctx.creation(within(&project, "t"))).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "projectId", .. }), "{refused}");
}

pub(crate) async fn what_is_reopened_in_a_deleted_project_can_be_handed_out(ctx: &TestStore) {
    for status in [ProjectStatus::Active, ProjectStatus::Paused, ProjectStatus::Canceled] {
        let project = ctx.project("short-lived").await;
        let task = ctx.create(within(&project, "t")).await.number;
        ctx.apply(task, Verb::Cancel).await;
        set_status(ctx, &project, status).await;
        let delete = ProjectDelete { ctx: ctx.ctx(person()), project: ProjectRef::Id(project.id) };
        ctx.store.write(delete).await.unwrap();
        ctx.apply(task, Verb::Reopen).await;
        for project in [None, Some(5)] {
            ctx.limits(extraboard_core::gate::Limits { project, ..Default::default() }).await;
            // Nobody can resume what was deleted.
            let claimed = ctx.try_claim().await;
            let claimed = claimed.unwrap_or_else(|nothing| panic!("{status}, {project:?}: {nothing}"));
            ctx.report(&claimed, extraboard_core::report::Report::Release).await;
        }
        ctx.delete(task).await;
    }
}

pub(crate) async fn creating_a_project_that_names_a_goal_counts_at_once(ctx: &TestStore) {
    let goal = GoalCreate {
        ctx: ctx.ctx(person()),
        id: ctx.goal_id(),
        title: "a goal".to_owned(),
        edit: GoalEdit::default(),
    };
    let goal = ctx.store.write(goal).await.unwrap();
    let create = |name: &str, goal| ProjectCreate {
        ctx: ctx.ctx(person()),
        id: ctx.project_id(),
        name: name.to_owned(),
        edit: ProjectEdit { goal: Some(Some(goal)), ..ProjectEdit::default() },
    };
    let view = ctx.store.write(create("payments", goal.id)).await.unwrap();
    ctx.create(within(&view.project, "t")).await;
    assert!(has_goal(ctx, &view.project).await);
    let refused = ctx.store.write(create("other", ctx.goal_id())).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "goalId", .. }), "{refused}");
}
