//! Artifacts: what tasks wait for beside other tasks.

use extraboard_core::event::EventType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::project::Project;
use extraboard_core::state::Verb;
use extraboard_core::task::Place;
use extraboard_core::why::{Obstacle, Verdict};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ArtifactList, ArtifactWait, ArtifactWaits, ArtifactsFound, ProjectEdit, ProjectRef, TaskDraft, TaskEdit,
};

use super::blockers::blocked_by;
use crate::harness::TestStore;

const PATH: &str = "specs/a.md";

fn waiting(title: &str, project: Option<&Project>) -> TaskDraft {
    TaskDraft {
        artifact: Some(PATH.to_owned()),
        project: project.map(|project| ProjectRef::Id(project.id)),
        ..TaskDraft::new(title)
    }
}

async fn place(ctx: &TestStore, number: TaskNumber) -> Place {
    ctx.get(number).await.place()
}

pub(crate) async fn l6_a_task_waits_for_its_artifact(ctx: &TestStore) {
    let task = ctx.create(waiting("waits", None)).await.number;
    let maker = ctx.add("maker").await.number;
    assert_eq!(ctx.queue_titles().await, ["maker"]);
    let why = ctx.why(task, None).await;
    assert_eq!((why.verdict, why.obstacles), (Verdict::Held, vec![Obstacle::Artifact(PATH.to_owned())]));
    let other = ctx.provide(maker, "specs/b.md").await;
    assert_eq!((other.existed, other.freed.len()), (false, 0));
    assert_eq!(place(ctx, task).await, Place::Held);
    let provided = ctx.provide(maker, PATH).await;
    assert_eq!((provided.existed, provided.freed), (false, vec![task]));
    assert_eq!(ctx.queue_titles().await, ["waits", "maker"]);
    let events = ctx.events().await;
    let told: Vec<_> = events.iter().rev().take(2).map(|event| (event.event_type, event.task)).collect();
    assert_eq!(told, [(EventType::TaskFreed, Some(task)), (EventType::ArtifactPresent, Some(maker))]);
    assert_eq!(ctx.claim().await.task.number, task);
}

pub(crate) async fn l6_an_artifact_that_is_there_holds_nothing(ctx: &TestStore) {
    let maker = ctx.add("maker").await.number;
    ctx.provide(maker, PATH).await;
    let task = ctx.create(waiting("t", None)).await;
    assert_eq!((task.artifact_present, task.place()), (true, Place::Line));
    let artifact =
        |path: Option<&str>| TaskEdit { artifact: Some(path.map(str::to_owned)), ..TaskEdit::default() };
    let edited = ctx.edit(task.number, artifact(Some("specs/b.md"))).await;
    assert_eq!((edited.artifact_present, edited.place()), (false, Place::Held));
    assert_eq!(ctx.edit(task.number, artifact(None)).await.place(), Place::Line);
    assert_eq!(ctx.edit(task.number, artifact(Some(PATH))).await.place(), Place::Line);
    // What is deleted or finished does not take its artifacts along.
    ctx.delete(maker).await;
    assert_eq!(ctx.create(waiting("another", None)).await.place(), Place::Line);
}

pub(crate) async fn l6_an_artifact_is_known_by_its_path_in_its_project(ctx: &TestStore) {
    let [mine, other] = [ctx.project("mine").await, ctx.project("other").await];
    let task = ctx.create(waiting("mine", Some(&mine))).await.number;
    let outside = ctx.create(waiting("outside", None)).await.number;
    let makers = {
        let in_project = |project: &Project| TaskDraft {
            project: Some(ProjectRef::Id(project.id)),
            ..TaskDraft::new("maker")
        };
        [ctx.create(in_project(&mine)).await.number, ctx.create(in_project(&other)).await.number]
    };
    assert_eq!(ctx.provide(makers[1], PATH).await.freed, []);
    assert_eq!([place(ctx, task).await, place(ctx, outside).await], [Place::Held; 2]);
    // It is there for whoever moves to that project, and gone for whoever leaves it.
    let project = |project: Option<&Project>| TaskEdit {
        project: Some(project.map(|project| ProjectRef::Id(project.id))),
        ..TaskEdit::default()
    };
    assert_eq!(ctx.edit(task, project(Some(&other))).await.place(), Place::Line);
    assert_eq!(ctx.edit(task, project(Some(&mine))).await.place(), Place::Held);
    ctx.audit().await;
    assert_eq!(ctx.provide(makers[0], PATH).await.freed, [task]);
    assert_eq!(place(ctx, outside).await, Place::Held);
}

pub(crate) async fn l6_new_content_keeps_the_artifact(ctx: &TestStore) {
    let [maker, other] = [ctx.add("maker").await.number, ctx.add("other").await.number];
    let first = ctx.provide(maker, PATH).await;
    ctx.pass(extraboard_core::clock::Span::from_secs(1));
    let mut again = ctx.providing(other, PATH);
    again.content = None;
    let again = ctx.store.write(again).await.unwrap();
    assert!(again.existed);
    assert_eq!(
        (again.artifact.id, again.artifact.created_at),
        (first.artifact.id, first.artifact.created_at)
    );
    let list = async |task| ctx.store.read(ArtifactList { task: TaskRef::Number(task) }).await.unwrap();
    assert_eq!(list(maker).await, []);
    assert_eq!(list(other).await, [again.artifact]);
    let missing = ctx.store.write(ctx.providing(TaskNumber(99), PATH)).await.unwrap_err();
    assert!(matches!(missing, Error::NoTask(_)), "{missing}");
}

pub(crate) async fn l6_everything_that_holds_has_to_go(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let draft = TaskDraft { artifact: Some(PATH.to_owned()), ..blocked_by(ctx, "both", &[blocker]) };
    let both = ctx.create(draft).await.number;
    let parked = ctx.create(waiting("parked", None)).await.number;
    ctx.apply(parked, Verb::Park).await;
    let mut freed = ctx.provide(blocker, PATH).await.freed;
    freed.sort_unstable();
    assert_eq!(freed, [both, parked]);
    assert_eq!([place(ctx, both).await, place(ctx, parked).await], [Place::Held, Place::Nowhere]);
    ctx.complete(&ctx.claim().await).await;
    ctx.apply(parked, Verb::Admit).await;
    assert_eq!(ctx.queue_titles().await, ["both", "parked"]);
}

pub(crate) async fn l6_files_are_looked_for_where_there_is_a_workspace(ctx: &TestStore) {
    let [with, without] = [ctx.project("with").await, ctx.project("without").await];
    let workspace = ProjectEdit { workspace: Some(Some("/srv/with".to_owned())), ..ProjectEdit::default() };
    ctx.edit_project(&with, workspace).await;
    let mut tasks = Vec::new();
    for title in ["first", "second", "changed", "parked"] {
        tasks.push(ctx.create(waiting(title, Some(&with))).await.number);
    }
    ctx.create(waiting("without", Some(&without))).await;
    ctx.create(waiting("outside", None)).await;
    ctx.create(TaskDraft { artifact: None, ..waiting("free", Some(&with)) }).await;
    ctx.apply(tasks[3], Verb::Park).await;
    let waits = ctx.store.read(ArtifactWaits { after: TaskNumber(0) }).await.unwrap();
    let wait = |task| ArtifactWait { task, workspace: "/srv/with".to_owned(), path: PATH.to_owned() };
    assert_eq!(waits, [wait(tasks[0]), wait(tasks[1]), wait(tasks[2])]);
    let rest = ctx.store.read(ArtifactWaits { after: tasks[1] }).await.unwrap();
    assert_eq!(rest, [wait(tasks[2])]);
    // One waits for something else by the time its file was found.
    let edit = TaskEdit { artifact: Some(Some("specs/b.md".to_owned())), ..TaskEdit::default() };
    ctx.edit(tasks[2], edit).await;
    let found = || ArtifactsFound { ctx: ctx.desk(), found: waits.clone() };
    assert_eq!(ctx.store.write(found()).await.unwrap(), 2);
    assert_eq!(ctx.queue_titles().await, ["first", "second", "free"]);
    assert_eq!(place(ctx, tasks[2]).await, Place::Held);
    assert_eq!(ctx.store.write(found()).await.unwrap(), 0);
}
