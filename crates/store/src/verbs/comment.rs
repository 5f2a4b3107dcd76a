//! Comments, questions and answers about a task.

use extraboard_core::clock::Timestamp;
use extraboard_core::comment::{AuthorType, CommentKind};
use extraboard_core::event::EventType;
use extraboard_core::id::{CommentId, TaskNumber, TaskRef};
use extraboard_core::patch::Role;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::change::{change, lock_dispatch, moved};
use super::task_get::TaskView;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::task;
use crate::tx::{Tx, Verb, first};
use crate::value::{Row, params};

/// How many comments of a task are read.
const COMMENTS_MAX: i64 = 1_000;

/// Something somebody said about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its permanent id.
    pub id: CommentId,
    /// The task.
    pub task: TaskNumber,
    /// What it is for.
    pub kind: CommentKind,
    /// What was said.
    pub body: String,
    /// Who says so, by the name they gave.
    pub author: String,
    /// Whether that is a person.
    pub author_type: AuthorType,
    /// What it replies to.
    pub parent: Option<CommentId>,
    /// When.
    pub created_at: Timestamp,
}

/// Says something about a task.
#[derive(Clone, Debug)]
pub struct CommentCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The task.
    pub task: TaskRef,
    /// What is said.
    pub body: String,
    /// The name of whoever says so; the caller's own if none is given.
    pub author: Option<String>,
    /// Whether that is a person; as the caller is if it is not said.
    pub author_type: Option<AuthorType>,
    /// What it replies to.
    pub parent: Option<CommentId>,
}

const PARENT: &str = "SELECT 1 FROM comment WHERE id = $1 AND task = $2";

impl Verb for CommentCreate {
    type Output = Comment;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Comment, Error> {
        let task = task::lock(tx, self.task).await?;
        if let Some(parent) = self.parent {
            let found = first(tx, PARENT.into(), params![parent.0, task.number.0]).await?;
            if found.is_none() {
                let message = format!("there is no comment {parent} on issue #{}", task.number);
                return Err(Error::Invalid { field: "parentId", message });
            }
        }
        let said = said(&self.ctx, task.number, CommentKind::Comment, &self.body);
        let comment = Comment {
            author: self.author.clone().unwrap_or_else(|| said.author.clone()),
            author_type: self.author_type.unwrap_or(said.author_type),
            parent: self.parent,
            ..said
        };
        let comment = insert(tx, comment).await?;
        let event = NewEvent::new(EventType::CommentCreated, &self.ctx, task.number)
            .data(json!({ "comment": comment.id.0 }));
        event::insert_all(tx, vec![event]).await?;
        Ok(comment)
    }
}

/// Makes a comment of what the caller says; its id comes from the database.
fn said(ctx: &Ctx, task: TaskNumber, kind: CommentKind, body: &str) -> Comment {
    Comment {
        id: CommentId(0),
        task,
        kind,
        body: body.to_owned(),
        author: ctx.caller.to_string(),
        author_type: if ctx.caller.is_person() { AuthorType::Human } else { AuthorType::Agent },
        parent: None,
        created_at: ctx.now,
    }
}

const INSERT: &str = "INSERT INTO comment (task, kind, body, author, author_type, parent, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) \
     RETURNING id";

async fn insert<T: Tx>(tx: &mut T, comment: Comment) -> Result<Comment, Error> {
    let params = params![
        comment.task.0,
        comment.kind.as_str(),
        comment.body.as_str(),
        comment.author.as_str(),
        comment.author_type.as_str(),
        comment.parent.map(|parent| parent.0),
        comment.created_at.as_micros(),
    ];
    let row = first(tx, INSERT.into(), params).await?;
    let id = row.ok_or_else(|| Error::Broken("an insert returned nothing".to_owned()))?.int()?;
    Ok(Comment { id: CommentId(id), ..comment })
}

/// Keeps what the holder of a task asks, beside its comments.
pub(crate) async fn asked<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    task: &Task,
    question: Option<&str>,
) -> Result<(), Error> {
    match question {
        Some(question) => insert(tx, said(ctx, task.number, CommentKind::Question, question)).await.map(drop),
        None => Ok(()),
    }
}

/// Answers what an agent asked: the task goes back into the queue, and its next prompt says so.
#[derive(Clone, Debug)]
pub struct TaskAnswer {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The task.
    pub task: TaskRef,
    /// What is answered.
    pub answer: String,
}

impl Verb for TaskAnswer {
    type Output = TaskView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskView, Error> {
        let before = task::lock(tx, self.task).await?;
        let verb = TaskVerb::Answer;
        if before.state.after(verb).is_err() || !self.ctx.caller.is_person() {
            let role = if self.ctx.caller.is_person() { Role::Person } else { Role::Agent };
            return Err(Error::NoMove { verb, from: before.state, role });
        }
        let mut after = before.clone();
        after.apply(verb, self.ctx.now)?;
        after.answer = Some(self.answer.clone());
        insert(tx, said(&self.ctx, before.number, CommentKind::Answer, &self.answer)).await?;
        let event =
            NewEvent::new(EventType::TaskAnswered, &self.ctx, before.number).data(moved(&before, &after));
        let task = change(tx, &self.ctx, &before, after, vec![event]).await?;
        let dispatch = lock_dispatch(tx, &task).await?;
        Ok(TaskView { task, dispatch })
    }
}

/// Reads what was said about a task, the oldest first.
#[derive(Clone, Copy, Debug)]
pub struct CommentList {
    /// The task.
    pub task: TaskRef,
}

const LIST: &str = "SELECT id, task, kind, body, author, author_type, parent, created_at \
     FROM comment \
     WHERE task = $1 \
     ORDER BY id \
     LIMIT $2";

impl Verb for CommentList {
    type Output = Vec<Comment>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Comment>, Error> {
        let task = task::get(tx, self.task).await?;
        let rows = tx.query(LIST.into(), params![task.number.0, COMMENTS_MAX]).await?;
        rows.into_iter().map(comment).collect()
    }
}

fn comment(mut row: Row) -> Result<Comment, Error> {
    Ok(Comment {
        id: CommentId(row.int()?),
        task: TaskNumber(row.int()?),
        kind: row.parse()?,
        body: row.text()?,
        author: row.text()?,
        author_type: row.parse()?,
        parent: row.opt_int()?.map(CommentId),
        created_at: Timestamp::from_micros(row.int()?),
    })
}
