//! Claims: who is handed what, in which order.

use std::collections::BTreeSet;
use std::sync::Arc;

use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::gate::Nothing;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::status::Status;
use extraboard_store::verbs::{ClaimRequest, TaskDraft};

use crate::harness::{Answer, TestStore, agent};

fn draft(title: &str, points: i64, doors: &[Door]) -> TaskDraft {
    TaskDraft {
        priority: Priority::new(points).unwrap(),
        doors: Doors::new(doors.iter().copied()).unwrap(),
        ..TaskDraft::new(title)
    }
}

fn titles(answers: Vec<Answer>) -> Vec<String> {
    let title = |answer: Answer| match answer.unwrap() {
        Ok(claimed) => claimed.task.title,
        Err(nothing) => format!("({})", nothing.as_str()),
    };
    answers.into_iter().map(title).collect()
}

pub(crate) async fn a1_every_task_is_claimed_exactly_once(ctx: &TestStore) {
    const TASKS: i64 = 40;
    const CLAIMERS: usize = 60;
    for number in 0..TASKS {
        ctx.add(&number.to_string()).await;
    }
    let replicas = ctx.replicas().await;
    let claims = (0..CLAIMERS).map(|index| {
        let store = Arc::clone(&replicas[index % 2]);
        let batch = ctx.batch(vec![ctx.request(&index.to_string())]);
        tokio::spawn(async move { store.write(batch).await.unwrap().pop().unwrap().unwrap() })
    });
    let mut claimed = BTreeSet::new();
    let mut nothing = 0;
    for claim in claims.collect::<Vec<_>>() {
        match claim.await.unwrap() {
            Ok(got) => assert!(claimed.insert(got.task.number), "{} twice", got.task.number),
            Err(Nothing::Empty) => nothing += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((claimed.len(), nothing), (40, 20));
}

pub(crate) async fn a2_two_simultaneous_claims_get_the_first_two_tasks(ctx: &TestStore) {
    for round in 0..10 {
        let [first, second] = [ctx.add("first").await.number, ctx.add("second").await.number];
        let third = ctx.add("third").await.number;
        let [one, other] = ctx.replicas().await;
        let (one, other) = tokio::join!(
            one.write(ctx.batch(vec![ctx.request("one")])),
            other.write(ctx.batch(vec![ctx.request("other")])),
        );
        let numbers: BTreeSet<TaskNumber> =
            [one, other].map(|answers| answers.unwrap().pop().unwrap().unwrap().unwrap().task.number).into();
        assert_eq!(numbers, BTreeSet::from([first, second]), "round {round}");
        ctx.delete(third).await;
    }
}

/// Adds the same mixed line: some leave by one door, some by another, some by any.
async fn add_mixed_line(ctx: &TestStore) {
    let doors: [&[Door]; 5] =
        [&[Door::Pull], &[Door::Push], &[Door::Pull, Door::Push], &[Door::Run], &[Door::Push, Door::Run]];
    for index in 0..120_i64 {
        let points = 1 + (index * 37) % 100;
        let doors = doors[usize::try_from(index * 7 % 5).unwrap()];
        ctx.create(draft(&format!("t{index}"), points, doors)).await;
    }
}

fn mixed_requests(ctx: &TestStore) -> Vec<ClaimRequest> {
    let doors = [Door::Run, Door::Pull, Door::Pull, Door::Push, Door::Run, Door::Push, Door::Pull];
    (0..140).map(|index| ctx.request_at(doors[index % doors.len()])).collect()
}

pub(crate) async fn a2_a_batch_equals_its_requests_claimed_singly(ctx: &TestStore) {
    add_mixed_line(ctx).await;
    let together = titles(ctx.claim_all(mixed_requests(ctx)).await);
    let other = TestStore::sqlite().await;
    add_mixed_line(&other).await;
    let mut singly = Vec::new();
    for request in mixed_requests(&other) {
        singly.extend(titles(vec![other.claim_with(request).await]));
    }
    // Why there is nothing left is told of the line after the batch.
    assert_eq!(together.len(), 140);
    for (index, (together, singly)) in together.iter().zip(&singly).enumerate() {
        let nothing = |title: &String| title.starts_with('(');
        assert!(together == singly || nothing(together) && nothing(singly), "{index}: {together} {singly}");
    }
}

pub(crate) async fn a3_queue_order_equals_claim_order_across_pages(ctx: &TestStore) {
    for index in 0..30_i64 {
        ctx.pass(Span::from_mins(index * 977 % 100_000));
        ctx.create(draft(&format!("t{index}"), 1 + index * 53 % 100, &[Door::Pull])).await;
        ctx.create(draft("foreign", 1 + index * 53 % 100, &[Door::Push])).await;
    }
    let mut queue = Vec::new();
    for page in 0..5 {
        let page = ctx.queueing(page * 7, 7);
        let page = ctx.store.read(page).await.unwrap();
        assert_eq!((page.total, page.total_capped), (30, false));
        queue.extend(page.entries.into_iter().map(|entry| entry.task.title));
    }
    assert_eq!(queue, ctx.queue_titles().await);
    ctx.pass(Span::from_days(1000));
    let mut claimed = Vec::new();
    while let Ok(got) = ctx.try_claim().await {
        claimed.push(got.task.title);
    }
    assert_eq!(claimed, queue);
}

pub(crate) async fn a10_ties_go_to_the_earlier_then_to_the_smaller_number(ctx: &TestStore) {
    let later = ctx.now();
    ctx.create(draft("older, one point less", 49, &[Door::Pull])).await;
    for title in ["tie, smaller number", "tie, larger number"] {
        ctx.create(draft(title, 49, &[Door::Pull])).await;
    }
    ctx.pass(Span::from_days(1));
    ctx.create(draft("a day later, one point more", 50, &[Door::Pull])).await;
    assert!(later < ctx.now());
    let expected =
        ["older, one point less", "tie, smaller number", "tie, larger number", "a day later, one point more"];
    assert_eq!(ctx.queue_titles().await, expected);
    for title in expected {
        assert_eq!(ctx.claim().await.task.title, title);
    }
}

pub(crate) async fn a_claimer_is_only_handed_what_leaves_by_its_door(ctx: &TestStore) {
    ctx.create(draft("push", 100, &[Door::Push])).await;
    ctx.create(draft("pull", 50, &[Door::Pull])).await;
    ctx.create(draft("run or pull", 10, &[Door::Run, Door::Pull])).await;
    let doors = [Door::Pull, Door::Pull, Door::Pull, Door::Run];
    let answers = ctx.claim_all(doors.map(|door| ctx.request_at(door)).to_vec()).await;
    assert_eq!(titles(answers), ["pull", "run or pull", "(no_match)", "(no_match)"]);
    let answers = ctx.claim_all(vec![ctx.request_at(Door::Push)]).await;
    assert_eq!(titles(answers), ["push"]);
}

pub(crate) async fn a_foreign_crowd_at_the_head_does_not_hide_the_right_task(ctx: &TestStore) {
    for index in 0..150 {
        let kind = Kind::ALL[index % Kind::ALL.len()];
        ctx.create(TaskDraft { kind, ..draft("foreign", 100, &[Door::Push]) }).await;
    }
    for (title, points) in [("last", 1), ("first", 40), ("second", 30)] {
        let kind = if points == 30 { Kind::Code } else { Kind::Plan };
        ctx.create(TaskDraft { kind, ..draft(title, points, &[Door::Pull]) }).await;
    }
    let together = vec![ctx.request_at(Door::Pull), ctx.request_at(Door::Run), ctx.request_at(Door::Pull)];
    assert_eq!(titles(ctx.claim_all(together).await), ["first", "(no_match)", "second"]);
    assert_eq!(ctx.claim().await.task.title, "last");
}

pub(crate) async fn a_task_is_handed_out_when_its_moment_has_come(ctx: &TestStore) {
    let due = ctx.now().plus(Span::from_secs(10));
    let task = ctx.create(TaskDraft { not_before: Some(due), ..TaskDraft::new("later") }).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::NotBefore);
    ctx.pass(Span::from_micros(9_999_999));
    assert_eq!(ctx.advance().await, 0);
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::NotBefore);
    ctx.pass(Span::from_micros(1));
    let claimed = ctx.claim().await;
    assert_eq!((claimed.task.number, claimed.task.not_before), (task.number, None));

    let past = Some(ctx.now());
    ctx.create(TaskDraft { not_before: past, ..TaskDraft::new("already past") }).await;
    assert_eq!(ctx.queue_titles().await, ["already past"]);
}

pub(crate) async fn a_task_asked_for_by_name_is_handed_out_when_its_moment_has_come(ctx: &TestStore) {
    let due = ctx.now().plus(Span::from_secs(10));
    let task = ctx.create(TaskDraft { not_before: Some(due), ..TaskDraft::new("later") }).await;
    assert!(ctx.ask(agent("a"), task.number, Status::InProgress).await.is_err());
    ctx.pass(Span::from_secs(10));
    let patched = ctx.ask(agent("a"), task.number, Status::InProgress).await.unwrap();
    assert_eq!(patched.opened.map(|dispatch| dispatch.task), Some(task.number));
}

pub(crate) async fn nothing_tells_why(ctx: &TestStore) {
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Empty);
    let due = Some(ctx.now().plus(Span::from_secs(1)));
    ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("later") }).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::NotBefore);
    ctx.create(draft("foreign", 50, &[Door::Push])).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::NoMatch);
}
