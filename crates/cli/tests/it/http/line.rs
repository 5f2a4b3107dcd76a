//! The line as a claimer sees it: filters, what it may have, why there is nothing, and changes of place.

use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_nothing, check_refusals, claim, create, invalid, names, numbers,
    on_both, report, show,
};
use crate::harness::{Desk, Request, get, patch, post};

on_both!(
    queue_and_next_take_the_same_filters,
    needs_are_met_by_capabilities,
    owned_issue_is_for_agents_of_its_owner,
    every_204_says_why_and_when_to_ask_again,
    reason_of_a_204_is_what_is_nearest_to_work,
    filters_come_in_the_query_or_the_body,
    key_remembers_what_was_asked_for,
    parts_of_a_score_add_up,
    bump_moves_up_and_down_within_bounds,
    move_puts_an_issue_beside_another_one,
    move_of_what_is_not_in_line_is_refused,
    bad_claimers_are_refused,
    bad_standings_are_refused,
);

fn queue(desk: &Desk, query: &str) -> Value {
    desk.send(&get(&format!("/api/dispatch/queue{query}"))).expect(200)
}

fn next(query: &str) -> Request {
    get(&format!("/api/dispatch/next{query}"))
}

fn queue_and_next_take_the_same_filters(desk: &mut Desk) {
    desk.send(&post("/api/projects", &json!({"name": "apollo"}))).expect(201);
    for (kind, project) in
        [("task", Value::Null), ("code", json!("apollo")), ("plan", json!("apollo")), ("code", Value::Null)]
    {
        let mut body = json!({"type": kind});
        if project.is_string() {
            body["projectId"] = project;
        }
        create(desk, &body);
    }
    for (query, expected) in [
        ("?projectId=apollo", vec![3, 2]),
        ("?kinds=code", vec![2, 4]),
        ("?kinds=code,task", vec![1, 2, 4]),
        ("?kinds=code&projectId=apollo", vec![2]),
        ("?kinds=signal", vec![]),
    ] {
        let found = queue(desk, query);
        assert_eq!((numbers(&found), &found["total"]), (expected.clone(), &json!(expected.len())), "{query}");
        let taken = desk.send(&next(query).agent("ada"));
        match expected.first() {
            Some(first) => {
                let taken = taken.expect(200);
                assert_eq!(taken["issue"]["number"], *first, "{query}");
                desk.send(&report(&taken, "release", &Value::Null)).expect(200);
            }
            None => check_nothing(desk, &next(query), "no_match"),
        }
    }
    let all = queue(desk, "?kinds=plan&all=true");
    assert_eq!(numbers(&all).len(), 4);
    let gates = |number: i64| {
        let entries = all["data"].as_array().unwrap();
        entries.iter().find(|entry| entry["issue"]["number"] == number).unwrap()["gates"].clone()
    };
    assert_eq!(gates(3), json!([]));
    assert_eq!(gates(2)[0]["gate"], "no_match");
}

fn needs_are_met_by_capabilities(desk: &mut Desk) {
    let issue = create(desk, &json!({"needs": ["Rust", "gpu", "rust"]}));
    assert_eq!(issue["needs"], json!(["gpu", "rust"]));
    for query in ["", "?capabilities=rust", "?capabilities=gpu,c++"] {
        assert_eq!(queue(desk, query)["total"], 0, "{query}");
        check_nothing(desk, &next(&query.replace('+', "%2B")), "no_match");
    }
    assert_eq!(queue(desk, "?capabilities=RUST,gpu,sql")["total"], 1);
    let why = desk.send(&get("/api/issues/1/why?capabilities=rust")).expect(200)["data"].clone();
    assert_eq!(why["verdict"], "impossible");
    assert!(why["gates"][0]["detail"].as_str().unwrap().contains("lacks gpu"), "{why}");
    let taken = desk.send(&next("?capabilities=gpu,rust").agent("ada")).expect(200);
    assert_eq!(taken["issue"]["number"], 1);
}

fn owned_issue_is_for_agents_of_its_owner(desk: &mut Desk) {
    create(desk, &json!({"owner": "ann"}));
    for query in ["", "?owner=bob"] {
        check_nothing(desk, &next(query), "no_match");
    }
    create(desk, &json!({}));
    assert_eq!(numbers(&queue(desk, "?owner=ann")), [1, 2], "agents of an owner take unowned work too");
    assert_eq!(desk.send(&next("?owner=ann").agent("ada")).expect(200)["issue"]["number"], 1);
    desk.send(&next("?owner=bob").agent("bob")).expect(200);
}

fn every_204_says_why_and_when_to_ask_again(desk: &mut Desk) {
    check_nothing(desk, &next(""), "empty");
    create(desk, &json!({"status": "backlog"}));
    check_nothing(desk, &next(""), "empty");
    create(desk, &json!({"blockedBy": [1]}));
    check_nothing(desk, &next(""), "held");
    create(desk, &json!({"notBefore": "2099-01-01T00:00:00Z"}));
    check_nothing(desk, &next(""), "not_before");
    create(desk, &json!({"doors": ["push"]}));
    check_nothing(desk, &next(""), "no_match");
    desk.send(&post("/api/projects", &json!({"name": "apollo", "status": "paused"}))).expect(201);
    create(desk, &json!({"projectId": "apollo"}));
    check_nothing(desk, &next(""), "paused");
    create(desk, &json!({}));
    let taken = desk.send(&next("?provider=acme&account=team").agent("ada")).expect(200);
    let refused = json!({"class": "rate_limited", "retryAfter": 60});
    desk.send(&report(&taken, "fail", &refused)).expect(200);
    desk.send(&patch("/api/issues/6", &json!({"notBefore": null}))).expect(200);
    check_nothing(desk, &next("?provider=acme&account=team"), "rate_limited");
    assert_eq!(queue(desk, "?provider=acme&account=team")["total"], 0);
    assert_eq!(numbers(&queue(desk, "?provider=acme&account=other")), [6]);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 6, "whoever names no account has no gate");
}

fn reason_of_a_204_is_what_is_nearest_to_work(desk: &mut Desk) {
    desk.send(&post("/api/projects", &json!({"name": "apollo", "status": "paused"}))).expect(201);
    create(desk, &json!({"projectId": "apollo"}));
    create(desk, &json!({"needs": ["gpu"]}));
    let reply = desk.send(&next(""));
    assert_eq!(reply.status, 204);
    assert!(["paused", "no_match"].contains(&reply.header("extraboard-reason").unwrap()));
    check_nothing(desk, &next("?projectId=apollo"), "paused");
}

fn filters_come_in_the_query_or_the_body(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({"type": "code", "needs": ["rust"], "owner": "ann"}));
    let body = json!({
        "kinds": ["code"], "capabilities": ["rust"], "owner": "ann", "adapter": "claude", "provider": "acme",
        "account": "team"
    });
    let taken = desk.send(&post("/api/dispatch/next", &body).agent("ada")).expect(200);
    assert_eq!(taken["issue"]["number"], 2);
    desk.send(&report(&taken, "release", &Value::Null)).expect(200);
    let half = post("/api/dispatch/next?kinds=code&owner=ann", &json!({"capabilities": ["rust"]}));
    assert_eq!(desk.send(&half.agent("ada")).expect(200)["issue"]["number"], 2);
    let both = post("/api/dispatch/next?kinds=code", &json!({"kinds": ["task"]}));
    check_fields(desk, &[invalid(both, "kinds: ")]);
}

fn key_remembers_what_was_asked_for(desk: &mut Desk) {
    create(desk, &json!({"type": "code"}));
    let ask = |query: &str| desk.send(&next(query).agent("ada").key("k"));
    let first = ask("?kinds=code,plan").expect(200);
    assert_eq!(ask("?kinds=plan,code").expect(200)["dispatch"]["id"], first["dispatch"]["id"]);
    ask("?kinds=code").refused(422, "idempotency_mismatch");
    ask("").refused(422, "idempotency_mismatch");
}

fn parts_of_a_score_add_up(desk: &mut Desk) {
    create(desk, &json!({"priorityValue": 73, "boost": 5, "type": "signal"}));
    create(desk, &json!({"parentId": 1, "boost": -7}));
    let queue = queue(desk, "");
    for entry in queue["data"].as_array().unwrap() {
        assert_eq!(names(entry), ["breakdown", "gates", "issue", "score"]);
        let parts = entry["breakdown"].as_object().unwrap();
        assert_eq!(parts.len(), 8, "{parts:?}");
        let sum: i64 = parts.values().map(|part| part.as_i64().unwrap()).sum();
        assert_eq!(entry["score"], sum);
        assert_eq!(entry["breakdown"]["boost"], entry["issue"]["boost"]);
    }
    assert_eq!(queue["data"][0]["score"], 73 + 5 + 50);
}

fn bump_moves_up_and_down_within_bounds(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({}));
    let bump =
        |body: &Value| desk.send(&post("/api/issues/2/bump", body)).expect(200)["data"]["boost"].clone();
    assert_eq!(bump(&Value::Null), 10);
    assert_eq!(numbers(&queue(desk, "")), [2, 1]);
    assert_eq!(bump(&json!({"by": -25})), -15);
    assert_eq!(numbers(&queue(desk, "")), [1, 2]);
    assert_eq!(bump(&json!({"by": 1_000_000})), 10_000);
    assert_eq!(bump(&json!({"by": i64::MAX})), 10_000);
    assert_eq!(bump(&json!({"by": i64::MIN})), -10_000);
    check_fields(
        desk,
        &[
            bad_request(post("/api/issues/2/bump", &json!({"points": 5})), "points: unknown field"),
            bad_request(post("/api/issues/2/bump", &json!({"by": "much"})), "by: "),
        ],
    );
    let nowhere = post("/api/issues/9/bump", &Value::Null);
    check_refusals(desk, &[(nowhere, 404, "not_found", "there is no issue")]);
}

fn move_puts_an_issue_beside_another_one(desk: &mut Desk) {
    for points in [90, 60, 30, 10] {
        create(desk, &json!({"priorityValue": points}));
    }
    let place = |number: i64, body: &Value| {
        let moved = desk.send(&post(&format!("/api/issues/{number}/move"), body)).expect(200);
        assert_eq!(names(&moved), ["data", "position", "positionCapped"]);
        (moved["position"].as_i64().unwrap(), moved["data"]["boost"].as_i64().unwrap())
    };
    assert_eq!(place(4, &json!({"before": 2})), (2, 51), "the least that is enough");
    assert_eq!(numbers(&queue(desk, "")), [1, 4, 2, 3]);
    assert_eq!(place(1, &json!({"after": "3"})).0, 4);
    assert_eq!(numbers(&queue(desk, "")), [4, 2, 3, 1]);
    assert_eq!(place(4, &json!({"before": 2})), (1, 51), "what stands there already stays");
    let id = show(desk, &json!(4))["id"].clone();
    assert_eq!(place(3, &json!({"before": id})).0, 1);
    assert_eq!(numbers(&queue(desk, "")), [3, 4, 2, 1]);
}

fn move_of_what_is_not_in_line_is_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    create(desk, &json!({"status": "backlog"}));
    create(desk, &json!({"blockedBy": [1]}));
    let place = |number: i64, body: &Value| post(&format!("/api/issues/{number}/move"), body);
    check_refusals(
        desk,
        &[
            (place(2, &json!({"before": 1})), 409, "not_waiting", "does not stand in line"),
            (place(1, &json!({"before": 2})), 409, "not_waiting", "does not stand in line"),
            (place(1, &json!({"after": 3})), 409, "not_waiting", "does not stand in line"),
            (place(9, &json!({"before": 1})), 404, "not_found", "there is no issue"),
            bad_request(place(1, &Value::Null), "expected either `before` or `after`"),
            bad_request(place(1, &json!({"before": 2, "after": 3})), "expected either"),
            bad_request(place(1, &json!({"behind": 2})), "behind"),
        ],
    );
    for (body, field) in [
        (json!({"before": "first"}), "before: "),
        (json!({"before": 9}), "before: "),
        (json!({"after": 9}), "after: "),
        (json!({"before": 1}), "before: "),
    ] {
        let reply = desk.send(&place(1, &body));
        assert_eq!(reply.status, 422, "{body}: {}", reply.text());
        assert!(reply.json()["error"].as_str().unwrap().contains(field), "{body}: {}", reply.text());
    }
}

fn bad_claimers_are_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    let unknown = "01990000-0000-7000-8000-000000000000";
    let long = "x".repeat(101);
    let mut refusals = Vec::new();
    for route in ["/api/dispatch/next", "/api/dispatch/queue", "/api/issues/1/why"] {
        let with = |query: &str| get(&format!("{route}?{query}"));
        refusals.extend([
            bad_request(with("kind=code"), "kind: unknown field, did you mean kinds?"),
            invalid(with("projectId=gemini"), "projectId: there is no project gemini"),
            invalid(with(&format!("projectId={unknown}")), "projectId: "),
            invalid(with("kinds=epic"), "kinds: "),
            invalid(with("kinds=code,"), "kinds: "),
            invalid(with("capabilities=a%20b"), "capabilities: "),
            invalid(with("owner="), "owner: "),
            invalid(with(&format!("owner={long}")), "owner: "),
            invalid(with("account=team"), "account: "),
        ]);
    }
    refusals.push(bad_request(get("/api/dispatch/queue?all=maybe"), "all: "));
    refusals.push(bad_request(post("/api/dispatch/next", &json!({"kinds": "code"})), "kinds: "));
    refusals.push(invalid(post("/api/dispatch/next", &json!({"kinds": ["epic"]})), "kinds: "));
    refusals.push(invalid(get("/api/issues/1/why?agent=two%20words"), "agent: "));
    check_fields(desk, &refusals);
}

fn bad_standings_are_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    let words: Vec<String> = (0..21).map(|index| format!("w{index}")).collect();
    let cases = [
        (json!({"boost": 10_001}), "boost: expected -10000 to 10000"),
        (json!({"boost": -10_001}), "boost: expected -10000 to 10000"),
        (json!({"needs": ["two words"]}), "needs: "),
        (json!({"needs": [""]}), "needs: "),
        (json!({"needs": ["x".repeat(51)]}), "needs: "),
        (json!({"needs": words}), "needs: "),
        (json!({"owner": ""}), "owner: expected 1 to 100 characters"),
        (json!({"owner": "x".repeat(101)}), "owner: expected 1 to 100 characters"),
    ];
    let mut refusals = Vec::new();
    for (more, says) in &cases {
        let mut body = json!({"title": "t", "type": "task"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refusals.push(invalid(post("/api/issues", &body), says));
        refusals.push(invalid(patch("/api/issues/1", more), says));
    }
    let blocked = |by: Value| post("/api/issues", &json!({"title": "t", "type": "task", "blockedBy": by}));
    refusals.push(invalid(blocked(json!([9])), "blockedBy: "));
    refusals.push(invalid(blocked(json!(["first"])), "blockedBy: "));
    refusals.push(bad_request(blocked(json!(1)), "blockedBy: "));
    refusals.push(bad_request(patch("/api/issues/1", &json!({"boost": null})), "boost: "));
    refusals
        .push(bad_request(patch("/api/issues/1", &json!({"blockedBy": [1]})), "blockedBy: unknown field"));
    check_fields(desk, &refusals);
}
