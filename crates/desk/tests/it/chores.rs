//! What the desk does though nobody waits for it.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::gate::{Limits, Nothing};
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::Project;
use extraboard_store::verbs::{
    GoalCreate, GoalEdit, ProjectCreate, ProjectEdit, ProjectRef, RulesChange, RulesEdit, RulesRead,
    TaskDraft,
};

use crate::harness::TestDesk;

fn person() -> Caller {
    Caller::Person("ann".to_owned())
}

async fn project(t: &TestDesk, edit: ProjectEdit) -> Project {
    let (id, name) = (t.desk.new_project_id(), "north".to_owned());
    t.desk.write(ProjectCreate { ctx: t.desk.ctx(person()), id, name, edit }).await.unwrap().project
}

fn of(project: &Project, title: &str) -> TaskDraft {
    TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new(title) }
}

pub(crate) async fn a_new_goal_moves_what_waits_without_being_asked(mut t: TestDesk) {
    let north = project(&t, ProjectEdit::default()).await;
    t.add("first").await;
    t.clock.step(Span::from_secs(1));
    t.add_draft(of(&north, "second")).await;
    let edit = GoalEdit { project: Some(Some(ProjectRef::Id(north.id))), ..GoalEdit::default() };
    let (ctx, id, title) = (t.desk.ctx(person()), t.desk.new_goal_id(), "g".to_owned());
    t.desk.write(GoalCreate { ctx, id, title, edit }).await.unwrap();
    t.turn().await;
    assert_eq!(t.claim("a").await.unwrap().task.title, "second");
}

pub(crate) async fn l6_a_file_that_appears_frees_what_waits_for_it(mut t: TestDesk) {
    let workspace = tempfile::tempdir().unwrap();
    let path = workspace.path().display().to_string();
    let north = project(&t, ProjectEdit { workspace: Some(Some(path)), ..ProjectEdit::default() }).await;
    t.add_draft(TaskDraft { artifact: Some("specs/a.md".to_owned()), ..of(&north, "build") }).await;
    assert_eq!(t.claim("a").await.unwrap_err(), Nothing::Held);
    std::fs::create_dir(workspace.path().join("specs")).unwrap();
    std::fs::write(workspace.path().join("specs/a.md"), "the spec").unwrap();
    t.turn().await;
    assert_eq!(t.claim("a").await.unwrap().task.title, "build");
}

pub(crate) async fn an_empty_database_takes_the_configured_rules_and_keeps_them(t: TestDesk) {
    let edit = |name, total| RulesEdit {
        profile: Some(Profile::shipped(name)),
        limits: Some(Limits { total: Some(total), ..Limits::default() }),
        poll_interval_secs: Some(total),
    };
    // The desk of this test started without rules of its own: the shipped ones hold.
    let (rules, _) = t.desk.read(RulesRead).await.unwrap();
    assert_eq!((rules.version, rules.profile.name), (1, ProfileName::Pipeline));
    let change = RulesChange {
        ctx: t.desk.ctx(person()),
        edit: edit(ProfileName::DepthFirst, 7),
        if_version: Some(1),
    };
    t.desk.write(change).await.unwrap();
    let mut t = t.restart_with(edit(ProfileName::Pipeline, 3)).await;
    t.turn().await;
    let (rules, _) = t.desk.read(RulesRead).await.unwrap();
    assert_eq!((rules.version, rules.profile.name), (2, ProfileName::DepthFirst));
    assert_eq!((rules.limits.total, t.desk.poll_interval_secs()), (Some(7), 7));
}
