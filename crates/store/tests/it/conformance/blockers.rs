//! Blockers: what holds a task back, and what lets it go.

use std::sync::Arc;

use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::graph::{RELATIONS_MAX, RelationType, holds_back};
use extraboard_core::id::{RelationId, TaskNumber, TaskRef};
use extraboard_core::state::{State, Verb};
use extraboard_core::task::Place;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    DoctorRepair, RelationDelete, RelationList, TaskDraft, TaskEdit, TaskRelatives,
};
use tokio::task::JoinSet;

use super::tasks::task_in;
use crate::harness::{TestStore, person};

pub(crate) fn blocked_by(ctx: &TestStore, title: &str, blockers: &[TaskNumber]) -> TaskDraft {
    let blocked_by = blockers.iter().map(|blocker| (ctx.relation_id(), TaskRef::Number(*blocker))).collect();
    TaskDraft { blocked_by, ..TaskDraft::new(title) }
}

async fn take_back(ctx: &TestStore, relation: RelationId) -> Result<(), Error> {
    ctx.store.write(RelationDelete { ctx: ctx.ctx(person()), relation }).await
}

async fn place(ctx: &TestStore, number: TaskNumber) -> Place {
    ctx.get(number).await.place()
}

pub(crate) async fn a4_a_blocker_holds_until_it_is_done_or_canceled(ctx: &TestStore) {
    for state in State::ALL {
        let Some(blocker) = task_in(ctx, *state).await else { continue };
        let at_creation = ctx.create(blocked_by(ctx, "blocked", &[blocker.number])).await;
        let later = ctx.add("blocked later").await;
        ctx.block(blocker.number, later.number).await.unwrap();
        for task in [at_creation.number, later.number] {
            let task = ctx.get(task).await;
            let expected = if holds_back(*state) { (1, Place::Held) } else { (0, Place::Line) };
            assert_eq!((task.open_blockers, task.place()), expected, "{state}");
        }
        let visible = ctx.queue_titles().await.iter().any(|title| title.starts_with("blocked"));
        assert_eq!(visible, matches!(state, State::Done | State::Canceled), "{state}");
        ctx.audit().await;
        for task in [blocker.number, at_creation.number, later.number] {
            ctx.delete(task).await;
        }
    }
}

pub(crate) async fn a4_every_way_to_finish_a_blocker_frees_what_it_blocks(ctx: &TestStore) {
    for way in ["complete", "close", "cancel", "cancel while running", "delete"] {
        let blocker = ctx.add("blocker").await.number;
        let dependent = ctx.create(blocked_by(ctx, "blocked", &[blocker])).await.number;
        assert_eq!(ctx.queue_titles().await, ["blocker"]);
        match way {
            "complete" => drop(ctx.complete(&ctx.claim().await).await),
            "close" => drop(ctx.apply(blocker, Verb::Close).await),
            "cancel" => drop(ctx.apply(blocker, Verb::Cancel).await),
            "cancel while running" => {
                let claimed = ctx.claim().await;
                ctx.apply(blocker, Verb::Cancel).await;
                ctx.complete(&claimed).await;
            }
            _ => ctx.delete(blocker).await,
        }
        assert_eq!(ctx.queue_titles().await, ["blocked"], "{way}");
        ctx.audit().await;
        ctx.delete(dependent).await;
    }
}

pub(crate) async fn a4_a_failed_blocker_holds_until_it_is_done_or_given_up(ctx: &TestStore) {
    let blocker = task_in(ctx, State::Failed).await.unwrap().number;
    let dependent = ctx.create(blocked_by(ctx, "blocked", &[blocker])).await.number;
    assert_eq!(place(ctx, dependent).await, Place::Held);
    ctx.apply(blocker, Verb::Retry).await;
    assert_eq!(place(ctx, dependent).await, Place::Held);
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(place(ctx, dependent).await, Place::Line);
}

pub(crate) async fn a4_all_blockers_have_to_go(ctx: &TestStore) {
    let [one, other] = [ctx.add("one").await.number, ctx.add("other").await.number];
    let dependent = ctx.create(blocked_by(ctx, "blocked", &[one, other])).await;
    assert_eq!(dependent.open_blockers, 2);
    ctx.apply(other, Verb::Cancel).await;
    assert_eq!(ctx.get(dependent.number).await.open_blockers, 1);
    assert_eq!(ctx.queue_titles().await, ["one"]);
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(ctx.queue_titles().await, ["blocked"]);
}

pub(crate) async fn a5_blocks_and_blocked_by_are_the_same_relation(ctx: &TestStore) {
    for word in [RelationType::Blocks, RelationType::BlockedBy] {
        let [blocker, dependent] = [ctx.add("blocker").await.number, ctx.add("blocked").await.number];
        let (task, other) =
            if word == RelationType::Blocks { (blocker, dependent) } else { (dependent, blocker) };
        let created = ctx.store.write(ctx.relating(task, word, other)).await.unwrap();
        assert_eq!((created.existed, created.related.relation_type), (false, word));
        assert_eq!((created.related.relation.from, created.related.relation.to), (blocker, dependent));
        assert_eq!(created.related.other.number, other);
        let seen = async |task| {
            let related = ctx.store.read(RelationList { task: TaskRef::Number(task) }).await.unwrap().related;
            related.into_iter().map(|one| (one.relation_type, one.other.number)).collect::<Vec<_>>()
        };
        assert_eq!(seen(blocker).await, [(RelationType::Blocks, dependent)]);
        assert_eq!(seen(dependent).await, [(RelationType::BlockedBy, blocker)]);
        assert_eq!(ctx.queue_titles().await, ["blocker"], "{word}");
        ctx.complete(&ctx.claim().await).await;
        assert_eq!(ctx.queue_titles().await, ["blocked"], "{word}");
        ctx.delete(dependent).await;
    }
}

pub(crate) async fn a7_a_deleted_task_is_never_claimed_and_does_not_block(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let dependent = ctx.create(blocked_by(ctx, "blocked", &[blocker])).await.number;
    ctx.delete(blocker).await;
    assert_eq!(ctx.queue_titles().await, ["blocked"]);
    let related = ctx.store.read(RelationList { task: TaskRef::Number(dependent) }).await.unwrap().related;
    assert_eq!(related.len(), 0);
    // Nothing can be related to what was deleted.
    for relation in [
        ctx.relating(dependent, RelationType::BlockedBy, blocker),
        ctx.relating(blocker, RelationType::Blocks, dependent),
    ] {
        let refused = ctx.store.write(relation).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { .. } | Error::NoTask(_)), "{refused}");
    }
    assert_eq!(ctx.claim().await.task.number, dependent);
    assert!(ctx.try_claim().await.is_err());
}

pub(crate) async fn a7_a_held_task_that_is_deleted_is_not_woken(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let dependent = ctx.create(blocked_by(ctx, "blocked", &[blocker])).await.number;
    ctx.delete(dependent).await;
    ctx.audit().await;
    ctx.complete(&ctx.claim().await).await;
    assert!(ctx.try_claim().await.is_err());
    let relatives = ctx.store.read(TaskRelatives { task: TaskRef::Number(blocker) }).await.unwrap();
    assert_eq!(relatives.related.len(), 0);
}

pub(crate) async fn reopening_a_blocker_holds_again(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let draft = |title| blocked_by(ctx, title, &[blocker]);
    let running = ctx.create(draft("running")).await.number;
    let waits = ctx.create(draft("waits")).await.number;
    let due = Some(ctx.now().plus(Span::from_mins(5)));
    let later = ctx.create(TaskDraft { not_before: due, ..draft("later") }).await.number;
    let parked = ctx.create(draft("parked")).await.number;
    ctx.complete(&ctx.claim().await).await;
    ctx.apply(parked, Verb::Park).await;
    assert_eq!(ctx.claim().await.task.number, running);
    assert!(matches!(place(ctx, later).await, Place::Timer(_)));
    ctx.apply(blocker, Verb::Reopen).await;
    assert_eq!(ctx.queue_titles().await, ["blocker"]);
    assert_eq!([place(ctx, waits).await, place(ctx, later).await], [Place::Held; 2]);
    assert_eq!(ctx.get(running).await.state, State::Running);
    ctx.audit().await;
    ctx.apply(parked, Verb::Admit).await;
    assert_eq!(place(ctx, parked).await, Place::Held);
    ctx.pass(Span::from_mins(5));
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(ctx.queue_titles().await, ["waits", "later", "parked"]);
}

pub(crate) async fn what_is_handed_back_while_its_blocker_is_open_is_held(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let claimed = ctx.claim().await;
    let dependent = ctx.add("blocked").await.number;
    let running = ctx.claim().await;
    assert_eq!(running.task.number, dependent);
    ctx.block(blocker, dependent).await.unwrap();
    ctx.report(&running, extraboard_core::report::Report::Release).await;
    assert_eq!(place(ctx, dependent).await, Place::Held);
    ctx.complete(&claimed).await;
    assert_eq!(ctx.claim().await.task.number, dependent);
}

pub(crate) async fn a_relation_that_is_taken_back_frees(ctx: &TestStore) {
    let [one, other] = [ctx.add("one").await.number, ctx.add("other").await.number];
    let dependent = ctx.add("blocked").await.number;
    let mut relations = Vec::new();
    for blocker in [one, other] {
        relations.push(ctx.block(blocker, dependent).await.unwrap().related.relation.id);
    }
    take_back(ctx, relations[0]).await.unwrap();
    assert_eq!(place(ctx, dependent).await, Place::Held);
    // A blocker that does not hold any more is not counted twice.
    ctx.apply(other, Verb::Cancel).await;
    assert_eq!(place(ctx, dependent).await, Place::Line);
    take_back(ctx, relations[1]).await.unwrap();
    assert_eq!(ctx.get(dependent).await.open_blockers, 0);
    ctx.apply(other, Verb::Reopen).await;
    assert_eq!(place(ctx, dependent).await, Place::Line);
    let gone = take_back(ctx, relations[1]).await.unwrap_err();
    assert!(matches!(gone, Error::NoRelation(id) if id == relations[1]), "{gone}");
    let events = ctx.events().await;
    let deleted = events.iter().filter(|event| event.event_type == EventType::RelationDeleted);
    assert_eq!(deleted.count(), 2);
}

pub(crate) async fn the_same_relation_twice_is_one(ctx: &TestStore) {
    let [blocker, dependent] = [ctx.add("blocker").await.number, ctx.add("blocked").await.number];
    let first = ctx.block(blocker, dependent).await.unwrap();
    for again in [
        ctx.relating(dependent, RelationType::BlockedBy, blocker),
        ctx.relating(blocker, RelationType::Blocks, dependent),
    ] {
        let again = ctx.store.write(again).await.unwrap();
        assert!(again.existed);
        assert_eq!(again.related.relation, first.related.relation);
    }
    assert_eq!(ctx.get(dependent).await.open_blockers, 1);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM relation").await, 1);
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(ctx.queue_titles().await, ["blocked"]);
}

pub(crate) async fn other_relations_hold_nothing(ctx: &TestStore) {
    let [one, other] = [ctx.add("one").await.number, ctx.add("other").await.number];
    for word in [RelationType::Related, RelationType::Duplicate] {
        let created = ctx.store.write(ctx.relating(one, word, other)).await.unwrap();
        ctx.store.write(ctx.relating(other, word, one)).await.unwrap();
        assert_eq!(ctx.queue_titles().await, ["one", "other"], "{word}");
        take_back(ctx, created.related.relation.id).await.unwrap();
    }
    let related = ctx.store.read(RelationList { task: TaskRef::Number(one) }).await.unwrap().related;
    let words: Vec<_> = related.iter().map(|one| one.relation_type).collect();
    assert_eq!(words, [RelationType::Related, RelationType::Duplicate]);
}

pub(crate) async fn a_task_may_be_blocked_when_it_is_created(ctx: &TestStore) {
    let [open, done] = [ctx.add("open").await.number, ctx.add("done").await.number];
    ctx.apply(done, Verb::Close).await;
    let task = ctx.create(blocked_by(ctx, "blocked", &[open, done, open])).await;
    assert_eq!((task.open_blockers, task.place()), (1, Place::Held));
    assert_eq!(ctx.get(task.number).await, task);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM relation").await, 2);
    let events = ctx.events().await;
    let told: Vec<_> =
        events.iter().filter(|event| event.task == Some(task.number)).map(|event| event.event_type).collect();
    let related = EventType::RelationCreated;
    assert_eq!(told, [EventType::TaskCreated, related, EventType::TaskHeld, related]);
    for missing in [TaskNumber(99), {
        ctx.delete(done).await;
        done
    }] {
        let refused = ctx.store.write(ctx.creation(blocked_by(ctx, "t", &[missing]))).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field: "blockedBy", .. }), "{refused}");
    }
}

/// Adds finished tasks, all of them related to one.
async fn relate_many(ctx: &TestStore, task: TaskNumber, count: i64) {
    let sql = format!(
        "INSERT INTO task (number, id, title, kind, state, priority, doors, max_retries, created_at, updated_at)
           WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {count})
           SELECT 100000 + n, '00000000-0000-7000-8000-' || (100000000000 + n), 't', 'task', 'done', 50, 7, 3,
             1, 1 FROM s;
         INSERT INTO relation (id, type, task, other, created_at)
           SELECT id, 'related', number, {task}, 1 FROM task WHERE number > 100000"
    );
    ctx.database.raw(&sql).await.unwrap();
}

async fn forget_many(ctx: &TestStore) {
    let sql = "DELETE FROM relation WHERE task > 100000 OR other > 100000; \
       DELETE FROM task WHERE number > 100000";
    ctx.database.raw(sql).await.unwrap();
}

pub(crate) async fn relations_of_a_task_are_limited(ctx: &TestStore) {
    let [full, other] = [ctx.add("full").await.number, ctx.add("other").await.number];
    let [third, fourth] = [ctx.add("third").await.number, ctx.add("fourth").await.number];
    relate_many(ctx, full, RELATIONS_MAX - 1).await;
    ctx.block(full, other).await.unwrap();
    for relation in
        [ctx.relating(full, RelationType::Blocks, third), ctx.relating(fourth, RelationType::Related, full)]
    {
        let refused = ctx.store.write(relation).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field: "relatedIssueId", .. }), "{refused}");
    }
    let refused = ctx.store.write(ctx.creation(blocked_by(ctx, "new", &[full]))).await;
    forget_many(ctx).await;
    assert!(matches!(refused, Err(Error::Invalid { field: "blockedBy", .. })), "{refused:?}");
}

pub(crate) async fn completion_wakes_dependents_in_the_same_transaction(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let waits = ctx.create(blocked_by(ctx, "waits", &[blocker])).await.number;
    let child = {
        let draft = crate::harness::below(blocker, "child");
        ctx.create(TaskDraft { gated_by_parent: true, ..draft }).await.number
    };
    let claimed = ctx.claim().await;
    // One of them cannot be woken, so nothing of it happens.
    ctx.database.raw(&format!("DELETE FROM held WHERE task = {child}")).await.unwrap();
    let saying = || ctx.saying(&claimed, crate::harness::completed("{}"));
    let broken = ctx.store.write(saying()).await.unwrap_err();
    assert!(matches!(broken, Error::Broken(_)), "{broken}");
    assert_eq!(ctx.get(blocker).await.state, State::Running);
    assert_eq!(place(ctx, waits).await, Place::Held);
    let repair = DoctorRepair { ctx: ctx.ctx(person()), after: TaskNumber(0), limit: 10 };
    ctx.store.write(repair).await.unwrap();
    let seen = ctx.events().await.last().unwrap().pos;
    ctx.store.write(saying()).await.unwrap();
    assert_eq!(ctx.queue_titles().await, ["waits", "child"]);
    ctx.sequence().await;
    let told: Vec<_> =
        ctx.events_after(seen).await.iter().map(|event| (event.event_type, event.task.unwrap())).collect();
    let freed = EventType::TaskFreed;
    assert_eq!(told, [(EventType::DispatchClosed, blocker), (freed, waits), (freed, child)]);
}

pub(crate) async fn a_thousand_dependents_are_woken_at_once(ctx: &Arc<TestStore>) {
    let blocker = ctx.add("blocker").await.number;
    let mut running = JoinSet::new();
    for writer in 0..10 {
        let ctx = Arc::clone(ctx);
        running.spawn(async move {
            for index in 0..RELATIONS_MAX / 10 {
                ctx.create(blocked_by(&ctx, &format!("{writer} {index}"), &[blocker])).await;
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM held").await, RELATIONS_MAX);
    let claimed = ctx.claim().await;
    assert!(ctx.try_claim().await.is_err());
    ctx.complete(&claimed).await;
    assert_eq!(ctx.store.read(ctx.queueing(0, 1)).await.unwrap().total, RELATIONS_MAX);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM held").await, 0);
}

pub(crate) async fn an_edit_of_a_held_task_keeps_it_held(ctx: &TestStore) {
    let blocker = ctx.add("blocker").await.number;
    let dependent = ctx.create(blocked_by(ctx, "blocked", &[blocker])).await.number;
    let due = Some(Some(ctx.now().plus(Span::from_mins(1))));
    ctx.edit(dependent, TaskEdit { boost: Some(9), not_before: due, ..TaskEdit::default() }).await;
    assert_eq!(place(ctx, dependent).await, Place::Held);
    ctx.pass(Span::from_mins(2));
    assert_eq!(ctx.advance().await, 0);
    ctx.complete(&ctx.claim().await).await;
    assert_eq!(ctx.queue_titles().await, ["blocked"]);
}
