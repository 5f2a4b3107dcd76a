//! Claims that were committed, and whose answers the desk never got.

use std::time::Duration;

use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::doors::{Door, Doors};
use extraboard_core::gate::Claimer;
use extraboard_core::reason::Reason;
use extraboard_core::state::State;
use extraboard_core::task::Task;
use extraboard_desk::Claim;
use extraboard_store::error::Error;
use extraboard_store::verbs::TaskDraft;
use extraboard_testkit::postgres::Relay;

use crate::harness::{LEASE, POISON, TestDesk, claim};

/// How long the desk may take to end a dispatch that nobody heard of.
const LIMIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_claim_whose_commit_was_not_confirmed_is_ended_by_the_desk() {
    let (mut t, relay) = TestDesk::relayed().await;
    let task = t.add("wanted").await;
    lose_claim(&mut t, &relay, None).await;
    tokio::time::timeout(LIMIT, ended(&t, &task)).await.expect("the desk ends the dispatch");
    t.pass(LEASE).await;
    let view = t.view(&task).await;
    // A dispatch that was merely not heard of would count as lost.
    assert_eq!((view.task.state, view.task.counters.lost), (State::Queued, 0));
    assert_eq!(t.claim("next").await.unwrap().dispatch.fence.0, 2);
}

#[tokio::test]
async fn a_keyed_claim_whose_commit_was_not_confirmed_waits_for_its_client() {
    let (mut t, relay) = TestDesk::relayed().await;
    let task = t.add("wanted").await;
    lose_claim(&mut t, &relay, Some("k")).await;
    let opened = dispatch(&t, &task).await;
    let desk = t.desk.clone();
    let (again, turned) = tokio::join!(desk.claim(claim("a", Some("k"))), t.loops.turn());
    turned.unwrap();
    assert_eq!(again.unwrap().unwrap().dispatch.id, opened.id);
    assert_eq!(dispatch(&t, &task).await.phase, Phase::Open);
}

#[tokio::test]
async fn a_claim_that_was_tried_again_by_itself_is_ended_by_the_desk_too() {
    let (mut t, relay) = TestDesk::relayed().await;
    let behind = |door, title| TaskDraft { doors: Doors::new([door]).unwrap(), ..TaskDraft::new(title) };
    t.add_draft(behind(Door::Run, POISON)).await;
    let task = t.add_draft(behind(Door::Pull, "wanted")).await;
    let desk = t.desk.clone();
    relay.lose_next_commit();
    let (spoiling, lost, turned) = tokio::join!(
        desk.claim(Claim { claimer: Claimer::anyone("agent:a", Door::Run), ..claim("a", None) }),
        desk.claim(claim("b", None)),
        t.loops.turn(),
    );
    turned.unwrap();
    assert!(matches!(spoiling, Err(Error::Broken(_))), "{spoiling:?}");
    assert!(matches!(lost, Err(Error::Unavailable(_))), "{lost:?}");
    tokio::time::timeout(LIMIT, ended(&t, &task)).await.expect("the desk ends the dispatch");
}

/// Claims so that the dispatch is opened and the claim fails.
async fn lose_claim(t: &mut TestDesk, relay: &Relay, key: Option<&str>) {
    let desk = t.desk.clone();
    relay.lose_next_commit();
    let (claimed, turned) = tokio::join!(desk.claim(claim("a", key)), t.loops.turn());
    turned.unwrap();
    assert!(matches!(claimed, Err(Error::Unavailable(_))), "{claimed:?}");
}

async fn dispatch(t: &TestDesk, task: &Task) -> Dispatch {
    t.view(task).await.dispatch.expect("the claim was committed")
}

/// Returns once the task's dispatch was told to end.
async fn ended(t: &TestDesk, task: &Task) {
    while dispatch(t, task).await.phase != Phase::Ending(Reason::Released) {
        tokio::task::yield_now().await;
    }
}
