//! Claims that wait for work.

use std::future::{pending, ready};
use std::time::Duration;

use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::gate::{Claimer, Nothing};
use extraboard_core::state::State;
use extraboard_desk::{Claim, Desk};
use extraboard_store::verbs::TaskDraft;

use crate::harness::{TestDesk, claim};

/// How long a test waits for what must come.
const STUCK_AFTER: Duration = Duration::from_secs(30);

/// Waits for work for as long as it takes.
async fn waited(desk: Desk, claim: Claim) -> String {
    let answer = tokio::time::timeout(STUCK_AFTER, desk.deliver_until(claim, pending())).await;
    let delivery = answer.expect("work comes").unwrap().unwrap();
    delivery.take().unwrap().task.title
}

pub(crate) async fn whoever_waits_gets_what_comes_in_the_order_they_came(mut t: TestDesk) {
    let one = tokio::spawn(waited(t.desk.clone(), claim("a", None)));
    tokio::task::yield_now().await;
    let two = tokio::spawn(waited(t.desk.clone(), claim("b", None)));
    tokio::task::yield_now().await;
    t.turn().await;
    assert!(!one.is_finished() && !two.is_finished());
    t.add("first").await;
    t.turn().await;
    assert_eq!(one.await.unwrap(), "first");
    assert!(!two.is_finished());
    t.add("second").await;
    t.turn().await;
    assert_eq!(two.await.unwrap(), "second");
}

pub(crate) async fn a_wait_that_is_over_says_why_there_is_nothing(mut t: TestDesk) {
    let desk = t.desk.clone();
    let (answer, turned) = tokio::join!(desk.deliver_until(claim("a", None), ready(())), async {
        t.loops.turn().await?;
        tokio::task::yield_now().await;
        t.loops.turn().await
    });
    turned.unwrap();
    assert_eq!(answer.unwrap().unwrap_err(), Nothing::Empty);
}

pub(crate) async fn who_cannot_take_it_does_not_keep_it_from_whoever_can(mut t: TestDesk) {
    let runner = Claim { claimer: Claimer::anyone("agent:r", Door::Run), ..claim("r", None) };
    let cannot = tokio::spawn(waited(t.desk.clone(), runner));
    tokio::task::yield_now().await;
    let can = tokio::spawn(waited(t.desk.clone(), claim("a", None)));
    tokio::task::yield_now().await;
    t.turn().await;
    let draft = TaskDraft { doors: Doors::new([Door::Pull]).unwrap(), ..TaskDraft::new("pulled") };
    t.add_draft(draft).await;
    t.turn().await;
    assert_eq!(can.await.unwrap(), "pulled");
    assert!(!cannot.is_finished());
    cannot.abort();
}

pub(crate) async fn who_has_gone_takes_nothing_with_them(mut t: TestDesk) {
    let gone = tokio::spawn(waited(t.desk.clone(), claim("gone", None)));
    tokio::task::yield_now().await;
    t.turn().await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    let task = t.add("wanted").await;
    t.turn().await;
    assert_eq!(t.view(&task).await.task.state, State::Queued);
    assert_eq!(t.claim("next").await.unwrap().dispatch.fence.0, 1);
}

pub(crate) async fn a_moment_that_comes_wakes_whoever_waits(mut t: TestDesk) {
    let soon = t.desk.now().plus(Span::from_secs(5));
    t.add_draft(TaskDraft { not_before: Some(soon), ..TaskDraft::new("later") }).await;
    let waits = tokio::spawn(waited(t.desk.clone(), claim("a", None)));
    tokio::task::yield_now().await;
    t.turn().await;
    assert!(!waits.is_finished());
    t.pass(Span::from_secs(10)).await;
    assert_eq!(waits.await.unwrap(), "later");
}

pub(crate) async fn work_added_at_one_desk_wakes_who_waits_at_another(t: TestDesk) {
    let second = t.second().await;
    let (there, running_there) = match second {
        Some((desk, loops)) => (desk, Some(loops.start())),
        None => (t.desk.clone(), None),
    };
    let desk = t.desk.clone();
    let running = t.loops.start();
    let waits: Vec<_> = (0..16).map(|_| tokio::spawn(waited(there.clone(), claim("a", None)))).collect();
    for number in 0..16 {
        let draft = TaskDraft::new(format!("task {number}"));
        let ctx = desk.ctx(extraboard_core::caller::Caller::Anonymous);
        let id = desk.new_task_id();
        desk.write(extraboard_store::verbs::TaskCreate { ctx, id, draft, key: None }).await.unwrap();
    }
    let mut titles = Vec::new();
    for wait in waits {
        titles.push(wait.await.unwrap());
    }
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), 16);
    running.stop().await;
    if let Some(running) = running_there {
        running.stop().await;
    }
}

pub(crate) async fn a_desk_that_stops_answers_whoever_waits(t: TestDesk) {
    let desk = t.desk.clone();
    let running = t.loops.start();
    let waits = tokio::spawn(async move { desk.deliver_until(claim("a", None), pending()).await });
    tokio::task::yield_now().await;
    running.stop().await;
    match tokio::time::timeout(STUCK_AFTER, waits).await.unwrap().unwrap() {
        Ok(answer) => assert_eq!(answer.unwrap_err(), Nothing::Empty),
        // It may have asked too late to be heard at all.
        Err(error) => assert!(error.to_string().contains("does not answer"), "{error}"),
    }
}
