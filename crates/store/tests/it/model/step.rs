//! The steps: each is done to the store and to the model, and both must answer alike.

use extraboard_core::clock::Span;
use extraboard_core::priority::Priority;
use extraboard_core::reason::{Counters, Reason};
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{PriorityEdit, TaskDelete, TaskDraft, TaskEdit};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::{Index, select};

use super::board::{Board, Item};
use crate::harness::{TestStore, asked, completed, failed, person};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create { points: i64, state: State, wait_secs: Option<i64> },
    Move(Index, Verb),
    Delete(Index),
    Reprioritize(Index, i64),
    Delay(Index, Option<i64>),
    Claim,
    Heartbeat(Index),
    Report(Index, Report),
    Terminate(Index, Reason),
    Sweep,
    Advance,
    Pass(i64),
}

fn any_report() -> impl Strategy<Value = Report> {
    let hopeless = Report::Fail {
        class: FailureClass::ExecutionFailed,
        retryable: Retryable::No,
        retry_after: None,
        error: None,
        provider: None,
    };
    prop_oneof![
        3 => Just(completed("1")),
        4 => select(FailureClass::ALL).prop_map(failed),
        1 => Just(hopeless),
        1 => Just(Report::Release),
        1 => Just(asked()),
    ]
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    let wait = || prop_oneof![2 => Just(None), 1 => (-60..600i64).prop_map(Some)];
    let verbs = [Verb::Admit, Verb::Park, Verb::Cancel, Verb::Reopen, Verb::Retry, Verb::Close];
    let reasons =
        [Reason::CooperativePreemption, Reason::Crash, Reason::HardCapExceeded, Reason::AgentStopped];
    let created = prop_oneof![4 => Just(State::Queued), 1 => Just(State::Backlog)];
    // Mostly small steps of time; sometimes past a lease, sometimes back.
    let secs = prop_oneof![4 => 0..90i64, 2 => 600..4000i64, 1 => -4000..0i64];
    prop_oneof![
        4 => (1..=100i64, created, wait())
            .prop_map(|(points, state, wait_secs)| Step::Create { points, state, wait_secs }),
        6 => (any::<Index>(), select(verbs.to_vec())).prop_map(|(item, verb)| Step::Move(item, verb)),
        1 => any::<Index>().prop_map(Step::Delete),
        2 => (any::<Index>(), 1..=100i64).prop_map(|(item, points)| Step::Reprioritize(item, points)),
        1 => (any::<Index>(), wait()).prop_map(|(item, wait_secs)| Step::Delay(item, wait_secs)),
        8 => Just(Step::Claim),
        1 => any::<Index>().prop_map(Step::Heartbeat),
        6 => (any::<Index>(), any_report()).prop_map(|(hand_out, report)| Step::Report(hand_out, report)),
        2 => (any::<Index>(), select(reasons.to_vec()))
            .prop_map(|(hand_out, reason)| Step::Terminate(hand_out, reason)),
        2 => Just(Step::Sweep),
        1 => Just(Step::Advance),
        4 => secs.prop_map(Step::Pass),
    ]
}

impl Step {
    pub(crate) async fn check(self, ctx: &TestStore, board: &mut Board) {
        match self {
            Self::Create { points, state, wait_secs } => create(ctx, board, points, state, wait_secs).await,
            Self::Pass(secs) => ctx.pass(Span::from_secs(secs)),
            Self::Claim => claim(ctx, board).await,
            Self::Sweep => assert_eq!(ctx.sweep().await, board.sweep(ctx.now())),
            Self::Advance => {
                ctx.advance().await;
                board.advance(ctx.now());
            }
            Self::Move(..) | Self::Delete(_) | Self::Reprioritize(..) | Self::Delay(..)
                if board.items.is_empty() => {}
            Self::Move(item, verb) => {
                let item = item.index(board.items.len());
                let moved = ctx.try_move(person(), board.items[item].number, verb).await;
                assert_eq!(moved.is_ok(), board.apply(item, verb, ctx.now()), "{moved:?}");
            }
            Self::Delete(item) => {
                let item = item.index(board.items.len());
                let task = extraboard_core::id::TaskRef::Number(board.items[item].number);
                let deleted = ctx.store.write(TaskDelete { ctx: ctx.ctx(person()), task }).await;
                assert_eq!(deleted.is_ok(), board.delete(item, ctx.now()), "{deleted:?}");
            }
            Self::Reprioritize(item, points) => {
                let item = item.index(board.items.len());
                let priority = Some(PriorityEdit::Points(Priority::new(points).unwrap()));
                if Box::pin(edit(ctx, board, item, TaskEdit { priority, ..TaskEdit::default() })).await {
                    board.items[item].points = points;
                }
            }
            Self::Delay(item, wait_secs) => {
                let item = item.index(board.items.len());
                let not_before = wait_secs.map(|secs| ctx.now().plus(Span::from_secs(secs)));
                let delay = TaskEdit { not_before: Some(not_before), ..TaskEdit::default() };
                if Box::pin(edit(ctx, board, item, delay)).await {
                    board.items[item].not_before = not_before.filter(|at| *at > ctx.now());
                }
            }
            Self::Heartbeat(_) | Self::Report(..) | Self::Terminate(..) if board.hand_outs.is_empty() => {}
            Self::Heartbeat(hand_out) => {
                let hand_out = hand_out.index(board.hand_outs.len());
                let heard = ctx.heartbeat(&board.hand_outs[hand_out].claimed.dispatch).await;
                assert_eq!(heard.verdict, board.heartbeat(hand_out, ctx.now()));
            }
            Self::Report(hand_out, report) => {
                let hand_out = hand_out.index(board.hand_outs.len());
                let reported = ctx.report(&board.hand_outs[hand_out].claimed, report.clone()).await;
                assert_eq!(reported.verdict, board.report(hand_out, &report, ctx.now()));
            }
            Self::Terminate(hand_out, reason) => {
                let hand_out = hand_out.index(board.hand_outs.len());
                ctx.terminate(&board.hand_outs[hand_out].claimed.dispatch, reason).await;
                board.terminate(hand_out, reason, ctx.now());
            }
        }
    }
}

async fn create(ctx: &TestStore, board: &mut Board, points: i64, state: State, wait_secs: Option<i64>) {
    let not_before = wait_secs.map(|secs| ctx.now().plus(Span::from_secs(secs)));
    let priority = Priority::new(points).unwrap();
    let task = ctx.create(TaskDraft { priority, state, not_before, ..TaskDraft::new("t") }).await;
    board.create(Item {
        number: task.number,
        state,
        points,
        queued_at: (state == State::Queued).then_some(ctx.now()),
        not_before: not_before.filter(|at| *at > ctx.now()),
        fence: 0,
        attempt: 0,
        counters: Counters::default(),
        held: None,
    });
}

/// Claims; the store must hand out the model's best.
async fn claim(ctx: &TestStore, board: &mut Board) {
    board.advance(ctx.now());
    let best = board.line().first().copied();
    let claimed = ctx.try_claim().await;
    let number = claimed.as_ref().ok().map(|claimed| claimed.task.number);
    assert_eq!(number, best.map(|best| board.items[best].number));
    if let (Ok(claimed), Some(best)) = (claimed, best) {
        board.opened(best, claimed, ctx.now());
    }
}

/// Edits a task; whatever is written also forgets a moment that has come.
async fn edit(ctx: &TestStore, board: &mut Board, item: usize, edit: TaskEdit) -> bool {
    let now = ctx.now();
    let edited = ctx.store.write(ctx.patching(person(), board.items[item].number, edit, None)).await;
    assert_eq!(edited.is_ok(), !board.is_deleted(item), "{edited:?}");
    if edited.is_ok() {
        let edited = &mut board.items[item];
        edited.not_before = edited.not_before.filter(|at| *at > now);
    }
    edited.is_ok()
}
