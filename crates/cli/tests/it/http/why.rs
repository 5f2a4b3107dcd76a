//! Why an issue runs, waits or never will, for anyone and for a claimer.

use serde_json::{Value, json};

use super::{check_refusals, claim, create, names, on_both};
use crate::harness::{Desk, get, post, put};

on_both!(
    answer_has_the_documented_shape,
    verdict_goes_with_what_is_in_the_way,
    answer_is_for_whom_it_was_asked,
    position_is_that_of_the_line,
    next_is_what_the_claim_takes,
    last_decisions_are_told_newest_first,
    why_of_nothing_is_refused,
);

#[track_caller]
fn why(desk: &Desk, number: i64, query: &str) -> Value {
    desk.send(&get(&format!("/api/issues/{number}/why{query}"))).expect(200)["data"].clone()
}

/// Returns the words of all that is in the way.
fn words(why: &Value) -> Vec<&str> {
    why["gates"].as_array().unwrap().iter().map(|gate| gate["gate"].as_str().unwrap()).collect()
}

fn answer_has_the_documented_shape(desk: &mut Desk) {
    create(desk, &json!({"boost": 3}));
    let answer =
        why(desk, 1, "?agent=ada&capabilities=rust,gpu&owner=ann&provider=acme&account=team&kinds=task");
    let fields = [
        "breakdown",
        "change",
        "claimer",
        "decisions",
        "gates",
        "issue",
        "pos",
        "position",
        "positionCapped",
        "score",
        "verdict",
    ];
    assert_eq!(names(&answer), fields);
    assert_eq!(names(&answer["issue"]), ["id", "number", "state", "status", "title", "type"]);
    let claimer = json!({
        "name": "agent:ada", "door": "pull", "capabilities": ["gpu", "rust"], "owner": "ann",
        "provider": "acme", "account": "team", "projectId": null, "kinds": ["task"]
    });
    assert_eq!(answer["claimer"], claimer);
    assert_eq!((&answer["verdict"], &answer["gates"]), (&json!("next"), &json!([])));
    assert_eq!((&answer["position"], &answer["positionCapped"]), (&json!(1), &json!(false)));
    let queue = desk.send(&get("/api/dispatch/queue")).expect(200);
    assert_eq!(answer["breakdown"], queue["data"][0]["breakdown"]);
    assert_eq!(answer["score"], queue["data"][0]["score"]);
    assert_eq!(why(desk, 1, "")["claimer"], Value::Null);
}

fn verdict_goes_with_what_is_in_the_way(desk: &mut Desk) {
    desk.send(&post("/api/projects", &json!({"name": "apollo", "status": "paused"}))).expect(201);
    create(desk, &json!({"priority": 1}));
    create(desk, &json!({}));
    create(desk, &json!({"blockedBy": [2]}));
    create(desk, &json!({"status": "backlog"}));
    create(desk, &json!({"notBefore": "2099-01-01T00:00:00Z"}));
    create(desk, &json!({"projectId": "apollo", "inputArtifact": "plan.md"}));
    claim(desk, "ada");
    for (number, verdict, expected, change) in [
        (1, "running", vec!["state"], None),
        (2, "next", vec![], None),
        (3, "held", vec!["blocker"], Some("finish or cancel #2")),
        (4, "blocked", vec!["state"], Some("admit it")),
        (5, "waiting", vec!["not_before"], Some("wait for its moment")),
        (6, "blocked", vec!["artifact", "paused"], Some("provide plan.md")),
    ] {
        let answer = why(desk, number, "");
        assert_eq!(answer["verdict"], verdict, "#{number}: {answer}");
        assert_eq!(words(&answer), expected, "#{number}");
        match change {
            Some(change) => assert!(answer["change"].as_str().unwrap().contains(change), "{answer}"),
            None => assert_eq!(answer["change"], Value::Null),
        }
    }
    assert_eq!(why(desk, 5, "")["gates"][0]["until"], "2099-01-01T00:00:00Z");
    let both = why(desk, 6, "");
    assert_eq!(both["change"], "provide plan.md; resume project apollo");
    assert_eq!(both["position"], Value::Null, "it does not stand in line");
}

fn answer_is_for_whom_it_was_asked(desk: &mut Desk) {
    create(desk, &json!({"type": "code", "needs": ["rust"], "owner": "ann", "doors": ["pull"]}));
    assert_eq!(why(desk, 1, "")["verdict"], "next", "somebody can take it");
    for (query, says) in [
        ("?agent=ada", "lacks rust"),
        ("?capabilities=rust", "for agents of ann"),
        ("?capabilities=rust&owner=ann&kinds=task", "does not ask for code"),
    ] {
        let answer = why(desk, 1, query);
        assert_eq!(answer["verdict"], "impossible", "{query}");
        let details: Vec<_> =
            answer["gates"].as_array().unwrap().iter().map(|gate| gate["detail"].clone()).collect();
        assert!(details.iter().any(|detail| detail.as_str().unwrap().contains(says)), "{query}: {details:?}");
        assert!(words(&answer).iter().all(|word| *word == "no_match"), "{answer}");
    }
    assert_eq!(why(desk, 1, "?agent=ada&capabilities=rust&owner=ann")["verdict"], "next");
    let limits = json!({"limits": {"agents": {"ada": 0}}});
    desk.send_as_person(put("/api/rules", &limits)).expect(200);
    let limited = why(desk, 1, "?agent=ada&capabilities=rust&owner=ann");
    assert_eq!((&limited["verdict"], words(&limited)), (&json!("blocked"), vec!["limit"]));
    assert_eq!(why(desk, 1, "?agent=bob&capabilities=rust&owner=ann")["verdict"], "next");
}

fn position_is_that_of_the_line(desk: &mut Desk) {
    for points in [10, 90, 50] {
        create(desk, &json!({"priorityValue": points}));
    }
    for (number, position, verdict) in [(2, 1, "next"), (3, 2, "waiting"), (1, 3, "waiting")] {
        let answer = why(desk, number, "?agent=ada");
        assert_eq!(
            (&answer["position"], &answer["verdict"]),
            (&json!(position), &json!(verdict)),
            "#{number}"
        );
    }
    let last = why(desk, 1, "?agent=ada");
    assert_eq!(words(&last), ["behind"]);
    assert_eq!(last["gates"][0]["detail"], "2 are ahead of it");
}

fn next_is_what_the_claim_takes(desk: &mut Desk) {
    for kind in ["task", "code", "plan"] {
        create(desk, &json!({"type": kind}));
    }
    for kinds in ["code", "task,plan", "plan"] {
        let query = format!("?agent=ada&kinds={kinds}");
        let verdicts: Vec<i64> =
            (1..=3).filter(|number| why(desk, *number, &query)["verdict"] == "next").collect();
        let reply = desk.send(&get(&format!("/api/dispatch/next?kinds={kinds}")).agent("ada"));
        let taken: Vec<i64> = if reply.status == 200 {
            vec![reply.json()["issue"]["number"].as_i64().unwrap()]
        } else {
            vec![]
        };
        assert_eq!(verdicts, taken, "{kinds}");
    }
}

fn last_decisions_are_told_newest_first(desk: &mut Desk) {
    create(desk, &json!({}));
    for _ in 0..3 {
        let path =
            format!("/api/dispatches/{}/release", claim(desk, "ada")["dispatch"]["id"].as_str().unwrap());
        desk.send(&post(&path, &Value::Null).agent("ada")).expect(200);
    }
    let answer = why(desk, 1, "");
    let decisions = answer["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 5);
    assert_eq!(names(&decisions[0]), ["actor", "at", "data", "pos", "type"]);
    assert_eq!(decisions[0]["actor"], "agent:ada");
    let times: Vec<_> = decisions.iter().map(|decision| decision["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
    let highest = decisions.iter().filter_map(|decision| decision["pos"].as_i64()).max();
    assert!(answer["pos"].as_i64() >= highest, "{answer}");
}

fn why_of_nothing_is_refused(desk: &mut Desk) {
    check_refusals(
        desk,
        &[
            (get("/api/issues/9/why"), 404, "not_found", "there is no issue"),
            (get("/api/issues/x/why"), 400, "bad_request", "id: "),
            (get("/api/issues/9/why?limit=1"), 400, "bad_request", "limit: unknown field"),
            (post("/api/issues/9/why", &Value::Null), 405, "method_not_allowed", "POST"),
        ],
    );
}
