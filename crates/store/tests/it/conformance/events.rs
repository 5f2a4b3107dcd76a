//! Events: every change tells its story, once, in an order readers can resume from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::id::{Pos, TaskNumber};
use extraboard_core::reason::Reason;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_core::status::Status;
use extraboard_store::verbs::{Event, EventsAfter, EventsPrune, PosLast, Sequence, TaskDraft, TaskEdit};

use crate::harness::{TestStore, agent, asked, person};

/// Follows a task's events from state to state; each begins where the last one ended.
fn told_state(events: &[Event], task: TaskNumber) -> Option<String> {
    let mut told = None;
    for event in events.iter().filter(|event| event.task == Some(task)) {
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        let word = |name: &str| data.get(name).and_then(|word| word.as_str()).map(str::to_owned);
        if let Some(to) = word("to") {
            assert_eq!(word("from"), told, "{event:?}");
            told = Some(to);
        }
        assert!(!event.actor.is_empty());
    }
    told
}

/// Takes a task through most of what can happen to one.
async fn live(ctx: &TestStore) -> TaskNumber {
    let task = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("t") }).await.number;
    ctx.apply(task, Verb::Admit).await;
    ctx.edit(task, TaskEdit { title: Some("new".to_owned()), ..TaskEdit::default() }).await;
    ctx.fail(&ctx.claim().await, FailureClass::Crash).await;
    ctx.pass(Span::from_mins(1));
    ctx.advance().await;
    ctx.claim().await;
    ctx.lapse().await;
    let preempted = ctx.claim().await;
    ctx.terminate(&preempted.dispatch, Reason::CooperativePreemption).await;
    ctx.report(&preempted, Report::Release).await;
    ctx.report(&ctx.claim().await, asked()).await;
    ctx.apply(task, Verb::Retry).await;
    let canceled = ctx.claim().await;
    ctx.apply(task, Verb::Cancel).await;
    ctx.apply(task, Verb::Reopen).await;
    ctx.complete(&canceled).await;
    ctx.ask(agent("z"), task, Status::InProgress).await.unwrap();
    ctx.ask(agent("z"), task, Status::Done).await.unwrap();
    ctx.apply(task, Verb::Reopen).await;
    ctx.apply(task, Verb::Park).await;
    ctx.apply(task, Verb::Close).await;
    task
}

pub(crate) async fn every_change_of_state_has_an_event(ctx: &TestStore) {
    let task = live(ctx).await;
    let events = ctx.events().await;
    assert_eq!(told_state(&events, task).as_deref(), Some("done"));
    assert_eq!(ctx.get(task).await.state, State::Done);
    ctx.apply(task, Verb::Reopen).await;
    ctx.delete(task).await;
    assert_eq!(told_state(&ctx.events().await, task).as_deref(), Some("canceled"));
}

pub(crate) async fn every_event_names_who_did_it_and_when(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.pass(Span::from_secs(1));
    ctx.ask(agent("a"), task.number, Status::Blocked).await.unwrap();
    ctx.apply(task.number, Verb::Retry).await;
    ctx.claim().await;
    ctx.lapse().await;
    let events = ctx.events().await;
    let told: Vec<_> = events.iter().map(|event| (event.event_type, event.actor.as_str())).collect();
    let [ann, a, desk] = [person().to_string(), agent("a").to_string(), Caller::Desk.to_string()];
    assert_eq!(
        told,
        [
            (EventType::TaskCreated, ann.as_str()),
            (EventType::DispatchOpened, &a),
            (EventType::DispatchClosed, &a),
            (EventType::TaskNeedsPerson, &a),
            (EventType::TaskRetried, &ann),
            (EventType::DispatchOpened, &a),
            (EventType::DispatchClosed, &desk),
        ]
    );
    assert_eq!(events[1].dispatch, Some(claimed.dispatch.id));
    assert_eq!(events[2].at, claimed.dispatch.started_at.plus(Span::from_secs(1)));
}

pub(crate) async fn resuming_from_any_position_yields_the_rest_exactly_once(ctx: &TestStore) {
    let tasks = [live(ctx).await, live(ctx).await];
    let all = ctx.events().await;
    assert!(all.iter().map(|event| event.pos.0).eq(1..=i64::try_from(all.len()).unwrap()));
    for seen in 0..=all.len() {
        let mut read = Vec::new();
        let mut pos = Pos(i64::try_from(seen).unwrap());
        loop {
            let page = ctx.store.read(EventsAfter { pos, limit: 7, task: None }).await.unwrap();
            (pos, read) = (page.pos, [read, page.events.clone()].concat());
            assert_eq!((page.last, page.pruned), (all.last().unwrap().pos, Pos(0)));
            if !page.has_more() {
                break;
            }
        }
        assert_eq!(read, all[seen..]);
    }
    for task in tasks {
        assert_eq!(told_state(&all, task).as_deref(), Some("done"));
    }
    assert_eq!(ctx.store.read(PosLast).await.unwrap(), all.last().unwrap().pos);
}

pub(crate) async fn a_sequencer_with_nothing_to_do_tells_the_last_position(ctx: &TestStore) {
    ctx.add("t").await;
    assert_eq!(ctx.events().await.len(), 1);
    let idle = ctx.store.write(Sequence).await.unwrap();
    assert_eq!((idle.pos, idle.stamped), (Pos(1), 0));
}

pub(crate) async fn concurrent_sequencers_never_give_a_position_twice(ctx: &Arc<TestStore>) {
    const WRITERS: usize = 8;
    let replicas = ctx.replicas().await;
    let mut running = tokio::task::JoinSet::new();
    for index in 0..WRITERS {
        let (ctx, store) = (Arc::clone(ctx), Arc::clone(&replicas[index % 2]));
        running.spawn(async move {
            for _ in 0..20 {
                let created = store.write(ctx.creation(TaskDraft::new("t"))).await.unwrap();
                store.write(Sequence).await.unwrap();
                ctx.apply(created.number, Verb::Park).await;
                ctx.store.write(Sequence).await.unwrap();
            }
        });
    }
    let (reader, writing) = (Arc::clone(ctx), Arc::new(AtomicBool::new(true)));
    let still_writing = Arc::clone(&writing);
    let read = tokio::spawn(async move {
        let mut seen: Vec<Event> = Vec::new();
        loop {
            let last = !still_writing.load(Ordering::SeqCst);
            let pos = seen.last().map_or(Pos(0), |event| event.pos);
            seen.extend(reader.events_after(pos).await);
            if last {
                return seen;
            }
        }
    });
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    ctx.sequence().await;
    writing.store(false, Ordering::SeqCst);
    let seen = read.await.unwrap();
    assert!(seen.iter().map(|event| event.pos.0).eq(1..=320));
    let mut stories: BTreeMap<_, Vec<EventType>> = BTreeMap::new();
    for event in seen {
        stories.entry(event.task).or_default().push(event.event_type);
    }
    assert!(stories.values().all(|story| *story == [EventType::TaskCreated, EventType::TaskParked]));
}

pub(crate) async fn old_events_are_forgotten_and_readers_can_tell(ctx: &TestStore) {
    let old = ctx.add("old").await.number;
    ctx.apply(old, Verb::Park).await;
    ctx.sequence().await;
    ctx.pass(Span::from_days(2));
    let new = ctx.add("new").await.number;
    ctx.sequence().await;
    let before = ctx.now().minus(Span::from_days(1));
    assert_eq!(ctx.store.write(EventsPrune { before }).await.unwrap(), 2);
    assert_eq!(ctx.store.write(EventsPrune { before }).await.unwrap(), 0);
    let page = ctx.store.read(EventsAfter { pos: Pos(0), limit: 10, task: None }).await.unwrap();
    assert_eq!((page.pruned, page.last, page.pos), (Pos(2), Pos(3), Pos(3)));
    assert_eq!(page.events.iter().map(|event| event.task).collect::<Vec<_>>(), [Some(new)]);
    ctx.apply(old, Verb::Admit).await;
    assert_eq!(ctx.events().await.last().unwrap().pos, Pos(4));
}

pub(crate) async fn the_events_of_one_task_are_read_alone(ctx: &TestStore) {
    let (one, other) = (ctx.add("one").await, ctx.add("other").await);
    ctx.apply(other.number, Verb::Park).await;
    ctx.apply(one.number, Verb::Park).await;
    ctx.sequence().await;
    let read = async |pos: i64, limit: i64| {
        let after = EventsAfter { pos: Pos(pos), limit, task: Some(one.number) };
        let page = ctx.store.read(after).await.unwrap();
        (page.events.iter().map(|event| event.pos.0).collect::<Vec<_>>(), page.pos.0)
    };
    assert_eq!(read(0, 10).await, (vec![1, 4], 4));
    assert_eq!(read(0, 1).await, (vec![1], 1));
    assert_eq!(read(1, 10).await, (vec![4], 4));
    let events = ctx.events().await;
    assert_eq!((events[0].task_id, events[1].task_id), (Some(one.id), Some(other.id)));
}
