//! `xb export`

use std::collections::BTreeMap;
use std::fs;

use extraboard_api::client::{Client, ClientError};
use extraboard_api::comment::Comment;
use extraboard_api::envelope::PageQuery;
use extraboard_api::issue::{Issue, IssueDetail, IssueQuery};
use extraboard_intake::export::{Exported, ExportedComment, key, write_jsonl, write_markdown};
use extraboard_intake::import::{Grounds, Terms};

use crate::commands::input::STDIN;
use crate::commands::of_project::{self, OfProject};
use crate::commands::pages;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{print_json_lines, print_text, talk};

const FLAGS: &FlagNames = &[("status", "--status"), ("projectId", "--project")];

/// The largest page a desk gives.
const PAGE: i64 = 200;

/// Write all tasks down, with labels, relations and comments
///
/// JSON lines can be read back by `xb import jsonl`, here or elsewhere; a task list is for people. --json makes no
/// difference.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write; standard output if not given
    #[arg(value_name = "FILE")]
    file: Option<String>,

    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: FormatArg,

    #[command(flatten)]
    of_project: OfProject,

    /// Only these statuses, for example `todo,in_progress`
    #[arg(long, value_name = "STATUS,…")]
    status: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatArg {
    Jsonl,
    Markdown,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let project = args.of_project.meant(ctx)?;
    let query = IssueQuery {
        status: args.status.clone(),
        project_id: of_project::name(project.as_ref()),
        limit: Some(PAGE),
        ..IssueQuery::default()
    };
    let issues = match read(&client, query).await {
        Ok(issues) => issues,
        Err(error) => return Err(of_project::explain(&client, project.as_ref(), error).await),
    };
    let exported = around(&client, issues).await?;
    let text = match args.format {
        FormatArg::Jsonl => write_jsonl(&exported),
        FormatArg::Markdown => write_markdown(&exported),
    };
    let tasks = if exported.len() == 1 { "task" } else { "tasks" };
    if let Some(file) = args.file.as_deref().filter(|file| *file != STDIN) {
        fs::write(file, text).map_err(|error| CliError::io(&format!("cannot write {file}"), &error))?;
        talk(&format!("{} {tasks} written to {file}", exported.len()));
        return Ok(());
    }
    ctx.remark(&format!("{} {tasks}", exported.len()));
    match args.format {
        FormatArg::Jsonl => print_json_lines(&text),
        FormatArg::Markdown => print_text(&text),
    }
}

/// Reads every task, page by page.
async fn read(client: &Client, mut query: IssueQuery) -> Result<Vec<Issue>, CliError> {
    let mut issues = Vec::new();
    loop {
        let page = client.issue_list(&query).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
        let is_empty = page.data.is_empty();
        issues.extend(page.data);
        match page.next_cursor {
            // A page without anything is no reason to ask for ever.
            Some(cursor) if !is_empty => query.cursor = Some(cursor),
            Some(_) | None => return Ok(issues),
        }
    }
}

/// Adds what stands around each task.
async fn around(client: &Client, issues: Vec<Issue>) -> Result<Vec<Exported>, CliError> {
    let listed = pages::all(async |page: &PageQuery| client.project_list(page).await).await?;
    let projects: BTreeMap<String, String> =
        listed.into_iter().map(|project| (project.id, project.name)).collect();
    let mut keys = Keys::of(&issues);
    let mut exported = Vec::new();
    for issue in issues {
        // Whoever deletes something meanwhile need not wait for us.
        let Some(detail) = found(client.issue_get(&issue.id).await)? else { continue };
        for id in others(&detail) {
            // Not among those that are written, but it may have come from elsewhere.
            if !keys.0.contains_key(&id)
                && let Some(other) = found(client.issue_get(&id).await)?
            {
                keys.add(&other.issue);
            }
        }
        let Some(comments) = found(client.comment_list(&issue.id).await)? else { continue };
        let project = issue.project_id.as_ref().and_then(|id| projects.get(id)).cloned();
        exported.push(export(&detail, &comments.data, project, &keys));
    }
    Ok(exported)
}

/// Tells what is not there from what went wrong.
fn found<T>(answer: Result<T, ClientError>) -> Result<Option<T>, CliError> {
    match answer {
        Ok(it) => Ok(Some(it)),
        Err(ClientError::Api { status: 404, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What tasks are exported as, by id.
#[derive(Debug, Default)]
struct Keys(BTreeMap<String, String>);

impl Keys {
    fn of(issues: &[Issue]) -> Self {
        let mut keys = Self::default();
        for issue in issues {
            keys.add(issue);
        }
        keys
    }

    fn add(&mut self, issue: &Issue) {
        self.0.insert(issue.id.clone(), key(issue.external_key.as_deref(), &issue.id));
    }

    fn get(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| key(None, id))
    }
}

/// Returns the ids of the tasks that a task names when it is exported.
fn others(detail: &IssueDetail) -> Vec<String> {
    let related = detail.relations.iter().filter(|relation| is_told(&relation.kind));
    let related = related.map(|relation| relation.related_issue_id.clone());
    detail.issue.parent_id.iter().cloned().chain(related).collect()
}

/// Tells whether a relation is told by this task; one that is seen from the other end is told there.
fn is_told(kind: &str) -> bool {
    matches!(kind, "blocked_by" | "related" | "duplicate")
}

fn export(detail: &IssueDetail, comments: &[Comment], project: Option<String>, keys: &Keys) -> Exported {
    let issue = &detail.issue;
    let tied = |kinds: &[&str]| {
        let found = detail.relations.iter().filter(|relation| kinds.contains(&relation.kind.as_str()));
        found.map(|relation| keys.get(&relation.related_issue_id)).collect::<Vec<_>>()
    };
    Exported {
        key: key(issue.external_key.as_deref(), &issue.id),
        number: Some(issue.number),
        title: issue.title.clone(),
        description: issue.description.clone(),
        kind: Some(issue.kind.clone()),
        status: issue.status.clone(),
        priority_value: Some(issue.priority_value),
        labels: issue.labels.iter().map(|label| label.name.clone()).collect(),
        parent: issue.parent_id.as_deref().map(|id| keys.get(id)),
        blocked_by: tied(&["blocked_by"]),
        related: tied(&["related", "duplicate"]),
        owner: issue.owner.clone(),
        needs: issue.needs.clone(),
        terms: terms(issue),
        grounds: grounds(issue),
        comments: comments.iter().map(with_replies).collect(),
        project,
        created_at: Some(issue.created_at.clone()),
        updated_at: Some(issue.updated_at.clone()),
        completed_at: issue.completed_at.clone(),
    }
}

/// Returns when and how a task is handed out.
fn terms(issue: &Issue) -> Terms {
    Terms {
        boost: (issue.boost != 0).then_some(issue.boost),
        doors: issue.doors.clone(),
        max_retries: Some(issue.max_retries),
        not_before: issue.not_before.clone(),
        input_artifact: issue.input_artifact.clone(),
        gated_by_parent: issue.gated_by_parent,
    }
}

/// Returns what a task was made of.
fn grounds(issue: &Issue) -> Grounds {
    Grounds {
        signal_source: issue.signal_source.clone(),
        signal_payload: issue.signal_payload.clone(),
        hypothesis: issue.hypothesis.clone(),
    }
}

/// Returns a comment with what replies to it.
fn with_replies(comment: &Comment) -> ExportedComment {
    ExportedComment {
        author: Some(comment.author_name.clone()),
        body: comment.body.clone(),
        created_at: Some(comment.created_at.clone()),
        replies: comment.replies.iter().map(with_replies).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn detail() -> IssueDetail {
        let brief = json!({
            "id": "0199b", "number": 3, "title": "B", "type": "task", "status": "todo", "state": "queued"
        });
        let relation = |kind: &str, other: &str| {
            json!({
                "id": "0199r", "type": kind, "issueId": "0199a", "relatedIssueId": other, "related": brief,
                "createdAt": "2026-01-01T00:00:00Z"
            })
        };
        serde_json::from_value(json!({
            "id": "0199a", "number": 7, "title": "A", "description": "D", "type": "code", "status": "todo",
            "state": "queued", "priority": 2, "priorityValue": 75, "maxRetries": 5, "attempt": 0, "boost": -7,
            "doors": ["run"], "notBefore": "2027-01-01T00:00:00Z", "inputArtifact": "out/plan.md",
            "gatedByParent": true, "signalSource": "sentry", "signalPayload": [1], "hypothesis": {"confidence": 0.5},
            "labels": [{"id": "0199l", "name": "bug", "color": "red"}], "needs": ["rust"], "owner": "ann",
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z", "parentId": "0199p",
            "relations": [
                relation("blocked_by", "0199b"), relation("blocks", "0199c"), relation("related", "0199d"),
                relation("duplicate", "0199b")
            ]
        }))
        .unwrap()
    }

    #[test]
    fn everything_is_written_down() {
        let comment = |body: &str, replies: serde_json::Value| {
            json!({
                "id": "0199", "issueId": "0199a", "kind": "comment", "body": body, "authorName": "ann",
                "authorType": "human", "parentId": null, "createdAt": "2026-01-01T00:00:00Z", "replies": replies
            })
        };
        let comments: Vec<Comment> =
            serde_json::from_value(json!([comment("first", json!([comment("reply", json!([]))]))])).unwrap();
        let keys = Keys(BTreeMap::from([("0199b".to_owned(), "github:acme/web#3".to_owned())]));
        let exported = export(&detail(), &comments, Some("apollo".to_owned()), &keys);
        let expected = json!({
            "key": "extraboard:0199a", "number": 7, "title": "A", "description": "D", "type": "code",
            "status": "todo", "priorityValue": 75, "labels": ["bug"], "parent": "extraboard:0199p",
            "blockedBy": ["github:acme/web#3"], "related": ["extraboard:0199d", "github:acme/web#3"],
            "owner": "ann", "needs": ["rust"], "project": "apollo", "boost": -7, "doors": ["run"], "maxRetries": 5,
            "notBefore": "2027-01-01T00:00:00Z", "inputArtifact": "out/plan.md", "gatedByParent": true,
            "signalSource": "sentry", "signalPayload": [1], "hypothesis": {"confidence": 0.5},
            "comments": [{
                "author": "ann", "body": "first", "createdAt": "2026-01-01T00:00:00Z",
                "replies": [{"author": "ann", "body": "reply", "createdAt": "2026-01-01T00:00:00Z"}]
            }],
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z"
        });
        assert_eq!(serde_json::to_value(exported).unwrap(), expected);
    }

    #[test]
    fn a_task_names_what_it_waits_for_and_not_what_waits_for_it() {
        assert_eq!(others(&detail()), ["0199p", "0199b", "0199d", "0199b"]);
    }
}
