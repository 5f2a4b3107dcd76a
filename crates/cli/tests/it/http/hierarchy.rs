//! Parents and children: depth, gating, moving under another parent.

use serde_json::{Value, json};

use super::{check_fields, check_nothing, claim, create, invalid, numbers, on_both, report, show};
use crate::harness::{Desk, delete, get, patch, post};

on_both!(
    child_knows_its_parent_and_the_parent_its_children,
    gated_child_waits_for_its_parent_and_another_does_not,
    child_of_a_parent_that_cannot_be_done_never_starts,
    moved_child_takes_its_descendants_along,
    bad_parents_are_refused,
);

fn under(desk: &mut Desk, parent: i64, more: &Value) -> Value {
    let mut body = json!({"parentId": parent});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    create(desk, &body)
}

fn child_knows_its_parent_and_the_parent_its_children(desk: &mut Desk) {
    let parent = create(desk, &json!({"type": "plan"}));
    let child = under(desk, 1, &json!({"type": "spec"}));
    assert_eq!((&child["parentId"], &child["depth"]), (&parent["id"], &json!(1)));
    assert_eq!(child["gatedByParent"], false, "nobody asked for it");
    let grandchild = create(desk, &json!({"parentId": child["id"], "type": "code"}));
    assert_eq!(grandchild["depth"], 2);
    let detail = show(desk, &json!(2));
    assert_eq!((&detail["parent"]["number"], &detail["parent"]["type"]), (&json!(1), &json!("plan")));
    assert_eq!(detail["children"].as_array().unwrap().len(), 1);
    assert_eq!(detail["children"][0]["number"], 3);
    for parent in ["1", parent["id"].as_str().unwrap()] {
        let list = desk.send(&get(&format!("/api/issues?parentId={parent}"))).expect(200);
        assert_eq!((numbers(&list), &list["total"]), (vec![2], &json!(1)));
    }
}

fn gated_child_waits_for_its_parent_and_another_does_not(desk: &mut Desk) {
    create(desk, &json!({"priority": 4}));
    assert_eq!(under(desk, 1, &json!({"gatedByParent": true}))["held"], true);
    assert_eq!(under(desk, 1, &json!({}))["held"], false);
    assert_eq!(numbers(&desk.send(&get("/api/dispatch/queue")).expect(200)), [1, 3]);
    let parent = claim(desk, "ada");
    claim(desk, "ada");
    check_nothing(desk, &get("/api/dispatch/next"), "held");
    desk.send(&report(&parent, "complete", &Value::Null)).expect(200);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
}

fn child_of_a_parent_that_cannot_be_done_never_starts(desk: &mut Desk) {
    create(desk, &json!({"maxRetries": 0}));
    under(desk, 1, &json!({"gatedByParent": true}));
    desk.send(&report(&claim(desk, "ada"), "fail", &json!({"retryable": false}))).expect(200);
    check_nothing(desk, &get("/api/dispatch/next"), "held");
    let why = desk.send(&get("/api/issues/2/why")).expect(200);
    assert_eq!(why["data"]["verdict"], "impossible");
    let gate = &why["data"]["gates"][0];
    assert_eq!(gate["gate"], "parent");
    assert!(gate["detail"].as_str().unwrap().contains("#1 is failed"), "{gate}");
    desk.send(&patch("/api/issues/2", &json!({"gatedByParent": false}))).expect(200);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
}

fn moved_child_takes_its_descendants_along(desk: &mut Desk) {
    create(desk, &json!({}));
    under(desk, 1, &json!({}));
    under(desk, 2, &json!({}));
    let depths = |desk: &Desk| [2, 3].map(|number| show(desk, &json!(number))["depth"].clone());
    assert_eq!(depths(desk), [1, 2]);
    desk.send(&patch("/api/issues/2", &json!({"parentId": null}))).expect(200);
    assert_eq!(depths(desk), [0, 1]);
    let other = create(desk, &json!({}))["number"].as_i64().unwrap();
    desk.send(&patch("/api/issues/2", &json!({"parentId": other}))).expect(200);
    assert_eq!(depths(desk), [1, 2]);
    assert_eq!(desk.send(&delete("/api/issues/1")).status, 204, "it has no children any more");
}

fn bad_parents_are_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    for depth in 1..=8 {
        assert_eq!(under(desk, depth, &json!({}))["depth"], depth);
    }
    let child_of =
        |parent: &Value| post("/api/issues", &json!({"title": "t", "type": "task", "parentId": parent}));
    let move_under =
        |number: i64, parent: i64| patch(&format!("/api/issues/{number}"), &json!({"parentId": parent}));
    let nobody = "01990000-0000-7000-8000-000000000000";
    check_fields(
        desk,
        &[
            invalid(child_of(&json!(9)), "parentId: "),
            invalid(child_of(&json!(99)), "parentId: "),
            invalid(child_of(&json!(nobody)), "parentId: "),
            invalid(child_of(&json!("first")), "parentId: "),
            invalid(move_under(1, 99), "parentId: "),
        ],
    );
    create(desk, &json!({}));
    under(desk, 10, &json!({}));
    check_fields(desk, &[invalid(move_under(10, 8), "parentId: ")]);
    for (number, parent) in [(1, 1), (1, 2), (2, 9)] {
        let reply = desk.send(&move_under(number, parent));
        assert_eq!(reply.status, 422, "{number} under {parent}: {}", reply.text());
        assert!(["cycle", "validation"].contains(&reply.json()["code"].as_str().unwrap()));
    }
    let ring = desk.send(&move_under(1, 2)).refused(422, "cycle");
    assert!(
        ring["error"].as_str().unwrap().contains("#1 → #2 → #1")
            || ring["error"].as_str().unwrap().contains("#2 → #1 → #2"),
        "{ring}"
    );
}
