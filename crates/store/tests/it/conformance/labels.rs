//! Labels: words people sort tasks by.

use extraboard_core::event::EventType;
use extraboard_core::id::TaskNumber;
use extraboard_core::label::Label;
use extraboard_core::task::Task;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    LabelCreate, LabelDelete, LabelList, LabelPatch, LabelRef, TaskDraft, TaskEdit, TaskFilter, TaskList,
};

use crate::harness::{TestStore, person};
use crate::prompting::at_once;

fn named(names: &[&str]) -> Vec<LabelRef> {
    names.iter().map(|name| LabelRef::new(name)).collect()
}

/// Returns a draft of a task with labels.
pub(super) fn labelled(title: &str, names: &[&str]) -> TaskDraft {
    TaskDraft { labels: named(names), ..TaskDraft::new(title) }
}

fn relabel(names: &[&str]) -> TaskEdit {
    TaskEdit { labels: Some(named(names)), ..TaskEdit::default() }
}

fn names(task: &Task) -> Vec<&str> {
    task.labels.iter().map(|label| label.name.as_str()).collect()
}

impl TestStore {
    fn labelling(&self, name: &str) -> LabelCreate {
        let (name, color) = (name.to_owned(), "gray".to_owned());
        LabelCreate { ctx: self.ctx(person()), id: self.label_id(), name, color }
    }

    fn renaming(&self, label: &Label, name: &str) -> LabelPatch {
        let (label, name) = (LabelRef::Id(label.id), Some(name.to_owned()));
        LabelPatch { ctx: self.ctx(person()), label, name, color: None }
    }

    async fn delete_label(&self, label: &Label) -> Result<(), Error> {
        self.store.write(LabelDelete { ctx: self.ctx(person()), label: LabelRef::Id(label.id) }).await
    }

    async fn label_names(&self) -> Vec<String> {
        let (labels, total) = self.store.read(LabelList { offset: 0, limit: 100 }).await.unwrap();
        assert_eq!(total, i64::try_from(labels.len()).unwrap());
        labels.into_iter().map(|label| label.name).collect()
    }

    async fn titles_with(&self, label: &str) -> Result<Vec<String>, Error> {
        let filter = TaskFilter { label: Some(LabelRef::new(label)), ..TaskFilter::default() };
        let list = TaskList { filter, after: TaskNumber(0), offset: 0, limit: 10 };
        let page = self.store.read(list).await?;
        assert_eq!(page.total, i64::try_from(page.tasks.len()).unwrap());
        Ok(page.tasks.into_iter().map(|view| view.task.title).collect())
    }
}

pub(crate) async fn a_label_comes_back_as_it_was_written(ctx: &TestStore) {
    let created = ctx.label("später 'x'", "#123456").await;
    ctx.label("bug", "red").await;
    assert_eq!(ctx.label_names().await, ["bug", "später 'x'"]);
    let (page, total) = ctx.store.read(LabelList { offset: 1, limit: 1 }).await.unwrap();
    assert_eq!((page, total), (vec![created.clone()], 2));
    let by_name = LabelRef::new("später 'x'");
    let patch =
        LabelPatch { ctx: ctx.ctx(person()), label: by_name, name: None, color: Some("blue".to_owned()) };
    let edited = ctx.store.write(patch).await.unwrap();
    assert_eq!(edited, Label { color: "blue".to_owned(), ..created.clone() });
    let renamed = ctx.store.write(ctx.renaming(&created, "later")).await.unwrap();
    assert_eq!(renamed, Label { name: "later".to_owned(), ..edited });
    ctx.delete_label(&created).await.unwrap();
    let told: Vec<_> = ctx.events().await.into_iter().map(|event| event.event_type).collect();
    let [created, edited, deleted] =
        [EventType::LabelCreated, EventType::LabelEdited, EventType::LabelDeleted];
    assert_eq!(told, [created, created, edited, edited, deleted]);
}

pub(crate) async fn two_labels_never_share_a_name(ctx: &TestStore) {
    let [bug, web] = [ctx.label("bug", "red").await, ctx.label("web", "blue").await];
    for refused in [
        ctx.store.write(ctx.labelling("bug")).await.unwrap_err(),
        ctx.store.write(ctx.renaming(&web, "bug")).await.unwrap_err(),
    ] {
        assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    }
    assert_eq!(ctx.label_names().await, ["bug", "web"]);
    // Its own name is not taken, and another spelling is another name.
    ctx.store.write(ctx.renaming(&bug, "bug")).await.unwrap();
    ctx.store.write(ctx.renaming(&web, "Bug")).await.unwrap();
    assert_eq!(ctx.events().await.len(), 4);
}

pub(crate) async fn a_deleted_label_is_on_no_task_and_its_name_is_free(ctx: &TestStore) {
    let bug = ctx.label("bug", "red").await;
    ctx.label("web", "blue").await;
    let task = ctx.create(labelled("t", &["bug", "web"])).await;
    ctx.delete_label(&bug).await.unwrap();
    assert_eq!(names(&ctx.get(task.number).await), ["web"]);
    assert_eq!(ctx.label_names().await, ["web"]);
    let gone = ctx.delete_label(&bug).await.unwrap_err();
    assert!(matches!(gone, Error::NoLabel(_)), "{gone}");
    let gone = ctx.store.write(ctx.renaming(&bug, "x")).await.unwrap_err();
    assert!(matches!(gone, Error::NoLabel(_)), "{gone}");
    let gone = ctx.titles_with("bug").await.unwrap_err();
    assert!(matches!(gone, Error::Invalid { field: "labelId", .. }), "{gone}");
    // Another label of that name is not on what had the old one.
    let again = ctx.label("bug", "green").await;
    assert_ne!(again.id, bug.id);
    assert_eq!(names(&ctx.get(task.number).await), ["web"]);
    assert_eq!(ctx.titles_with("bug").await.unwrap(), Vec::<String>::new());
    assert_eq!(names(&ctx.claim().await.task), ["web"]);
}

pub(crate) async fn tasks_get_labels_when_they_are_created_and_edited(ctx: &TestStore) {
    let bug = ctx.label("bug", "red").await;
    ctx.label("web", "blue").await;
    ctx.label("api", "green").await;
    let by_id = bug.id.to_string();
    let task = ctx.create(labelled("t", &["web", &by_id, "bug", "web"])).await;
    assert_eq!(names(&task), ["bug", "web"]);
    assert_eq!(ctx.get(task.number).await, task);
    let edited = ctx.edit(task.number, relabel(&["api", "web", "api"])).await;
    assert_eq!(names(&edited), ["api", "web"]);
    let untouched = ctx.edit(task.number, TaskEdit { boost: Some(1), ..TaskEdit::default() }).await;
    assert_eq!(names(&untouched), ["api", "web"]);
    assert_eq!(names(&ctx.edit(task.number, relabel(&[])).await), Vec::<&str>::new());
    assert_eq!(ctx.get(task.number).await.labels, []);
}

pub(crate) async fn a_label_nobody_knows_is_refused_and_changes_nothing(ctx: &TestStore) {
    ctx.label("bug", "red").await;
    let task = ctx.create(labelled("t", &["bug"])).await;
    let created = ctx.store.write(ctx.creation(labelled("u", &["bug", "nope"]))).await.unwrap_err();
    let edited = ctx.patching(person(), task.number, relabel(&["nope"]), None);
    let edited = Box::pin(ctx.store.write(edited)).await.unwrap_err();
    for refused in [created, edited] {
        assert!(matches!(refused, Error::Invalid { field: "labelIds", .. }), "{refused}");
        assert!(refused.to_string().contains("nope"), "{refused}");
    }
    assert_eq!(ctx.get(task.number).await, task);
    assert_eq!(ctx.queue_titles().await, ["t"]);
}

pub(crate) async fn tasks_are_listed_by_label(ctx: &TestStore) {
    let bug = ctx.label("bug", "red").await;
    ctx.label("web", "blue").await;
    ctx.create(labelled("one", &["bug"])).await;
    ctx.create(labelled("other", &["web"])).await;
    ctx.create(labelled("both", &["web", "bug"])).await;
    let gone = ctx.create(labelled("gone", &["bug"])).await;
    ctx.add("none").await;
    ctx.delete(gone.number).await;
    for name in ["bug".to_owned(), bug.id.to_string()] {
        assert_eq!(ctx.titles_with(&name).await.unwrap(), ["one", "both"], "{name}");
    }
    assert_eq!(ctx.titles_with("web").await.unwrap(), ["other", "both"]);
}

pub(crate) async fn of_labels_made_at_once_with_one_name_one_is_left(ctx: &TestStore) {
    let created = at_once(ctx, (0..8).map(|_| ctx.labelling("bug")).collect()).await;
    let refused: Vec<_> = created.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 7);
    assert!(refused.iter().all(|refused| matches!(refused, Error::Conflict(_))), "{refused:?}");
    assert_eq!(ctx.label_names().await, ["bug"]);
}

pub(crate) async fn of_labels_that_want_one_name_at_once_one_gets_it(ctx: &TestStore) {
    for round in 0..10 {
        let name = format!("wanted {round}");
        let mut renames = Vec::new();
        for number in 0..8 {
            let label = ctx.label(&format!("{round} {number}"), "gray").await;
            renames.push(ctx.renaming(&label, &name));
        }
        let refused: Vec<_> = at_once(ctx, renames).await.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused.len(), 7, "round {round}");
        assert!(refused.iter().all(|refused| matches!(refused, Error::Conflict(_))), "{refused:?}");
        let named = format!("SELECT COUNT(*) FROM label WHERE name = '{name}'");
        assert_eq!(ctx.database.raw_int(&named).await, 1);
    }
}

pub(crate) async fn a_label_is_deleted_once_though_8_delete_it(ctx: &TestStore) {
    for _ in 0..5 {
        let label = ctx.label("bug", "red").await;
        let delete = LabelDelete { ctx: ctx.ctx(person()), label: LabelRef::Id(label.id) };
        let refused: Vec<_> =
            at_once(ctx, vec![delete; 8]).await.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused.len(), 7);
        assert!(refused.iter().all(|refused| matches!(refused, Error::NoLabel(_))), "{refused:?}");
    }
}

pub(crate) async fn a_name_and_a_color_edited_at_once_are_both_kept(ctx: &TestStore) {
    for round in 0..10 {
        let label = ctx.label(&format!("old {round}"), "old").await;
        let name = format!("new {round}");
        let color = LabelPatch { name: None, color: Some("new".to_owned()), ..ctx.renaming(&label, "") };
        for edited in at_once(ctx, vec![ctx.renaming(&label, &name), color]).await {
            edited.unwrap();
        }
        let (labels, _) = ctx.store.read(LabelList { offset: 0, limit: 100 }).await.unwrap();
        let kept = labels.into_iter().find(|kept| kept.id == label.id).unwrap();
        assert_eq!((kept.name, kept.color.as_str()), (name, "new"), "round {round}");
    }
}
