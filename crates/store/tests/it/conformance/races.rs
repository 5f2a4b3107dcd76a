//! Races: many claimers and writers at once, over two servers where the database allows it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::event::EventType;
use extraboard_core::gate::Nothing;
use extraboard_core::id::{Fence, TaskNumber, TaskRef};
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Goal, Profile, ProfileName, Ranking};
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::{Claimed, PriorityEdit, TaskDelete, TaskDraft, TaskEdit, TaskMove, Verdict};
use tokio::task::JoinSet;

use crate::harness::{TestStore, completed, failed, person};

const CLAIMERS: usize = 16;
const WRITERS: usize = 4;
const TASKS: usize = 2_000;
const EDITS_PER_WRITER: usize = 250;

/// A small generator of numbers that are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn priority(&mut self) -> Priority {
        Priority::new(1 + i64::try_from(self.roll(100)).unwrap()).unwrap()
    }
}

/// Who holds what, as the claimers themselves see it.
#[derive(Default)]
struct Ledger {
    held: HashMap<TaskNumber, Fence>,
    last: HashMap<TaskNumber, Fence>,
    completed: HashMap<TaskNumber, usize>,
}

impl Ledger {
    fn take(&mut self, claimed: &Claimed) {
        let (task, fence) = (claimed.task.number, claimed.dispatch.fence);
        assert_eq!(self.held.insert(task, fence), None, "#{task} was handed out twice at once");
        let last = self.last.insert(task, fence);
        assert!(last.is_none_or(|last| last < fence), "#{task} fence {fence} after {last:?}");
    }
}

struct Race {
    ctx: Arc<TestStore>,
    stores: [Arc<Store>; 2],
    ledger: Mutex<Ledger>,
    writing: AtomicUsize,
}

async fn fill_line(ctx: &Arc<TestStore>, tasks: usize) -> [Arc<Store>; 2] {
    let stores = ctx.replicas().await;
    let mut running = JoinSet::new();
    for index in 0..CLAIMERS {
        let (ctx, store) = (Arc::clone(ctx), Arc::clone(&stores[index % 2]));
        running.spawn(async move {
            let mut dice = Dice(u64::try_from(index).unwrap());
            for _ in 0..tasks / CLAIMERS {
                let doors = if dice.roll(2) == 0 { Doors::ANY } else { Doors::API_DEFAULT };
                let draft = TaskDraft { priority: dice.priority(), doors, ..TaskDraft::new("t") };
                store.write(ctx.creation(draft)).await.unwrap();
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    stores
}

impl Race {
    /// Claims and reports until nothing is left and nobody writes any more.
    async fn claim_until_empty(&self, index: usize) {
        let mut dice = Dice(1_000 + u64::try_from(index).unwrap());
        let store = &self.stores[index % 2];
        loop {
            let over = self.writing.load(Ordering::SeqCst) == 0;
            let requests = (0..=dice.roll(3)).map(|_| self.ctx.request("a")).collect();
            // What this claimer hands back itself may be claimed again: only a batch
            // that was handed nothing at all tells that the line is empty.
            let mut nothing = None;
            for answer in Box::pin(store.write(self.ctx.batch(requests))).await.unwrap().into_iter().rev() {
                match answer.unwrap() {
                    Ok(claimed) => {
                        nothing = None;
                        self.finish(store, &claimed, &mut dice).await;
                    }
                    Err(why) => nothing = Some(why),
                }
            }
            match nothing {
                Some(Nothing::Empty) if over => break,
                Some(Nothing::NotBefore) if over => self.ctx.pass(Span::from_secs(30)),
                _ => {}
            }
        }
    }

    async fn finish(&self, store: &Store, claimed: &Claimed, dice: &mut Dice) {
        self.ledger.lock().unwrap().take(claimed);
        let report = match dice.roll(10) {
            0 => Report::Release,
            1 => failed(FailureClass::ExecutionFailed),
            2 => failed(FailureClass::Crash),
            _ => completed("1"),
        };
        // From the report's commit on somebody else may hold it.
        self.ledger.lock().unwrap().held.remove(&claimed.task.number);
        let reported = Box::pin(store.write(self.ctx.saying(claimed, report))).await.unwrap();
        assert_eq!(reported.verdict, Verdict::Accepted);
        if reported.dispatch.phase.reason().is_none() {
            *self.ledger.lock().unwrap().completed.entry(claimed.task.number).or_default() += 1;
        }
    }

    /// Edits, parks, admits, cancels, reopens and deletes at random.
    async fn write_at_random(&self, index: usize) {
        let mut dice = Dice(2_000 + u64::try_from(index).unwrap());
        let store = &self.stores[index % 2];
        for _ in 0..EDITS_PER_WRITER {
            let number = TaskNumber(1 + i64::try_from(dice.roll(TASKS as u64)).unwrap());
            let moving = |verb| TaskMove { ctx: self.ctx.ctx(person()), task: TaskRef::Number(number), verb };
            let edit =
                TaskEdit { priority: Some(PriorityEdit::Points(dice.priority())), ..TaskEdit::default() };
            let done = match dice.roll(10) {
                0 => store.write(moving(Verb::Cancel)).await.map(drop),
                1 => store.write(moving(Verb::Reopen)).await.map(drop),
                2 => {
                    let delete = TaskDelete { ctx: self.ctx.ctx(person()), task: TaskRef::Number(number) };
                    store.write(delete).await
                }
                3 | 4 => match store.write(moving(Verb::Park)).await {
                    Ok(_) => store.write(moving(Verb::Admit)).await.map(drop),
                    Err(error) => Err(error),
                },
                _ => Box::pin(store.write(self.ctx.patching(person(), number, edit, None))).await.map(drop),
            };
            assert!(matches!(done, Ok(()) | Err(Error::NoMove { .. } | Error::NoTask(_))), "{done:?}");
        }
        self.writing.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) async fn sixteen_claimers_and_four_writers_never_share_a_task(ctx: &Arc<TestStore>) {
    let stores = fill_line(ctx, TASKS).await;
    let writing = AtomicUsize::new(WRITERS);
    let race = Arc::new(Race { ctx: Arc::clone(ctx), stores, ledger: Mutex::default(), writing });
    let mut running = JoinSet::new();
    for index in 0..CLAIMERS {
        let race = Arc::clone(&race);
        running.spawn(async move { race.claim_until_empty(index).await });
    }
    for index in 0..WRITERS {
        let race = Arc::clone(&race);
        running.spawn(async move { race.write_at_random(index).await });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    let count = async |sql: &str| ctx.database.raw_int(sql).await;
    let unfinished = "SELECT COUNT(*) FROM task WHERE state IN ('queued', 'running')";
    assert_eq!(count(unfinished).await, 0);
    assert_eq!(count("SELECT COUNT(*) FROM dispatch WHERE closed_at IS NULL").await, 0);
    let handed_out = count("SELECT CAST(SUM(fence) AS BIGINT) FROM task").await;
    assert_eq!(handed_out, count("SELECT COUNT(*) FROM dispatch").await);
    let reopened = ctx.events().await;
    let ledger = race.ledger.lock().unwrap();
    for (task, times) in &ledger.completed {
        let reopened = reopened
            .iter()
            .filter(|event| event.task == Some(*task) && event.event_type == EventType::TaskReopened)
            .count();
        assert!(*times <= 1 + reopened, "#{task} was completed {times} times, reopened {reopened}");
    }
}

pub(crate) async fn sixteen_claimers_keep_the_order_of_the_line(ctx: &Arc<TestStore>) {
    let stores = fill_line(ctx, TASKS).await;
    let mut running = JoinSet::new();
    for index in 0..CLAIMERS {
        let (ctx, store) = (Arc::clone(ctx), Arc::clone(&stores[index % 2]));
        running.spawn(async move {
            let mut ranks = HashMap::new();
            loop {
                let requests = (0..=index % 5).map(|_| ctx.request("a")).collect();
                for answer in store.write(ctx.batch(requests)).await.unwrap() {
                    let Ok(claimed) = answer.unwrap() else { return ranks };
                    let task = claimed.task;
                    let ranking =
                        Ranking { profile: Profile::shipped(ProfileName::Pipeline), goal: Goal::None };
                    let rank = task.rank(&ranking).unwrap();
                    ranks.insert(task.number, rank);
                }
            }
        });
    }
    let mut ranks = HashMap::new();
    while let Some(done) = running.join_next().await {
        ranks.extend(done.unwrap());
    }
    assert_eq!(ranks.len(), TASKS);
    let events = ctx.events().await;
    let opened: Vec<_> = events
        .iter()
        .filter(|event| event.event_type == EventType::DispatchOpened)
        .map(|event| ranks[&event.task.unwrap()])
        .collect();
    assert_eq!(opened.len(), TASKS);
    assert!(opened.is_sorted());
}

pub(crate) async fn a_claim_waits_for_an_edit_of_the_only_task(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..40 {
        let task = ctx.add("t").await;
        let edit = TaskEdit {
            priority: Some(PriorityEdit::Points(Priority::new(1 + round).unwrap())),
            ..TaskEdit::default()
        };
        let (edited, answers) = tokio::join!(
            one.write(ctx.patching(person(), task.number, edit, None)),
            other.write(ctx.batch(vec![ctx.request_at(Door::Pull)])),
        );
        edited.unwrap();
        let claimed = answers.unwrap().pop().unwrap().unwrap().unwrap();
        assert_eq!(ctx.complete(&claimed).await.task.priority.points(), 1 + round);
    }
}

pub(crate) async fn claim_cancel_and_edit_of_one_task_end_canceled(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..40 {
        let task = ctx.add("t").await;
        let reference = TaskRef::Number(task.number);
        let edit = TaskEdit { title: Some("edited".to_owned()), ..TaskEdit::default() };
        let cancel = TaskMove { ctx: ctx.ctx(person()), task: reference, verb: Verb::Cancel };
        let (answers, canceled, edited) = tokio::join!(
            one.write(ctx.batch(vec![ctx.request("a")])),
            other.write(cancel),
            one.write(ctx.patching(person(), task.number, edit, None)),
        );
        canceled.unwrap();
        edited.unwrap();
        let after = ctx.get(task.number).await;
        assert_eq!((after.state, after.title.as_str()), (State::Canceled, "edited"), "round {round}");
        let claimed = answers.unwrap().pop().unwrap().unwrap();
        assert_eq!(after.fence.0, i64::from(claimed.is_ok()));
        if let Ok(claimed) = claimed {
            assert_eq!(ctx.complete(&claimed).await.task.state, State::Canceled);
        }
        ctx.audit().await;
    }
}

pub(crate) async fn a_late_report_and_a_new_claim_never_both_win(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..40 {
        ctx.add("t").await;
        let old = ctx.claim().await;
        ctx.lapse().await;
        let (late, answers) = tokio::join!(
            one.write(ctx.saying(&old, completed("1"))),
            other.write(ctx.batch(vec![ctx.request("b")])),
        );
        let late = late.unwrap();
        match answers.unwrap().pop().unwrap().unwrap() {
            Ok(new) => {
                assert_eq!(late.verdict, Verdict::Stale, "round {round}");
                assert_eq!(ctx.complete(&new).await.task.state, State::Done);
            }
            Err(nothing) => {
                assert_eq!((late.verdict, nothing), (Verdict::Accepted, Nothing::Empty), "round {round}");
                assert_eq!(ctx.get(old.task.number).await.state, State::Done);
            }
        }
    }
}
