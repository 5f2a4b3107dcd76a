//! Patches: asking for a status does what the published table says, or nothing.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::dispatch::Phase;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::id::TaskRef;
use extraboard_core::kind::Kind;
use extraboard_core::patch::{Ask, Role, ask};
use extraboard_core::priority::{Level, Priority};
use extraboard_core::reason::Reason;
use extraboard_core::state::State;
use extraboard_core::status::Status;
use extraboard_core::task::Task;
use extraboard_store::error::Error;
use extraboard_store::verbs::{PriorityEdit, TaskDelete, TaskDraft, TaskEdit, TaskGet, TaskPatched};

use super::tasks::task_in;
use crate::harness::{TestStore, agent, person};

/// Returns somebody who acts in that role; the holder's name is that of the harness's claims.
fn caller_in(role: Role) -> Caller {
    match role {
        Role::Holder => agent("a"),
        Role::Person => person(),
        Role::Agent => agent("z"),
    }
}

fn check_done(before: &Task, ask: Ask, patched: &TaskPatched) {
    let what = format!("{} {ask:?}", before.state);
    let expected = ask.verb().map_or(before.state, |verb| before.state.after(verb).unwrap());
    assert_eq!(patched.task.state, expected, "{what}");
    assert_eq!(patched.task.title, "edited", "{what}");
    assert_eq!(patched.opened.is_some(), ask == Ask::Claim, "{what}");
    if before.state == State::Running && patched.task.state != State::Running {
        let ended = patched.dispatch.as_ref().map(|dispatch| dispatch.phase);
        assert!(matches!(ended, None | Some(Phase::Ending(Reason::UserCanceled))), "{what}");
    }
}

/// Asks for a status, with an edit, and compares what happens with the table.
async fn check_ask(ctx: &TestStore, state: State, asked: Status, role: Role) {
    // Only a task in somebody's hands has a holder.
    if role == Role::Holder && !state.is_active() {
        return;
    }
    let Some(before) = task_in(ctx, state).await else { return };
    let edit = TaskEdit { title: Some("edited".to_owned()), ..TaskEdit::default() };
    let patch = ctx.patching(caller_in(role), before.number, edit, Some(asked));
    let patched = Box::pin(ctx.store.write(patch)).await;
    if let Some(ask) = ask(state, asked, role) {
        check_done(&before, ask, &patched.unwrap());
    } else {
        let Err(Error::Refused { from, asked: refused, role: who }) = patched else { panic!("{patched:?}") };
        assert_eq!((from, refused, who), (state, asked, role));
        assert_eq!(ctx.get(before.number).await, before, "{state} {asked} {role:?}");
    }
    ctx.delete(before.number).await;
}

pub(crate) async fn asking_for_a_status_does_what_the_table_says(ctx: &TestStore) {
    for state in State::ALL {
        for asked in Status::ALL {
            for role in Role::ALL {
                Box::pin(check_ask(ctx, *state, *asked, role)).await;
            }
        }
    }
}

pub(crate) async fn an_edit_moves_a_waiting_task_to_its_new_place(ctx: &TestStore) {
    let [first, second] = [ctx.add("first").await.number, ctx.add("second").await.number];
    let points = |points| TaskEdit {
        priority: Some(PriorityEdit::Points(Priority::new(points).unwrap())),
        ..TaskEdit::default()
    };
    ctx.edit(second, points(51)).await;
    assert_eq!(ctx.queue_titles().await, ["second", "first"]);
    ctx.edit(second, points(1)).await;
    assert_eq!(ctx.queue_titles().await, ["first", "second"]);
    let push = Doors::new([Door::Push]);
    ctx.edit(first, TaskEdit { doors: push, kind: Some(Kind::Code), ..TaskEdit::default() }).await;
    assert_eq!(ctx.queue_titles().await, ["second"]);
    let later = Some(Some(ctx.now().plus(Span::from_secs(1))));
    ctx.edit(second, TaskEdit { not_before: later, ..TaskEdit::default() }).await;
    assert_eq!(ctx.queue_titles().await, Vec::<String>::new());
    ctx.audit().await;
    ctx.edit(second, TaskEdit { not_before: Some(None), ..TaskEdit::default() }).await;
    assert_eq!(ctx.queue_titles().await, ["second"]);
}

pub(crate) async fn writing_back_the_level_that_was_read_keeps_the_points(ctx: &TestStore) {
    let priority = Priority::new(73).unwrap();
    let task = ctx.create(TaskDraft { priority, ..TaskDraft::new("t") }).await;
    let level = |level| TaskEdit { priority: Some(PriorityEdit::Level(level)), ..TaskEdit::default() };
    assert_eq!(ctx.edit(task.number, level(Level::Medium)).await.priority, priority);
    assert_eq!(ctx.edit(task.number, level(Level::High)).await.priority.points(), 75);
}

pub(crate) async fn a_moment_set_while_running_counts_when_the_task_comes_back(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    let later = ctx.now().plus(Span::from_mins(5));
    ctx.edit(task.number, TaskEdit { not_before: Some(Some(later)), ..TaskEdit::default() }).await;
    ctx.report(&claimed, extraboard_core::report::Report::Release).await;
    assert_eq!(ctx.get(task.number).await.not_before, Some(later));
    assert!(ctx.try_claim().await.is_err());
}

pub(crate) async fn a_holders_patch_renews_its_lease(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.pass(Span::from_mins(30));
    ctx.ask(agent("z"), task.number, Status::InProgress).await.unwrap_err();
    ctx.store.write(ctx.patching(agent("z"), task.number, TaskEdit::default(), None)).await.unwrap();
    let view = ctx.store.read(TaskGet { task: TaskRef::Number(task.number) }).await.unwrap();
    assert_eq!(view.dispatch.unwrap().lease_until, claimed.dispatch.lease_until);
    let patched = ctx.ask(agent("a"), task.number, Status::InProgress).await.unwrap();
    assert_eq!(patched.dispatch.unwrap().lease_until, ctx.now().plus(claimed.dispatch.lease));
}

pub(crate) async fn an_agent_cannot_delete_what_somebody_else_works_on(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    let delete = |caller| TaskDelete { ctx: ctx.ctx(caller), task: TaskRef::Number(task.number) };
    let refused = ctx.store.write(delete(agent("z"))).await;
    assert!(matches!(refused, Err(Error::InUseByOther(State::Running))));
    assert_eq!(ctx.get(task.number).await, claimed.task);
    ctx.store.write(delete(agent("a"))).await.unwrap();
}
