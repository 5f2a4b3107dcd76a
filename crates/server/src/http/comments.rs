//! `GET|POST /api/issues/:id/comments`: what people and agents say about an issue.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::comment::{Comment, CommentCreate};
use extraboard_api::envelope::{Many, One};
use extraboard_core::caller::Caller;
use extraboard_core::comment::{AuthorType, COMMENT_CHARS_MAX};
use extraboard_core::id::{CommentId, TaskId};
use extraboard_core::task::OWNER_CHARS_MAX;
use extraboard_store::verbs::{self, CommentList, TaskGet};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    TaskPath(task): TaskPath,
) -> Result<Json<Many<Comment>>, ApiError> {
    let issue = app.desk.read(TaskGet { task }).await?.task.id;
    let comments = app.desk.read(CommentList { task }).await?;
    Ok(Json(Many::whole(threads(issue, comments))))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Body(body): Body<CommentCreate>,
) -> Result<(StatusCode, Json<One<Comment>>), ApiError> {
    let mut problems = Problems::default();
    problems.text("body", &body.body, COMMENT_CHARS_MAX);
    if body.body.trim().is_empty() {
        problems.add("body", "expected some text");
    }
    if let Some(name) = &body.author_name {
        problems.name("authorName", name, OWNER_CHARS_MAX);
    }
    let author_type = body.author_type.as_deref().and_then(|word| problems.word("authorType", word));
    if author_type == Some(AuthorType::Human) && matches!(caller, Caller::Holder { .. }) {
        problems.add("authorType", "expected agent: that is whom the token of a dispatch speaks for");
    }
    let parent = body.parent_id.as_deref().and_then(|text| parent(&mut problems, text));
    problems.check()?;
    let issue = app.desk.read(TaskGet { task }).await?.task.id;
    let author = match body.author_name {
        Some(name) => Some(name),
        None => app.holder(&caller).await?,
    };
    let ctx = app.desk.ctx(caller);
    let said = verbs::CommentCreate { ctx, task, body: body.body, author, author_type, parent };
    let comment = app.desk.write(said).await?;
    Ok((StatusCode::CREATED, Json(One { data: shown(issue, &comment) })))
}

fn parent(problems: &mut Problems, text: &str) -> Option<CommentId> {
    let parent = text.parse().ok().map(CommentId);
    if parent.is_none() {
        problems.add("parentId", format!("expected the id of a comment, got {text:?}"));
    }
    parent
}

/// Puts replies below what they reply to, as deep as they go.
fn threads(issue: TaskId, comments: Vec<verbs::Comment>) -> Vec<Comment> {
    let mut replies: HashMap<Option<CommentId>, Vec<Comment>> = HashMap::new();
    // A reply comes after what it replies to, so from the end all of its own are there.
    for comment in comments.into_iter().rev() {
        let own = replies.remove(&Some(comment.id)).unwrap_or_default();
        let mut shown = shown(issue, &comment);
        shown.replies = own.into_iter().rev().collect();
        replies.entry(comment.parent).or_default().push(shown);
    }
    replies.remove(&None).unwrap_or_default().into_iter().rev().collect()
}

fn shown(issue: TaskId, comment: &verbs::Comment) -> Comment {
    Comment {
        id: comment.id.to_string(),
        issue_id: issue.to_string(),
        kind: comment.kind.as_str().to_owned(),
        body: comment.body.clone(),
        author_name: comment.author.clone(),
        author_type: comment.author_type.as_str().to_owned(),
        parent_id: comment.parent.map(|parent| parent.to_string()),
        created_at: convert::time(comment.created_at),
        replies: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use extraboard_core::clock::Timestamp;
    use extraboard_core::comment::CommentKind;
    use extraboard_core::id::TaskNumber;

    use super::*;

    fn comment(id: i64, parent: Option<i64>) -> verbs::Comment {
        verbs::Comment {
            id: CommentId(id),
            task: TaskNumber(1),
            kind: CommentKind::Comment,
            body: String::new(),
            author: String::new(),
            author_type: AuthorType::Agent,
            parent: parent.map(CommentId),
            created_at: Timestamp::from_micros(0),
        }
    }

    fn outline(comments: &[Comment]) -> String {
        let one = |comment: &Comment| format!("{}({})", comment.id, outline(&comment.replies));
        comments.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn replies_stand_below_what_they_reply_to() {
        let comments = [(1, None), (2, Some(1)), (3, None), (4, Some(2)), (5, Some(1))];
        let issue = TaskId::from_uuid(uuid::Uuid::nil());
        let threads = threads(issue, comments.into_iter().map(|(id, parent)| comment(id, parent)).collect());
        assert_eq!(outline(&threads), "1(2(4()) 5()) 3()");
    }
}
