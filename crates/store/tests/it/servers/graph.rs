//! The graph under writers that overlap, in both orders.

use std::sync::Arc;

use extraboard_core::graph::RelationType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::state::{State, Verb};
use extraboard_core::task::Place;
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::{Claimed, RelationDelete, TaskDraft, TaskEdit, TaskMove};
use tokio::task::JoinHandle;

use super::{EVENTS, Hold, RANK_LOCK, begin, finished, until_waiting};
use crate::conformance::blockers::blocked_by;
use crate::harness::{TestStore, below, completed, person};

/// Two servers over a running task and one more.
struct Scene {
    ctx: TestStore,
    one: Arc<Store>,
    other: Arc<Store>,
    running: Claimed,
    task: TaskNumber,
}

impl Scene {
    async fn new() -> Self {
        let ctx = TestStore::postgres().await;
        let [one, other] = ctx.replicas().await;
        ctx.add("running").await;
        let running = ctx.claim().await;
        let task = ctx.add("task").await.number;
        Self { ctx, one, other, running, task }
    }

    fn number(&self) -> TaskNumber {
        self.running.task.number
    }

    /// Fails unless a task stands in line, and all counters are right.
    async fn check_free(&self, task: TaskNumber) {
        assert_eq!(self.ctx.get(task).await.place(), Place::Line);
        self.ctx.audit().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocker_finished_before_it_is_related_does_not_hold() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, running, task } = &scene;
    let events = Hold::of(ctx, EVENTS).await;
    let finish = begin(one, ctx.saying(running, completed("{}")));
    until_waiting(&ctx.database, 1).await;
    let relate = begin(other, ctx.relating(*task, RelationType::BlockedBy, scene.number()));
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    finished(finish).await.unwrap();
    finished(relate).await.unwrap();
    scene.check_free(*task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocker_related_before_it_is_finished_wakes_what_it_blocks() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, running, task } = &scene;
    // The relation has its blocker and waits for what is to be blocked.
    let blocked = Hold::of_task(ctx, *task).await;
    let relate = begin(one, ctx.relating(*task, RelationType::BlockedBy, scene.number()));
    until_waiting(&ctx.database, 1).await;
    let finish = begin(other, ctx.saying(running, completed("{}")));
    until_waiting(&ctx.database, 2).await;
    blocked.let_go().await;
    finished(relate).await.unwrap();
    finished(finish).await.unwrap();
    scene.check_free(*task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocker_named_at_creation_is_read_with_its_lock() {
    for finishes_first in [true, false] {
        let scene = Scene::new().await;
        let Scene { ctx, one, other, running, .. } = &scene;
        let creation = ctx.creation(blocked_by(ctx, "new", &[scene.number()]));
        let report = ctx.saying(running, completed("{}"));
        let events = Hold::of(ctx, EVENTS).await;
        let (create, finish);
        if finishes_first {
            finish = begin(one, report);
            until_waiting(&ctx.database, 1).await;
            create = begin(other, creation);
        } else {
            create = begin(other, creation);
            until_waiting(&ctx.database, 1).await;
            finish = begin(one, report);
        }
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        finished(finish).await.unwrap();
        scene.check_free(finished(create).await.unwrap().number).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_is_read_with_its_lock() {
    for (finishes_first, is_new) in [(true, true), (false, true), (true, false), (false, false)] {
        let scene = Scene::new().await;
        let Scene { ctx, one, other, running, task } = &scene;
        let make = || {
            if is_new {
                let draft = TaskDraft { gated_by_parent: true, ..below(scene.number(), "child") };
                let create = begin(other, ctx.creation(draft));
                return tokio::spawn(async { finished(create).await.map(|task| task.number) });
            }
            let edit = TaskEdit {
                parent: Some(Some(TaskRef::Number(scene.number()))),
                gated_by_parent: Some(true),
                ..TaskEdit::default()
            };
            let patch = begin(other, ctx.patching(person(), *task, edit, None));
            tokio::spawn(async { finished(patch).await.map(|patched| patched.task.number) })
        };
        let events = Hold::of(ctx, EVENTS).await;
        let (child, finish);
        if finishes_first {
            finish = begin(one, ctx.saying(running, completed("{}")));
            until_waiting(&ctx.database, 1).await;
            child = make();
        } else {
            child = make();
            until_waiting(&ctx.database, 1).await;
            finish = begin(one, ctx.saying(running, completed("{}")));
        }
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        finished(finish).await.unwrap();
        let child = child.await.unwrap().unwrap();
        scene.check_free(child).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_left_before_it_is_reopened_holds_nobody() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, task, .. } = &scene;
    let root = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("root") }).await.number;
    let next = ctx.create(below(root, "next parent")).await.number;
    let draft = TaskDraft { gated_by_parent: true, ..below(*task, "child") };
    let child = ctx.create(draft).await.number;
    for done in [*task, next] {
        ctx.apply(done, Verb::Close).await;
    }
    // When it is reopened it is held, so that it does not wait for the rank lock itself.
    ctx.block(scene.number(), *task).await.unwrap();
    let ranks = Hold::of(ctx, RANK_LOCK).await;
    let edit = TaskEdit { parent: Some(Some(TaskRef::Number(next))), ..TaskEdit::default() };
    let leave = begin(one, ctx.patching(person(), child, edit, None));
    until_waiting(&ctx.database, 1).await;
    let parent = TaskRef::Number(*task);
    let reopen = begin(other, TaskMove { ctx: ctx.ctx(person()), task: parent, verb: Verb::Reopen });
    until_waiting(&ctx.database, 2).await;
    ranks.let_go().await;
    finished(leave).await.unwrap();
    finished(reopen).await.unwrap();
    scene.check_free(child).await;
}

/// Begins to write half of a cycle: a task that waits for another one.
fn begin_half(
    ctx: &TestStore,
    store: &Arc<Store>,
    [first, then]: [TaskNumber; 2],
    over_parent: bool,
) -> JoinHandle<Result<(), Error>> {
    if !over_parent {
        let half = begin(store, ctx.relating(first, RelationType::Blocks, then));
        return tokio::spawn(async { finished(half).await.map(drop) });
    }
    let edit = TaskEdit {
        parent: Some(Some(TaskRef::Number(first))),
        gated_by_parent: Some(true),
        ..TaskEdit::default()
    };
    let half = begin(store, ctx.patching(person(), then, edit, None));
    tokio::spawn(async { finished(half).await.map(drop) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_half_of_a_cycle_sees_the_first() {
    for over_parents in [[false, false], [false, true], [true, false], [true, true]] {
        let scene = Scene::new().await;
        let Scene { ctx, one, other, task, .. } = &scene;
        let second = ctx.add("second").await.number;
        let events = Hold::of(ctx, EVENTS).await;
        let first_half = begin_half(ctx, one, [*task, second], over_parents[0]);
        until_waiting(&ctx.database, 1).await;
        let second_half = begin_half(ctx, other, [second, *task], over_parents[1]);
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        finished(first_half).await.unwrap();
        let refused = finished(second_half).await;
        assert!(matches!(refused, Err(Error::Cycle(_))), "{over_parents:?}: {refused:?}");
        scene.check_free(*task).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_blockers_finished_at_once_both_count() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, running, task } = &scene;
    let second = ctx.claim().await;
    assert_eq!(second.task.number, *task);
    let blockers = [scene.number(), *task];
    let blocked = [
        ctx.create(blocked_by(ctx, "first", &blockers)).await.number,
        ctx.create(blocked_by(ctx, "second", &blockers)).await.number,
    ];
    // Both have finished their own task and wait for the first they have to wake.
    let held = Hold::of_task(ctx, blocked[0]).await;
    let finishing = [
        begin(one, ctx.saying(running, completed("{}"))),
        begin(other, ctx.saying(&second, completed("{}"))),
    ];
    until_waiting(&ctx.database, 2).await;
    held.let_go().await;
    for finish in finishing {
        finished(finish).await.unwrap();
    }
    for task in blocked {
        scene.check_free(task).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relation_taken_back_while_its_blocker_is_finished_counts_once() {
    for finishes_first in [true, false] {
        let scene = Scene::new().await;
        let Scene { ctx, one, other, running, task } = &scene;
        let relation = ctx.block(scene.number(), *task).await.unwrap().related.relation.id;
        let delete = RelationDelete { ctx: ctx.ctx(person()), relation };
        let events = Hold::of(ctx, EVENTS).await;
        let (finish, back);
        if finishes_first {
            finish = begin(one, ctx.saying(running, completed("{}")));
            until_waiting(&ctx.database, 1).await;
            back = begin(other, delete);
        } else {
            back = begin(other, delete);
            until_waiting(&ctx.database, 1).await;
            finish = begin(one, ctx.saying(running, completed("{}")));
        }
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        finished(finish).await.unwrap();
        finished(back).await.unwrap();
        assert_eq!(ctx.get(*task).await.open_blockers, 0);
        scene.check_free(*task).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_provided_while_somebody_begins_to_wait_is_seen() {
    for (provides_first, is_new) in [(true, true), (false, true), (true, false), (false, false)] {
        let scene = Scene::new().await;
        let Scene { ctx, one, other, task, .. } = &scene;
        let wait = || {
            let artifact = Some("a.md".to_owned());
            if is_new {
                let create = begin(other, ctx.creation(TaskDraft { artifact, ..TaskDraft::new("waits") }));
                return tokio::spawn(async { finished(create).await.map(|task| task.number) });
            }
            let edit = TaskEdit { artifact: Some(artifact), ..TaskEdit::default() };
            let patch = begin(other, ctx.patching(person(), *task, edit, None));
            tokio::spawn(async { finished(patch).await.map(|patched| patched.task.number) })
        };
        let events = Hold::of(ctx, EVENTS).await;
        let (provide, waits);
        if provides_first {
            provide = begin(one, ctx.providing(scene.number(), "a.md"));
            until_waiting(&ctx.database, 1).await;
            waits = wait();
        } else {
            waits = wait();
            until_waiting(&ctx.database, 1).await;
            provide = begin(one, ctx.providing(scene.number(), "a.md"));
        }
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        finished(provide).await.unwrap();
        scene.check_free(waits.await.unwrap().unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_beside_a_new_blocker_never_hands_out_what_is_held() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, task, .. } = &scene;
    let events = Hold::of(ctx, EVENTS).await;
    let relate = begin(one, ctx.relating(*task, RelationType::BlockedBy, scene.number()));
    until_waiting(&ctx.database, 1).await;
    let claim = begin(other, ctx.batch(vec![ctx.request("b")]));
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    finished(relate).await.unwrap();
    let nothing = finished(claim).await.unwrap().pop().unwrap().unwrap().unwrap_err();
    assert_eq!(nothing, extraboard_core::gate::Nothing::Held);
    assert_eq!(ctx.get(*task).await.fence.0, 0);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocker_reopened_beside_a_claim_counts_for_what_was_claimed() {
    let scene = Scene::new().await;
    let Scene { ctx, one, other, running, task } = &scene;
    ctx.block(scene.number(), *task).await.unwrap();
    ctx.complete(running).await;
    let events = Hold::of(ctx, EVENTS).await;
    let claim = begin(one, ctx.batch(vec![ctx.request("b")]));
    until_waiting(&ctx.database, 1).await;
    let blocker = TaskRef::Number(scene.number());
    let reopen = begin(other, TaskMove { ctx: ctx.ctx(person()), task: blocker, verb: Verb::Reopen });
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    let claimed = finished(claim).await.unwrap().pop().unwrap().unwrap().unwrap();
    finished(reopen).await.unwrap();
    assert_eq!((claimed.task.number, ctx.get(*task).await.open_blockers), (*task, 1));
    ctx.report(&claimed, extraboard_core::report::Report::Release).await;
    assert_eq!(ctx.get(*task).await.place(), Place::Held);
    ctx.audit().await;
}
