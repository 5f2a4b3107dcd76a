//! Create a task.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Doors;
use extraboard_core::event::EventType;
use extraboard_core::graph::{Relation, RelationType};
use extraboard_core::id::{Fence, RelationId, TaskId, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::project::Project;
use extraboard_core::reason::Counters;
use extraboard_core::state::State;
use extraboard_core::task::Task;
use serde_json::json;

use super::change::holds_back;
use super::graph::{set_parent, take_graph_lock};
use super::idempotency::{self, IdempotencyKey};
use super::relation_create::{block, refuse_many};
use super::{Ctx, artifact, label};
use crate::error::Error;
use crate::placement;
use crate::rows::event::{self, NewEvent};
use crate::rows::label::LabelRef;
use crate::rows::project::{self, ProjectRef};
use crate::rows::{self, task};
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
    /// Points the operator added.
    pub boost: i64,
    /// The ways it may leave.
    pub doors: Doors,
    /// What it takes to do it.
    pub needs: Capabilities,
    /// Whose agents may do it.
    pub owner: Option<String>,
    /// The words people sort it by.
    pub labels: Vec<LabelRef>,
    /// What it is called where it comes from.
    pub external_key: Option<String>,
    /// The project it belongs to.
    pub project: Option<ProjectRef>,
    /// The task it is a part of.
    pub parent: Option<TaskRef>,
    /// Whether it waits for its parent.
    pub gated_by_parent: bool,
    /// The artifact it waits for.
    pub artifact: Option<String>,
    /// What it waits for, with the ids of the relations.
    pub blocked_by: Vec<(RelationId, TaskRef)>,
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
            boost: 0,
            doors: Doors::ANY,
            needs: Capabilities::default(),
            owner: None,
            labels: Vec::new(),
            external_key: None,
            project: None,
            parent: None,
            gated_by_parent: false,
            artifact: None,
            blocked_by: Vec::new(),
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
        if created.artifact.is_some() {
            take_graph_lock(tx).await?;
        }
        set_project(tx, &mut created, self.draft.project.as_ref()).await?;
        let blockers = self.lock_related(tx, &mut created).await?;
        created.artifact_present = artifact::is_provided(tx, &created).await?;
        created.forget_past(self.ctx.now);
        created.labels = label::named(tx, &self.draft.labels).await?;
        created.number = task::insert(tx, &created).await?;
        if !created.labels.is_empty() {
            rows::label::set(tx, created.number, &created.labels).await?;
        }
        placement::enter(tx, &created).await?;
        let event = NewEvent::new(EventType::TaskCreated, &self.ctx, created.number)
            .data(json!({ "to": created.state.as_str(), "title": created.title }));
        event::insert_all(tx, vec![event]).await?;
        for (id, blocker) in blockers {
            refuse_many(tx, "blockedBy", blocker.number).await?;
            let (word, now) = (RelationType::BlockedBy, self.ctx.now);
            let relation = Relation::new(id, word, created.number, blocker.number, now);
            let before = created.clone();
            block(tx, &self.ctx, &relation, &blocker, before).await?;
            created.open_blockers += i64::from(holds_back(&blocker));
        }
        Ok(created)
    }

    /// Locks the parent and the blockers: they come before the new task, which nothing
    /// waits for yet, so there can be no cycle.
    async fn lock_related<T: Tx>(
        &self,
        tx: &mut T,
        created: &mut Task,
    ) -> Result<Vec<(RelationId, Task)>, Error> {
        let parent = match self.draft.parent {
            Some(parent) => Some(named(tx, "parentId", parent).await?),
            None => None,
        };
        let mut blockers = Vec::new();
        for (id, blocker) in &self.draft.blocked_by {
            blockers.push((*id, named(tx, "blockedBy", *blocker).await?));
        }
        let mut numbers: Vec<_> =
            parent.iter().chain(blockers.iter().map(|(_, number)| number)).map(|number| number.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let locked = task::lock_many(tx, numbers).await?;
        let find = |number: TaskNumber| locked.iter().find(|task| task.number == number);
        set_parent(tx, created, parent.and_then(find)).await?;
        let mut seen = std::collections::HashSet::new();
        blockers.retain(|(_, number)| seen.insert(*number));
        Ok(blockers.into_iter().filter_map(|(id, number)| Some((id, find(number)?.clone()))).collect())
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
            boost: draft.boost,
            doors: draft.doors,
            needs: draft.needs,
            owner: draft.owner,
            labels: Vec::new(),
            external_key: draft.external_key,
            prompt_broken: false,
            project: None,
            project_id: None,
            parent: None,
            parent_id: None,
            depth: 0,
            gated_by_parent: draft.gated_by_parent,
            parent_open: false,
            open_blockers: 0,
            artifact: draft.artifact,
            artifact_present: false,
            max_retries: draft.max_retries,
            signal_source: draft.signal_source,
            signal_payload: draft.signal_payload,
            hypothesis: draft.hypothesis,
            agent_summary: None,
            result: None,
            commits: None,
            pull_requests: None,
            question: None,
            answer: None,
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

/// Creates a task that comes from elsewhere, unless one with its key is there.
#[derive(Clone, Debug)]
pub struct TaskImport {
    /// The task; it has an external key.
    pub create: TaskCreate,
}

/// A task that came from elsewhere.
#[derive(Clone, Debug)]
pub enum Imported {
    /// It was created now.
    Created(Task),
    /// It was there already, and stays as it was.
    Known(Task),
}

impl Verb for TaskImport {
    type Output = Imported;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Imported, Error> {
        let key = self.create.draft.external_key.as_deref().unwrap_or_default();
        // Of two that bring the same task at once the second sees the first.
        take_graph_lock(tx).await?;
        match task::find_by_key(tx, key).await? {
            Some(known) => Ok(Imported::Known(known)),
            None => self.create.run(tx).await.map(Imported::Created),
        }
    }
}

/// Returns the number of a task somebody named.
pub(crate) async fn named<T: Tx>(
    tx: &mut T,
    field: &'static str,
    task: TaskRef,
) -> Result<TaskNumber, Error> {
    match task::get(tx, task).await {
        Ok(task) => Ok(task.number),
        Err(Error::NoTask(task)) => Err(Error::invalid(field, format!("there is no issue {task}"))),
        Err(error) => Err(error),
    }
}

/// Returns a project somebody named.
pub(crate) async fn named_project<T: Tx>(tx: &mut T, project: &ProjectRef) -> Result<Project, Error> {
    let found = project::find(tx, project).await?;
    found.ok_or_else(|| Error::invalid("projectId", format!("there is no project {project}")))
}

/// Puts a task into a project somebody named, or into none.
pub(crate) async fn set_project<T: Tx>(
    tx: &mut T,
    task: &mut Task,
    project: Option<&ProjectRef>,
) -> Result<(), Error> {
    let project = match project {
        Some(project) => Some(named_project(tx, project).await?),
        None => None,
    };
    task.project = project.as_ref().map(|project| project.number);
    task.project_id = project.map(|project| project.id);
    Ok(())
}
