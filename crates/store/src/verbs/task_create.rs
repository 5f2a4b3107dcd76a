//! Create a task.

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Doors;
use extraboard_core::event::EventType;
use extraboard_core::id::{Fence, TaskId, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::reason::Counters;
use extraboard_core::state::State;
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::idempotency::{self, IdempotencyKey};
use crate::error::Error;
use crate::placement;
use crate::rows::event::{self, NewEvent};
use crate::rows::task;
use crate::tx::{Tx, Verb};

const SCOPE: &str = "task_create";

/// What a new task is made of.
#[derive(Clone, Debug)]
pub struct TaskDraft {
    /// What people call it.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// The sort of work.
    pub kind: Kind,
    /// Triage, backlog or queued.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// The ways it may leave.
    pub doors: Doors,
    /// How often it may be tried again.
    pub max_retries: i64,
    /// The earliest moment it may be handed out.
    pub not_before: Option<Timestamp>,
    /// Where the signal behind it came from.
    pub signal_source: Option<String>,
    /// The signal itself, as JSON.
    pub signal_payload: Option<String>,
    /// The guess behind it, as JSON.
    pub hypothesis: Option<String>,
}

impl TaskDraft {
    /// Begins a queued task with nothing but a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: None,
            kind: Kind::Task,
            state: State::Queued,
            priority: Priority::DEFAULT,
            doors: Doors::ANY,
            max_retries: extraboard_core::task::MAX_RETRIES_DEFAULT,
            not_before: None,
            signal_source: None,
            signal_payload: None,
            hypothesis: None,
        }
    }
}

/// Creates a task; with a key, at most once.
#[derive(Clone, Debug)]
pub struct TaskCreate {
    /// Who creates it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: TaskId,
    /// What it is made of.
    pub draft: TaskDraft,
    /// The caller's key for this request.
    pub key: Option<IdempotencyKey>,
}

impl Verb for TaskCreate {
    type Output = Task;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Task, Error> {
        let Some(key) = &self.key else { return self.create(tx).await };
        if idempotency::take(tx, &self.ctx, SCOPE, key, (TaskNumber(0), None)).await? {
            let task = self.create(tx).await?;
            idempotency::fulfil(tx, &self.ctx, SCOPE, key, task.number).await?;
            return Ok(task);
        }
        let kept = idempotency::find(tx, &self.ctx, SCOPE, key).await?;
        let kept = kept.ok_or_else(|| Error::Broken("a key was taken and is gone".to_owned()))?;
        kept.check(key)?;
        task::get(tx, TaskRef::Number(kept.task)).await
    }
}

impl TaskCreate {
    async fn create<T: Tx>(&self, tx: &mut T) -> Result<Task, Error> {
        let mut created = self.task();
        created.forget_past(self.ctx.now);
        created.number = task::insert(tx, &created).await?;
        placement::enter(tx, &created).await?;
        let event = NewEvent::new(EventType::TaskCreated, &self.ctx, created.number)
            .data(json!({ "to": created.state.as_str(), "title": created.title }));
        event::insert_all(tx, vec![event]).await?;
        Ok(created)
    }

    fn task(&self) -> Task {
        let draft = self.draft.clone();
        let now = self.ctx.now;
        Task {
            id: self.id,
            number: TaskNumber(0),
            title: draft.title,
            description: draft.description,
            kind: draft.kind,
            state: draft.state,
            priority: draft.priority,
            doors: draft.doors,
            max_retries: draft.max_retries,
            signal_source: draft.signal_source,
            signal_payload: draft.signal_payload,
            hypothesis: draft.hypothesis,
            agent_summary: None,
            result: None,
            last_error: None,
            not_before: draft.not_before,
            queued_at: (draft.state == State::Queued).then_some(now),
            fence: Fence(0),
            attempt: 0,
            dispatch: None,
            counters: Counters::default(),
            created_at: now,
            updated_at: now,
            started_at: None,
            completed_at: None,
            deleted_at: None,
        }
    }
}
