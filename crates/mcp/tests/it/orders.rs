//! Orders: from reports, from heartbeats in the background, and about what is lost.

use serde_json::{Value, json};

use super::client::{Endpoint, Said, Session, none, stdio};
use super::desk::{Answer, FakeDesk, PATIENCE, issue, reply};

const HEARTBEAT: &str = "POST /api/dispatches/d1/heartbeat";

fn stop(lease: i64) -> Answer {
    Answer::Json(200, reply("stop", Some("canceled"), Some(lease), &issue(41, "in_progress")))
}

/// Looks until the orders are as expected.
async fn look_until(session: &Session, is_so: impl Fn(&Value) -> bool) -> Said {
    let looking = async {
        loop {
            let said = session.call("queue", none()).await;
            if is_so(said.orders()) {
                return said;
            }
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap()
}

async fn check_stop(desk: &FakeDesk, session: &Session) {
    session.call("claim", none()).await;
    desk.once(HEARTBEAT, stop(60));
    let said = session.call("heartbeat", none()).await;
    assert_eq!(said.data["order"], "stop");
    assert!(said.text.starts_with("#41 is to stop; the lease lasts 60 seconds."), "{}", said.text);
    let order = json!({"dispatch": "d1", "number": 41, "order": "stop", "reason": "canceled", "held": true});
    assert_eq!(said.orders(), &json!([order]));
    assert!(said.text.contains("order: stop, reason: canceled. End your work on it now, then call release"));
    let said = session.call("queue", none()).await;
    assert_eq!(said.orders(), &json!([order]), "it is told until it is obeyed");
    assert_eq!(session.call("release", none()).await.orders(), &json!([]));
}

#[tokio::test]
async fn a_stop_is_told_until_it_is_obeyed() {
    let desk = FakeDesk::start().await;
    check_stop(&desk, &stdio(&desk).await.session).await;
    let desk = FakeDesk::start().await;
    check_stop(&desk, &Endpoint::start(&desk).await.session("curly").await).await;
}

#[tokio::test]
async fn a_stop_from_the_background_is_told_on_the_next_result() {
    let desk = FakeDesk::start().await;
    desk.lease(3);
    desk.always(HEARTBEAT, stop(3));
    let stdio = stdio(&desk).await;
    let claimed = stdio.session.call("claim", none()).await;
    assert_eq!(claimed.orders()[0]["order"], "continue");
    let beats = desk.wait_for(HEARTBEAT, 2).await;
    assert_eq!((beats[0].token.as_deref(), &beats[0].body), (Some("xbd_1"), &json!({})));
    let said = look_until(&stdio.session, |orders| orders[0]["order"] == "stop").await;
    assert!(said.text.contains("order: stop, reason: canceled"), "{}", said.text);
}

#[tokio::test]
async fn an_http_session_hears_orders_when_it_calls() {
    let desk = FakeDesk::start().await;
    desk.lease(3);
    desk.always(HEARTBEAT, stop(3));
    let endpoint = Endpoint::start(&desk).await;
    let session = endpoint.session("curly").await;
    session.call("claim", none()).await;
    look_until(&session, |orders| orders[0]["order"] == "stop").await;
    assert_eq!(desk.seen(HEARTBEAT).len(), 1);
}

#[tokio::test]
async fn what_the_desk_took_away_is_told_once() {
    let desk = FakeDesk::start().await;
    desk.lease(3);
    let stale = json!({"error": "Dispatch d1 was superseded.", "code": "stale_dispatch", "order": "stop"});
    desk.always(HEARTBEAT, Answer::Json(409, stale));
    let stdio = stdio(&desk).await;
    stdio.session.call("claim", none()).await;
    desk.wait_for(HEARTBEAT, 1).await;
    let said = look_until(&stdio.session, |orders| orders[0]["held"] == json!(false)).await;
    assert_eq!(said.orders()[0]["reason"], "Dispatch d1 was superseded.");
    assert!(said.text.contains("do not report on it"), "{}", said.text);
    assert_eq!(stdio.session.call("queue", none()).await.orders(), &json!([]));
}

#[tokio::test]
async fn a_desk_out_of_reach_is_asked_until_the_lease_is_over() {
    let desk = FakeDesk::start().await;
    desk.lease(2);
    let down = json!({"error": "The database does not answer.", "code": "unavailable"});
    desk.always(HEARTBEAT, Answer::Json(503, down));
    let stdio = stdio(&desk).await;
    stdio.session.call("claim", none()).await;
    desk.wait_for(HEARTBEAT, 1).await;
    let said = look_until(&stdio.session, |orders| orders[0]["held"] == json!(false)).await;
    assert_eq!(said.orders()[0]["reason"], "the desk could not be reached until the lease ended");
    assert_eq!(desk.seen(HEARTBEAT).len(), 2);
    assert_eq!(stdio.session.refused("complete", none()).await.code(), "nothing_held");
}
