//! Imports: what comes from elsewhere comes once.

use extraboard_core::clock::Span;
use extraboard_core::id::TaskNumber;
use extraboard_core::task::Task;
use extraboard_store::verbs::{Imported, TaskDraft, TaskFilter, TaskImport, TaskList};

use crate::harness::TestStore;
use crate::prompting::at_once;

impl TestStore {
    fn importing(&self, key: &str, title: &str) -> TaskImport {
        let draft = TaskDraft { external_key: Some(key.to_owned()), ..TaskDraft::new(title) };
        TaskImport { create: self.creation(draft) }
    }

    async fn import(&self, key: &str, title: &str) -> Imported {
        Box::pin(self.store.write(self.importing(key, title))).await.unwrap()
    }

    async fn with_key(&self, key: &str) -> Vec<Task> {
        let filter = TaskFilter { external_key: Some(key.to_owned()), ..TaskFilter::default() };
        let list = TaskList { filter, after: TaskNumber(0), offset: 0, limit: 10 };
        self.store.read(list).await.unwrap().tasks.into_iter().map(|view| view.task).collect()
    }
}

fn created(imported: Imported) -> Task {
    match imported {
        Imported::Created(task) => task,
        Imported::Known(task) => panic!("#{} was known", task.number),
    }
}

fn known(imported: Imported) -> Task {
    match imported {
        Imported::Known(task) => task,
        Imported::Created(task) => panic!("#{} was created", task.number),
    }
}

pub(crate) async fn what_is_imported_twice_is_there_once_and_unchanged(ctx: &TestStore) {
    let first = created(ctx.import("github:acme/x#1", "first").await);
    assert_eq!(first.external_key.as_deref(), Some("github:acme/x#1"));
    ctx.pass(Span::from_secs(1));
    let events = ctx.events().await.len();
    let again = known(ctx.import("github:acme/x#1", "changed").await);
    assert_eq!((&again, &ctx.get(first.number).await), (&first, &first));
    assert_eq!(ctx.events().await.len(), events);
    let other = created(ctx.import("github:acme/x#11", "other").await);
    assert_eq!(ctx.with_key("github:acme/x#1").await, [first]);
    assert_eq!(ctx.with_key("github:acme/x#11").await, [other]);
    assert_eq!(ctx.with_key("github:acme/x").await, []);
}

pub(crate) async fn what_is_known_is_so_wherever_it_stands(ctx: &TestStore) {
    let first = created(ctx.import("k", "t").await);
    let claimed = ctx.claim().await;
    assert_eq!(known(ctx.import("k", "t").await), ctx.get(first.number).await);
    ctx.complete(&claimed).await;
    assert_eq!(known(ctx.import("k", "t").await), ctx.get(first.number).await);
    assert_eq!(ctx.queue_titles().await, Vec::<String>::new());
}

pub(crate) async fn of_eight_imports_at_once_one_creates_the_task(ctx: &TestStore) {
    for round in 0..5 {
        let imports = (0..8).map(|_| ctx.importing(&round.to_string(), "t")).collect();
        let imported: Vec<_> = at_once(ctx, imports).await.into_iter().map(Result::unwrap).collect();
        let new = imported.iter().filter(|imported| matches!(imported, Imported::Created(_))).count();
        let (Imported::Created(first) | Imported::Known(first)) = &imported[0];
        let same = |imported: &Imported| {
            let (Imported::Created(task) | Imported::Known(task)) = imported;
            task == first
        };
        assert!(new == 1 && imported.iter().all(same), "round {round}: {imported:?}");
        assert_eq!(ctx.with_key(&round.to_string()).await.len(), 1);
    }
}

pub(crate) async fn what_was_deleted_can_be_imported_again(ctx: &TestStore) {
    let first = created(ctx.import("k", "first").await);
    ctx.delete(first.number).await;
    assert_eq!(ctx.with_key("k").await, []);
    let second = created(ctx.import("k", "second").await);
    assert_ne!(second.number, first.number);
    assert_eq!(known(ctx.import("k", "third").await), second);
    assert_eq!(ctx.with_key("k").await, [second]);
}
