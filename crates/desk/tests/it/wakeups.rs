//! Positions, and loops that run by themselves.

use extraboard_core::id::Pos;
use extraboard_store::verbs::EventsAfter;

use crate::harness::{TestDesk, claim};

pub(crate) async fn every_write_moves_the_position_readers_wait_for(mut t: TestDesk) {
    let mut positions = t.desk.positions();
    assert_eq!(*positions.borrow_and_update(), Pos(0));
    t.add("first").await;
    t.turn().await;
    assert_eq!(*positions.borrow_and_update(), Pos(1));
    t.claim("a").await.unwrap();
    t.turn().await;
    assert_eq!(*positions.borrow_and_update(), Pos(2));
    let after = EventsAfter { pos: Pos(0), limit: 10, task: None };
    let events = t.desk.read(after).await.unwrap().events;
    let types: Vec<_> = events.iter().map(|event| event.event_type.as_str()).collect();
    assert_eq!(types, ["task.created", "dispatch.opened"]);
}

pub(crate) async fn the_loops_do_all_this_by_themselves_and_stop_when_told(t: TestDesk) {
    let second = t.second().await;
    let running = t.loops.start();
    let desk = t.desk.clone();
    let mut positions = desk.positions();
    // Where a second server can share the database, its readers hear it too.
    let listening = second.map(|(desk, loops)| (desk.positions(), loops.start()));
    let ctx = desk.ctx(extraboard_core::caller::Caller::Anonymous);
    let draft = extraboard_store::verbs::TaskDraft::new("first");
    let id = desk.new_task_id();
    desk.write(extraboard_store::verbs::TaskCreate { ctx, id, draft, key: None }).await.unwrap();
    positions.wait_for(|pos| *pos >= Pos(1)).await.unwrap();
    if let Some((mut heard, second)) = listening {
        heard.wait_for(|pos| *pos >= Pos(1)).await.unwrap();
        second.stop().await;
    }
    assert!(desk.claim(claim("a", None)).await.unwrap().is_ok());
    running.stop().await;
    assert!(desk.claim(claim("a", None)).await.is_err());
}

pub(crate) async fn a_loop_that_panics_has_died_and_says_why(t: TestDesk) {
    t.clock.break_down();
    let mut running = t.loops.start();
    let why = running.died().await;
    assert!(why.contains("the clock is broken"), "{why}");
    running.stop().await;
}
