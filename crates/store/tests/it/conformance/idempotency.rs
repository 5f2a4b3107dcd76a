//! Idempotency keys: the same request, answered the same way for a day.

use std::sync::Arc;

use extraboard_core::clock::Span;
use extraboard_core::gate::Nothing;
use extraboard_core::id::TaskRef;
use extraboard_core::state::Verb;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimRequest, Claimed, IdempotencyKey, IdempotencyPrune, TaskCreate, TaskDelete, TaskDraft,
};

use crate::harness::{Answer, TestStore, agent, idempotency_key};

fn claimed(answer: Answer) -> Claimed {
    answer.unwrap().unwrap()
}

pub(crate) async fn a12_the_same_key_returns_the_same_open_dispatch(ctx: &TestStore) {
    for title in ["one", "two"] {
        ctx.add(title).await;
    }
    let first = claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    ctx.pass(Span::from_mins(10));
    let again = claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    assert_eq!((again.task, again.dispatch.id), (first.task, first.dispatch.id));
    assert_eq!(again.dispatch.prompt, first.dispatch.prompt);
    // Whoever asks again is there: the lease begins anew.
    assert_eq!(again.dispatch.lease_until, ctx.now().plus(first.dispatch.lease));
    assert_eq!(ctx.queue_titles().await, ["two"]);
}

pub(crate) async fn a12_a_key_whose_dispatch_is_ending_is_refused(ctx: &TestStore) {
    ctx.add("one").await;
    let first = claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    ctx.try_move(crate::harness::person(), first.task.number, Verb::Cancel).await.unwrap();
    assert!(matches!(ctx.claim_with(ctx.keyed("a", "k")).await, Err(Error::KeyClosed)));
}

pub(crate) async fn a12_a_key_whose_dispatch_closed_is_refused(ctx: &TestStore) {
    for title in ["one", "two"] {
        ctx.add(title).await;
    }
    let first = claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    ctx.complete(&first).await;
    assert!(matches!(ctx.claim_with(ctx.keyed("a", "k")).await, Err(Error::KeyClosed)));
    assert_eq!(ctx.queue_titles().await, ["two"]);
}

pub(crate) async fn a12_a_key_with_other_parameters_is_refused(ctx: &TestStore) {
    for title in ["one", "two", "three"] {
        ctx.add(title).await;
    }
    claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    let other = IdempotencyKey { fingerprint: "other".to_owned(), ..idempotency_key("k") };
    let other = ClaimRequest { key: Some(other), ..ctx.request("a") };
    let mut answers = ctx.claim_all(vec![other, ctx.request("b")]).await;
    assert_eq!(claimed(answers.pop().unwrap()).task.title, "two");
    assert!(matches!(answers.pop().unwrap(), Err(Error::KeyMismatch)));
}

pub(crate) async fn a12_a_key_is_forgotten_after_a_day(ctx: &TestStore) {
    for title in ["one", "two"] {
        ctx.add(title).await;
    }
    let first = claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    ctx.complete(&first).await;
    ctx.pass(Span::from_micros(Span::from_days(1).as_micros() - 1));
    assert!(matches!(ctx.claim_with(ctx.keyed("a", "k")).await, Err(Error::KeyClosed)));
    assert_eq!(ctx.store.write(IdempotencyPrune { now: ctx.now() }).await.unwrap(), 0);
    ctx.pass(Span::from_micros(1));
    assert_eq!(claimed(ctx.claim_with(ctx.keyed("a", "k")).await).task.title, "two");
    // Pruned an hour later, so that nothing in flight loses the key it found.
    ctx.pass(Span::from_days(1));
    assert_eq!(ctx.store.write(IdempotencyPrune { now: ctx.now() }).await.unwrap(), 0);
    ctx.pass(Span::from_mins(60));
    assert_eq!(ctx.store.write(IdempotencyPrune { now: ctx.now() }).await.unwrap(), 1);
}

pub(crate) async fn a12_a_key_is_not_kept_after_nothing(ctx: &TestStore) {
    assert_eq!(ctx.claim_with(ctx.keyed("a", "k")).await.unwrap().unwrap_err(), Nothing::Empty);
    ctx.add("t").await;
    assert_eq!(claimed(ctx.claim_with(ctx.keyed("a", "k")).await).task.title, "t");
}

pub(crate) async fn a12_two_requests_of_one_key_in_one_batch_are_one(ctx: &TestStore) {
    for title in ["one", "two"] {
        ctx.add(title).await;
    }
    let batch = vec![ctx.keyed("a", "k"), ctx.keyed("a", "k"), ctx.request("b")];
    let answers: Vec<_> = ctx.claim_all(batch).await.into_iter().map(claimed).collect();
    assert_eq!(answers[0].dispatch, answers[1].dispatch);
    assert_eq!(answers[0].task, answers[1].task);
    assert_eq!(answers[2].task.title, "two");
}

pub(crate) async fn a12_the_same_key_of_two_callers_is_two_keys(ctx: &TestStore) {
    for title in ["one", "two"] {
        ctx.add(title).await;
    }
    let answers = ctx.claim_all(vec![ctx.keyed("a", "k"), ctx.keyed("b", "k")]).await;
    let titles: Vec<_> = answers.into_iter().map(|answer| claimed(answer).task.title).collect();
    assert_eq!(titles, ["one", "two"]);
}

pub(crate) async fn a12_a_key_whose_task_was_deleted_does_not_spoil_the_batch(ctx: &TestStore) {
    let task = ctx.add("gone").await;
    claimed(ctx.claim_with(ctx.keyed("a", "k")).await);
    let ctx_of = ctx.ctx(agent("a"));
    ctx.store.write(TaskDelete { ctx: ctx_of, task: TaskRef::Number(task.number) }).await.unwrap();
    ctx.add("other").await;
    let mut answers = ctx.claim_all(vec![ctx.keyed("a", "k"), ctx.request("b")]).await;
    assert_eq!(claimed(answers.pop().unwrap()).task.title, "other");
    assert!(matches!(answers.pop().unwrap(), Err(Error::KeyClosed)));
}

fn creation(ctx: &TestStore, key: &IdempotencyKey) -> TaskCreate {
    TaskCreate { key: Some(key.clone()), ..ctx.creation(TaskDraft::new("t")) }
}

pub(crate) async fn a12_a_task_is_created_once_per_key(ctx: &TestStore) {
    let key = idempotency_key("k");
    let first = ctx.store.write(creation(ctx, &key)).await.unwrap();
    ctx.apply(first.number, Verb::Park).await;
    let again = ctx.store.write(creation(ctx, &key)).await.unwrap();
    assert_eq!(again, ctx.get(first.number).await);
    let other = IdempotencyKey { fingerprint: "other".to_owned(), ..key.clone() };
    assert!(matches!(ctx.store.write(creation(ctx, &other)).await, Err(Error::KeyMismatch)));
    ctx.pass(Span::from_days(1));
    let later = ctx.store.write(creation(ctx, &other)).await.unwrap();
    assert_ne!(later.number, first.number);
}

pub(crate) async fn a12_racing_creations_with_one_key_make_one_task(ctx: &TestStore) {
    let replicas = ctx.replicas().await;
    for round in 0..10 {
        let key = idempotency_key(&format!("k{round}"));
        let creations = (0..8).map(|index| {
            let store = Arc::clone(&replicas[index % 2]);
            let creation = creation(ctx, &key);
            tokio::spawn(async move { store.write(creation).await.unwrap().number })
        });
        let mut numbers = Vec::new();
        for creation in creations.collect::<Vec<_>>() {
            numbers.push(creation.await.unwrap());
        }
        assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
    }
    assert_eq!(ctx.queue_titles().await.len(), 10);
}
