//! Artifacts: what one issue provides and others wait for.

use std::fs;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{
    bad_request, check_fields, check_nothing, check_refusals, claim, create, invalid, names, on_both, show,
};
use crate::harness::{Desk, Request, get, patch, post};

on_both!(
    issue_waits_for_its_artifact,
    artifact_counts_in_its_project_only,
    artifact_that_was_there_before_is_there,
    artifact_is_found_in_the_workspace,
    same_path_again_replaces_the_content,
    bad_artifacts_are_refused,
);

const LIMIT: Duration = Duration::from_secs(20);

fn provide(number: i64, body: &Value) -> Request {
    post(&format!("/api/issues/{number}/artifacts"), body)
}

fn issue_waits_for_its_artifact(desk: &mut Desk) {
    create(desk, &json!({"status": "backlog"}));
    let waiting = create(desk, &json!({"inputArtifact": "out/plan.md"}));
    assert_eq!((&waiting["held"], &waiting["artifactPresent"]), (&json!(true), &json!(false)));
    check_nothing(desk, &get("/api/dispatch/next"), "held");
    let other = desk.send(&provide(1, &json!({"path": "out/other.md", "content": "x"}))).expect(201);
    assert_eq!(other["data"]["freed"], json!([]));
    let reply = desk.send(&provide(1, &json!({"path": "out/plan.md", "content": "Grüße"})));
    let stored = reply.expect(201)["data"].clone();
    assert_eq!(names(&stored), ["createdAt", "freed", "id", "issueId", "path", "projectId", "size"]);
    assert_eq!((&stored["freed"], &stored["size"]), (&json!([2]), &json!(7)));
    assert_eq!(stored["issueId"], show(desk, &json!(1))["id"]);
    assert_eq!(show(desk, &json!(2))["artifactPresent"], true);
    assert_eq!(claim(desk, "ada")["issue"]["number"], 2);
    let list = desk.send(&get("/api/issues/1/artifacts")).expect(200);
    assert_eq!(list["total"], 2);
    let plan = list["data"].as_array().unwrap().iter().find(|artifact| artifact["path"] == "out/plan.md");
    assert_eq!(plan.unwrap()["content"], "Grüße");
    assert_eq!(desk.send(&get("/api/issues/2/artifacts")).expect(200)["total"], 0);
}

fn artifact_counts_in_its_project_only(desk: &mut Desk) {
    for name in ["apollo", "gemini"] {
        desk.send(&post("/api/projects", &json!({"name": name}))).expect(201);
    }
    create(desk, &json!({"projectId": "apollo", "status": "backlog"}));
    create(desk, &json!({"projectId": "gemini", "inputArtifact": "plan.md"}));
    create(desk, &json!({"inputArtifact": "plan.md"}));
    let waiting = create(desk, &json!({"projectId": "apollo", "inputArtifact": "plan.md"}));
    let stored = desk.send(&provide(1, &json!({"path": "plan.md"}))).expect(201)["data"].clone();
    assert_eq!((&stored["freed"], &stored["size"]), (&json!([4]), &json!(0)));
    assert_eq!(stored["projectId"], waiting["projectId"]);
    for (number, held) in [(2, true), (3, true), (4, false)] {
        assert_eq!(show(desk, &json!(number))["held"], held, "#{number}");
    }
}

fn artifact_that_was_there_before_is_there(desk: &mut Desk) {
    create(desk, &json!({"status": "backlog"}));
    desk.send(&provide(1, &json!({"path": "./out//plan.md", "content": ""}))).expect(201);
    let late = create(desk, &json!({"inputArtifact": "out/plan.md"}));
    assert_eq!((&late["held"], &late["artifactPresent"]), (&json!(false), &json!(true)));
    let moved = desk.send(&patch("/api/issues/2", &json!({"inputArtifact": "other.md"}))).expect(200);
    assert_eq!(moved["data"]["held"], true);
    let cleared = desk.send(&patch("/api/issues/2", &json!({"inputArtifact": null}))).expect(200);
    assert_eq!((&cleared["data"]["held"], &cleared["data"]["inputArtifact"]), (&json!(false), &Value::Null));
}

fn artifact_is_found_in_the_workspace(desk: &mut Desk) {
    let workspace = tempfile::tempdir().unwrap();
    let body = json!({"name": "apollo", "workspace": workspace.path().to_str().unwrap()});
    desk.send(&post("/api/projects", &body)).expect(201);
    let waiting = create(desk, &json!({"projectId": "apollo", "inputArtifact": "out/plan.md"}));
    assert_eq!(waiting["held"], true);
    check_nothing(desk, &get("/api/dispatch/next"), "held");
    fs::create_dir(workspace.path().join("out")).unwrap();
    fs::write(workspace.path().join("out/plan.md"), "the plan").unwrap();
    wait_until(LIMIT, "the file to be seen", || {
        (show(desk, &json!(1))["artifactPresent"] == true).then_some(())
    });
    assert_eq!(claim(desk, "ada")["issue"]["number"], 1);
}

fn same_path_again_replaces_the_content(desk: &mut Desk) {
    create(desk, &json!({}));
    let first = desk.send(&provide(1, &json!({"path": "plan.md", "content": "one"}))).expect(201);
    let again = desk.send(&provide(1, &json!({"path": "plan.md", "content": "three"}))).expect(200);
    assert_eq!((&again["data"]["id"], &again["data"]["size"]), (&first["data"]["id"], &json!(5)));
    let list = desk.send(&get("/api/issues/1/artifacts")).expect(200);
    assert_eq!((&list["total"], &list["data"][0]["content"]), (&json!(1), &json!("three")));
}

fn bad_artifacts_are_refused(desk: &mut Desk) {
    create(desk, &json!({}));
    let at = |path: &str| provide(1, &json!({"path": path}));
    let long = "x".repeat(501);
    let large = provide(1, &json!({"path": "a", "content": "x".repeat(512 * 1024 + 1)}));
    let wants =
        |path: &str| post("/api/issues", &json!({"title": "t", "type": "task", "inputArtifact": path}));
    check_fields(
        desk,
        &[
            bad_request(provide(1, &json!({})), "path: is required"),
            bad_request(provide(1, &json!({"path": "a", "text": "x"})), "text: unknown field"),
            bad_request(provide(1, &json!({"path": "a", "content": {"x": 1}})), "content: "),
            invalid(at(""), "path: "),
            invalid(at("/etc/passwd"), "path: expected a relative path"),
            invalid(at("../x"), "path: expected a relative path"),
            invalid(at("a/../../x"), "path: expected a relative path"),
            invalid(at(&long), "path: expected 1 to 500 characters"),
            invalid(at("a\nb"), "path: "),
            invalid(large, "content: expected at most"),
            invalid(provide(1, &json!({"path": "a", "content": "\u{0}"})), "content: "),
            invalid(wants("/abs"), "inputArtifact: expected a relative path"),
            invalid(wants("a/../b"), "inputArtifact: expected a relative path"),
            invalid(wants(&long), "inputArtifact: expected 1 to 500 characters"),
        ],
    );
    check_refusals(
        desk,
        &[
            (provide(9, &json!({"path": "a"})), 404, "not_found", "there is no issue"),
            (get("/api/issues/9/artifacts"), 404, "not_found", "there is no issue"),
        ],
    );
    assert_eq!(desk.send(&get("/api/issues/1/artifacts")).expect(200)["total"], 0);
    desk.send(&provide(1, &json!({"path": "a", "content": "x".repeat(512 * 1024)}))).expect(201);
}
