//! Every operation of the API.

use extraboard_api::artifact::{Artifact, ArtifactCreate, ArtifactStored};
use extraboard_api::claimer::{NextBody, NextQuery};
use extraboard_api::comment::{Comment, CommentCreate};
use extraboard_api::dispatch::{
    Ask, Complete, DispatchPrompt, Fail, Heartbeat, Next, Queue, QueueQuery, Release, ReportReply,
};
use extraboard_api::doctor::{DoctorRange, DoctorReport};
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::event::EventsQuery;
use extraboard_api::gate::AccountGate;
use extraboard_api::goal::{Goal, GoalCreate, GoalPatch};
use extraboard_api::inbox::{Answer, InboxItem, InboxQuery};
use extraboard_api::issue::{
    Issue, IssueCreate, IssueDetail, IssueList, IssuePatch, IssuePatched, IssueQuery,
};
use extraboard_api::order::{IssueBump, IssueMove, IssueMoved};
use extraboard_api::project::{Project, ProjectCreate, ProjectPatch};
use extraboard_api::relation::{Relation, RelationCreate};
use extraboard_api::rules::{Rules, RulesPut};
use extraboard_api::status::DeskStatus;
use extraboard_api::token::{Token, TokenCreate, TokenCreated};
use extraboard_api::why::{Why, WhyQuery};
use serde_json::{Value, json};

use super::loops;
use super::operation::{Operation, operation};

/// Returns every operation, in the order of `docs/api.md`.
pub(super) fn all() -> Vec<Operation> {
    [
        issues(),
        verbs(),
        around(),
        loops::labels(),
        loops::signals(),
        loops::templates(),
        loops::dashboard(),
        taking(),
        reporting(),
        projects(),
        goals(),
        inbox(),
        events(),
        desk(),
    ]
    .concat()
}

fn issues() -> Vec<Operation> {
    let issue = |method, path, id, summary| operation("issues", method, path, id, summary);
    vec![
        issue("get", "/api/issues", "listIssues", "List issues")
            .query::<IssueQuery>()
            .answers::<IssueList>(200, "a page of issues, oldest first"),
        key(issue("post", "/api/issues", "createIssue", "Create an issue"))
            .body::<IssueCreate>()
            .answers::<One<Issue>>(200, "the issue that has that external key")
            .answers::<One<Issue>>(201, "the new issue"),
        issue("get", "/api/issues/{id}", "getIssue", "Show an issue")
            .answers::<One<IssueDetail>>(200, "the issue, and what stands around it"),
        issue("patch", "/api/issues/{id}", "patchIssue", "Edit an issue, or do what a status means")
            .body::<IssuePatch>()
            .answers::<IssuePatched>(200, "the issue, and the dispatch if one was opened"),
        issue("delete", "/api/issues/{id}", "deleteIssue", "Delete an issue")
            .answers_nothing(204, "it is gone"),
        issue("post", "/api/issues/{id}/bump", "bumpIssue", "Add points to an issue's score")
            .body::<IssueBump>()
            .answers::<One<Issue>>(200, "the issue"),
        issue("post", "/api/issues/{id}/move", "moveIssue", "Move an issue before or after another")
            .body::<IssueMove>()
            .answers::<IssueMoved>(200, "the issue and its place"),
        issue("get", "/api/issues/{id}/why", "whyIssue", "Say why an issue is where it is")
            .query::<WhyQuery>()
            .answers::<One<Why>>(200, "the verdict, and what it rests on"),
    ]
}

pub(super) fn key(operation: Operation) -> Operation {
    let schema = json!({ "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$" });
    operation.header("Idempotency-Key", "the same key does the same thing once", &schema)
}

/// The verbs of the state machine that have routes.
fn verbs() -> Vec<Operation> {
    let verbs = [
        ("/api/issues/{id}/admit", "admitIssue", "Let an issue be handed out"),
        ("/api/issues/{id}/park", "parkIssue", "Take an issue out of the queue"),
        ("/api/issues/{id}/cancel", "cancelIssue", "Give an issue up"),
        ("/api/issues/{id}/retry", "retryIssue", "Give an issue another go"),
        ("/api/issues/{id}/reopen", "reopenIssue", "Open an issue again"),
    ];
    verbs
        .map(|(path, id, summary)| {
            operation("issues", "post", path, id, summary).answers::<One<Issue>>(200, "the issue")
        })
        .to_vec()
}

/// Relations, artifacts and comments.
fn around() -> Vec<Operation> {
    let issue = |method, path, id, summary| operation("issues", method, path, id, summary);
    vec![
        issue("get", "/api/issues/{id}/relations", "listRelations", "List what an issue is related to")
            .answers::<Many<Relation>>(200, "the relations"),
        issue("post", "/api/issues/{id}/relations", "createRelation", "Relate two issues")
            .body::<RelationCreate>()
            .answers::<One<Relation>>(200, "there already")
            .answers::<One<Relation>>(201, "the new relation"),
        issue("delete", "/api/relations/{id}", "deleteRelation", "Take a relation back")
            .answers_nothing(204, "it is gone"),
        issue("get", "/api/issues/{id}/artifacts", "listArtifacts", "List what an issue provided")
            .answers::<Many<Artifact>>(200, "the artifacts"),
        issue("post", "/api/issues/{id}/artifacts", "provideArtifact", "Provide what others wait for")
            .body::<ArtifactCreate>()
            .answers::<One<ArtifactStored>>(200, "its content was replaced")
            .answers::<One<ArtifactStored>>(201, "the new artifact"),
        issue("get", "/api/issues/{id}/comments", "listComments", "List what was said about an issue")
            .answers::<Many<Comment>>(200, "the comments, in threads"),
        issue("post", "/api/issues/{id}/comments", "createComment", "Say something about an issue")
            .body::<CommentCreate>()
            .answers::<One<Comment>>(201, "the new comment"),
    ]
}

fn taking() -> Vec<Operation> {
    let dispatch = |method, path, id, summary| operation("dispatches", method, path, id, summary);
    let next = |operation: Operation| {
        key(operation)
            .query::<NextQuery>()
            .answers::<Next>(200, "work, and the dispatch it is handed out by")
            .answers_nothing(204, "nothing; Extraboard-Reason says why")
    };
    vec![
        next(dispatch("get", "/api/dispatch/next", "claimNext", "Take the first issue in line")),
        next(dispatch(
            "post",
            "/api/dispatch/next",
            "claimNextBy",
            "Take the first issue in line, saying more",
        ))
        .body::<NextBody>(),
        dispatch("get", "/api/dispatch/queue", "listQueue", "List what would be handed out")
            .query::<QueueQuery>()
            .answers::<Queue>(200, "the line, in its order"),
    ]
}

fn reporting() -> Vec<Operation> {
    let report = |path, id, summary| {
        operation("dispatches", "post", path, id, summary)
            .answers::<ReportReply>(200, "what to do next, and the issue")
    };
    vec![
        report("/api/dispatches/{id}/heartbeat", "heartbeat", "Say that the work goes on")
            .body::<Heartbeat>(),
        report("/api/dispatches/{id}/complete", "complete", "Report that the work is done")
            .body::<Complete>(),
        report("/api/dispatches/{id}/fail", "fail", "Report that the work failed").body::<Fail>(),
        report("/api/dispatches/{id}/release", "release", "Give the work back").body::<Release>(),
        report("/api/dispatches/{id}/ask", "ask", "Ask a person").body::<Ask>(),
        operation(
            "dispatches",
            "get",
            "/api/dispatches/{id}/prompt",
            "getPrompt",
            "Show the prompt of a dispatch",
        )
        .answers::<One<DispatchPrompt>>(200, "the prompt as it was handed out")
        .answers_as::<String>(200, "", "text/plain"),
    ]
}

fn projects() -> Vec<Operation> {
    let project = |method, path, id, summary| operation("projects", method, path, id, summary);
    vec![
        project("get", "/api/projects", "listProjects", "List projects")
            .query::<PageQuery>()
            .answers::<Many<Project>>(200, "a page of projects"),
        project("post", "/api/projects", "createProject", "Create a project")
            .body::<ProjectCreate>()
            .answers::<One<Project>>(201, "the new project"),
        project("get", "/api/projects/{id}", "getProject", "Show a project")
            .answers::<One<Project>>(200, "the project"),
        project("patch", "/api/projects/{id}", "patchProject", "Edit a project")
            .body::<ProjectPatch>()
            .answers::<One<Project>>(200, "the project"),
        project("delete", "/api/projects/{id}", "deleteProject", "Delete a project")
            .answers_nothing(204, "it is gone"),
        project("post", "/api/projects/{id}/pause", "pauseProject", "Hand nothing of a project out")
            .answers::<One<Project>>(200, "the project"),
        project("post", "/api/projects/{id}/resume", "resumeProject", "Hand a project's issues out again")
            .answers::<One<Project>>(200, "the project"),
    ]
}

fn goals() -> Vec<Operation> {
    let goal = |method, path, id, summary| operation("projects", method, path, id, summary);
    vec![
        goal("get", "/api/goals", "listGoals", "List goals")
            .query::<PageQuery>()
            .answers::<Many<Goal>>(200, "a page of goals"),
        goal("post", "/api/goals", "createGoal", "Create a goal")
            .body::<GoalCreate>()
            .answers::<One<Goal>>(201, "the new goal"),
        goal("get", "/api/goals/{id}", "getGoal", "Show a goal").answers::<One<Goal>>(200, "the goal"),
        goal("patch", "/api/goals/{id}", "patchGoal", "Edit a goal")
            .body::<GoalPatch>()
            .answers::<One<Goal>>(200, "the goal"),
        goal("delete", "/api/goals/{id}", "deleteGoal", "Delete a goal").answers_nothing(204, "it is gone"),
    ]
}

fn inbox() -> Vec<Operation> {
    let inbox = |method, path, id, summary| operation("inbox", method, path, id, summary);
    vec![
        inbox("get", "/api/inbox", "listInbox", "List what waits for a person")
            .query::<InboxQuery>()
            .answers::<Many<InboxItem>>(200, "a page of the inbox, oldest first"),
        inbox("post", "/api/inbox/{id}/answer", "answerInboxItem", "Answer an item")
            .admin()
            .body::<Answer>()
            .answers::<One<Issue>>(200, "the issue"),
        inbox("post", "/api/inbox/{id}/dismiss", "dismissInboxItem", "Put an item away")
            .admin()
            .answers_nothing(204, "it is away"),
        inbox("post", "/api/issues/{id}/answer", "answerIssue", "Answer what an issue's agent asked")
            .admin()
            .body::<Answer>()
            .answers::<One<Issue>>(200, "the issue"),
    ]
}

fn events() -> Vec<Operation> {
    let schema = json!({ "type": "integer", "minimum": 0 });
    vec![
        operation("desk", "get", "/api/events", "streamEvents", "Follow what happens")
            .query::<EventsQuery>()
            .header("Last-Event-ID", "the last position the reader has seen", &schema)
            .answers_as::<String>(200, "server-sent events", "text/event-stream"),
    ]
}

fn desk() -> Vec<Operation> {
    let desk = |method, path, id, summary| operation("desk", method, path, id, summary);
    vec![
        desk("get", "/api/status", "getStatus", "Say how the desk is")
            .answers::<One<DeskStatus>>(200, "how it is"),
        desk("get", "/api/openapi.json", "getOpenApi", "Show this document")
            .answers::<Value>(200, "this document"),
        desk("get", "/api/rules", "getRules", "Show the rules").answers::<One<Rules>>(200, "the rules"),
        desk("put", "/api/rules", "putRules", "Change the rules")
            .admin()
            .body::<RulesPut>()
            .answers::<One<Rules>>(200, "the new rules"),
        desk("get", "/api/gates", "listGates", "List provider accounts that refused")
            .answers::<Many<AccountGate>>(200, "their gates"),
        desk("delete", "/api/gates/{provider}/{account}", "openGate", "Open the gate of an account")
            .admin()
            .answers_nothing(204, "it is open"),
        desk("get", "/api/doctor", "checkDesk", "Check what the desk keeps")
            .admin()
            .query::<DoctorRange>()
            .answers::<One<DoctorReport>>(200, "what is wrong"),
        desk("post", "/api/doctor/repair", "repairDesk", "Put right what the desk keeps wrong")
            .admin()
            .body::<DoctorRange>()
            .answers::<One<DoctorReport>>(200, "what was wrong"),
        desk("get", "/api/tokens", "listTokens", "List tokens")
            .admin()
            .answers::<Many<Token>>(200, "all tokens, without their secrets"),
        desk("post", "/api/tokens", "createToken", "Make a token")
            .admin()
            .body::<TokenCreate>()
            .answers::<One<TokenCreated>>(201, "the token and its secret"),
        desk("delete", "/api/tokens/{id}", "revokeToken", "Take a token back")
            .admin()
            .answers_nothing(204, "it is not valid any more"),
    ]
}
