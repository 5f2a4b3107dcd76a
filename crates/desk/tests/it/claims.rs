//! The claim section.

use extraboard_core::state::State;

use crate::harness::{TestDesk, claim};

pub(crate) async fn whoever_waits_is_served_together_in_the_order_of_arrival(mut t: TestDesk) {
    for number in 0..5 {
        t.add(&format!("task {number}")).await;
    }
    let desk = t.desk.clone();
    let (a, b, c, turned) = tokio::join!(
        desk.claim(claim("a", None)),
        desk.claim(claim("b", None)),
        desk.claim(claim("c", None)),
        t.loops.turn(),
    );
    turned.unwrap();
    let titles = [a, b, c].map(|claimed| claimed.unwrap().unwrap().task.title);
    assert_eq!(titles, ["task 0", "task 1", "task 2"]);
    assert_eq!(t.claim("d").await.unwrap().task.title, "task 3");
}

pub(crate) async fn a_claim_whose_client_has_gone_is_released_at_once(mut t: TestDesk) {
    let task = t.add("wanted").await;
    let desk = t.desk.clone();
    let mut client = Box::pin(desk.claim(claim("gone", None)));
    assert!(poll_once(client.as_mut()).await.is_none());
    // The answer is on its way, and the client goes without having looked.
    t.turn().await;
    assert_eq!(t.view(&task).await.task.state, State::Running);
    drop(client);
    while t.view(&task).await.task.state == State::Running {
        tokio::task::yield_now().await;
    }
    let view = t.view(&task).await;
    assert_eq!((view.task.state, view.task.dispatch), (State::Queued, None));
    assert_eq!(t.claim("next").await.unwrap().dispatch.fence.0, 2);
}

pub(crate) async fn a_keyed_claim_waits_for_its_client_to_come_back(mut t: TestDesk) {
    t.add("wanted").await;
    let desk = t.desk.clone();
    let (first, turned) = tokio::join!(desk.claim(claim("a", Some("k"))), t.loops.turn());
    turned.unwrap();
    let (again, turned) = tokio::join!(desk.claim(claim("a", Some("k"))), t.loops.turn());
    turned.unwrap();
    let (first, again) = (first.unwrap().unwrap(), again.unwrap().unwrap());
    assert_eq!(first.dispatch.id, again.dispatch.id);
    assert_eq!(first.dispatch.prompt, again.dispatch.prompt);
}

pub(crate) async fn two_desks_over_one_database_never_hand_out_a_task_twice(t: TestDesk) {
    for number in 0..40 {
        t.add(&format!("task {number}")).await;
    }
    let second = t.second().await;
    let mut desks = vec![t.desk.clone()];
    let mut running = vec![t.loops.start()];
    if let Some((desk, loops)) = second {
        desks.push(desk);
        running.push(loops.start());
    }
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..8 {
        let desk = desks[client % desks.len()].clone();
        clients.spawn(async move {
            let mut claimed = Vec::new();
            while let Ok(work) = desk.claim(claim("a", None)).await.unwrap() {
                claimed.push(work.task.number);
            }
            claimed
        });
    }
    let mut claimed = clients.join_all().await.concat();
    claimed.sort_unstable();
    let all: Vec<_> = (1..=40).map(extraboard_core::id::TaskNumber).collect();
    assert_eq!(claimed, all);
    for loops in running {
        loops.stop().await;
    }
}

/// Polls a future once, so that what it sends is sent.
async fn poll_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
