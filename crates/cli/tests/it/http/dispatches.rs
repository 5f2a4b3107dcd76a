//! Taking work: next, the queue, and keys.

use std::thread;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{claim, create, names, on_both, report, show};
use crate::harness::{Desk, Request, get, post};

on_both!(
    claim_has_the_documented_shape,
    nothing_to_claim_is_204_with_a_reason,
    get_and_post_hand_out_alike,
    queue_shows_the_order_of_claims,
    same_key_is_the_same_open_dispatch,
    key_is_not_kept_after_nothing,
    head_hands_out_nothing,
    time_brings_an_issue_into_line,
    claim_of_a_client_that_has_gone_is_given_back,
    clients_that_claim_at_once_never_share,
);

const GONE_COUNT: usize = 20;
const GIVEN_BACK_LIMIT: Duration = Duration::from_secs(10);
const CLIENT_COUNT: usize = 32;

fn claim_has_the_documented_shape(desk: &mut Desk) {
    create(desk, &json!({"title": "Lay the track", "description": "All of it."}));
    let reply = desk.send(&get("/api/dispatch/next").agent("ada"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let next = reply.expect(200);
    let fields: Vec<&String> = next.as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 4);
    let fields = ["reviewUrl", "templateId", "templateSlug", "versionId", "versionNumber"];
    assert_eq!(names(&next["meta"]), fields);
    let prompt = next["prompt"].as_str().unwrap();
    assert!(prompt.contains("Lay the track") && prompt.contains("All of it."), "{prompt}");
    assert_eq!(next["issue"]["state"], "running");
    assert_eq!(next["issue"]["status"], "in_progress");
    assert_eq!(next["issue"]["attempt"], 1);
    let ticket = &next["dispatch"];
    assert_eq!(
        (&ticket["attempt"], &ticket["fence"], &ticket["leaseSeconds"]),
        (&json!(1), &json!(1), &json!(3600))
    );
    assert!(ticket["token"].as_str().unwrap().starts_with("xbd_"));
    let held = show(desk, &next["issue"]["number"])["dispatch"].clone();
    assert_eq!(held["id"], ticket["id"]);
    assert_eq!(
        (&held["holder"], &held["door"], &held["phase"]),
        (&json!("agent:ada"), &json!("pull"), &json!("open"))
    );
    assert_eq!(held["token"], Value::Null, "a token is for its holder alone");
}

fn nothing_to_claim_is_204_with_a_reason(desk: &mut Desk) {
    for (more, reason) in [
        (Value::Null, "empty"),
        (json!({"status": "backlog"}), "empty"),
        (json!({"notBefore": "2099-01-01T00:00:00Z"}), "not_before"),
        (json!({"doors": ["push"]}), "no_match"),
    ] {
        if !more.is_null() {
            create(desk, &more);
        }
        let reply = desk.send(&get("/api/dispatch/next"));
        assert_eq!((reply.status, reply.body.len()), (204, 0), "{more}");
        assert_eq!(reply.header("extraboard-reason"), Some(reason), "{more}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{more}");
    }
}

fn get_and_post_hand_out_alike(desk: &mut Desk) {
    for number in 1..=4 {
        create(desk, &json!({}));
        let request = match number {
            1 => get("/api/dispatch/next"),
            2 => Request::new("POST", "/api/dispatch/next"),
            3 => post("/api/dispatch/next", &json!({})),
            _ => get("/api/dispatch/next").raw("{}"),
        };
        assert_eq!(desk.send(&request).expect(200)["issue"]["number"], number);
    }
}

fn queue_shows_the_order_of_claims(desk: &mut Desk) {
    for priority in [25, 100, 50, 50, 10, 100, 51, 49, 1, 50] {
        create(desk, &json!({"priorityValue": priority}));
    }
    create(desk, &json!({"priorityValue": 100, "doors": ["push"]}));
    create(desk, &json!({"priorityValue": 100, "status": "backlog"}));
    let queue = desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!((&queue["total"], &queue["totalCapped"]), (&json!(10), &json!(false)));
    let entries = queue["data"].as_array().unwrap();
    for entry in entries {
        let breakdown = &entry["breakdown"];
        assert_eq!(breakdown["priorityWeight"], entry["issue"]["priorityValue"]);
        let terms = ["priorityWeight", "typeBonus", "goalBonus", "ageBonus"];
        let sum: i64 = terms.iter().map(|term| breakdown[term].as_i64().unwrap()).sum();
        assert_eq!(entry["score"], sum);
    }
    let page = desk.send(&get("/api/dispatch/queue?limit=3&offset=2")).expect(200);
    let page: Vec<&Value> =
        page["data"].as_array().unwrap().iter().map(|entry| &entry["issue"]["number"]).collect();
    let order: Vec<&Value> = entries.iter().map(|entry| &entry["issue"]["number"]).collect();
    assert_eq!(page, order[2..5]);
    let claimed: Vec<Value> = order.iter().map(|_| claim(desk, "ada")["issue"]["number"].clone()).collect();
    assert_eq!(claimed, order.into_iter().cloned().collect::<Vec<_>>());
    assert_eq!(claimed, [2, 6, 7, 3, 4, 10, 8, 1, 5, 9]);
    assert_eq!(desk.send(&get("/api/dispatch/queue")).expect(200)["total"], 0);
}

fn same_key_is_the_same_open_dispatch(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({}));
    let ask = |agent| desk.send(&get("/api/dispatch/next").agent(agent).key("k"));
    let first = ask("ada").expect(200);
    let again = ask("ada").expect(200);
    assert_eq!(again["dispatch"]["id"], first["dispatch"]["id"]);
    assert_eq!(again["dispatch"]["token"], first["dispatch"]["token"]);
    assert_eq!(again["prompt"], first["prompt"]);
    let other = ask("bob").expect(200);
    assert_ne!(other["dispatch"]["id"], first["dispatch"]["id"], "a key is its caller's own");
    desk.send(&report(&first, "complete", &Value::Null)).expect(200);
    ask("ada").refused(409, "idempotency_closed");
}

fn key_is_not_kept_after_nothing(desk: &mut Desk) {
    let ask = get("/api/dispatch/next").agent("ada").key("k");
    assert_eq!(desk.send(&ask).status, 204);
    create(desk, &json!({}));
    desk.send(&ask).expect(200);
}

/// HEAD is what proxies and link checkers send: it must not take work that nobody then does.
fn head_hands_out_nothing(desk: &mut Desk) {
    let issue = create(desk, &json!({}));
    assert_eq!(desk.send(&Request::new("HEAD", "/api/dispatch/next")).status, 405);
    assert_eq!(show(desk, &issue["number"])["state"], "queued");
}

fn time_brings_an_issue_into_line(desk: &mut Desk) {
    create(desk, &json!({"notBefore": "2099-01-01T00:00:00Z"}));
    assert_eq!(desk.send(&get("/api/dispatch/queue")).expect(200)["total"], 0);
    create(desk, &json!({"notBefore": "2020-01-01T00:00:00Z"}));
    assert_eq!(desk.send(&get("/api/dispatch/queue")).expect(200)["total"], 1);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
}

fn claim_of_a_client_that_has_gone_is_given_back(desk: &mut Desk) {
    for _ in 0..GONE_COUNT {
        create(desk, &json!({}));
    }
    for _ in 0..GONE_COUNT {
        get("/api/dispatch/next").agent("gone").send_and_leave(desk.api());
    }
    let mut claimed = 0;
    wait_until(GIVEN_BACK_LIMIT, "every issue to be handed out to somebody who stays", || {
        claimed += usize::from(desk.send(&get("/api/dispatch/next").agent("ada")).status == 200);
        (claimed == GONE_COUNT).then_some(())
    });
}

fn clients_that_claim_at_once_never_share(desk: &mut Desk) {
    for _ in 0..CLIENT_COUNT {
        create(desk, &json!({}));
    }
    let mut numbers: Vec<i64> = thread::scope(|scope| {
        let desk = &*desk;
        let claims: Vec<_> = (0..CLIENT_COUNT)
            .map(|client| scope.spawn(move || claim(desk, &format!("client-{client}"))))
            .collect();
        claims.into_iter().map(|next| next.join().unwrap()["issue"]["number"].as_i64().unwrap()).collect()
    });
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), CLIENT_COUNT);
    assert_eq!(desk.send(&get("/api/dispatch/next")).status, 204);
}
