//! Artifacts: what tasks wait for beside other tasks.
//!
//! Whoever provides one, and whoever begins to wait for one, takes the graph lock:
//! otherwise both could miss each other and the task would wait for ever.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::id::{ArtifactId, ProjectNumber, TaskNumber, TaskRef};
use extraboard_core::task::Task;
use serde_json::json;

use super::Ctx;
use super::change::change_facts;
use super::graph::take_graph_lock;
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::task;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// How many waiting tasks are looked at in one turn.
const TURN_MAX: i64 = 500;

/// Something that was provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its permanent id.
    pub id: ArtifactId,
    /// Where it lies in its project.
    pub path: String,
    /// The task that provided it.
    pub task: TaskNumber,
    /// Its text; nothing if it is a file somebody vouched for.
    pub content: Option<String>,
    /// When it was provided first.
    pub created_at: Timestamp,
}

/// Provides an artifact, or its new content; whatever waited for it is woken.
#[derive(Clone, Debug)]
pub struct ArtifactProvide {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id, if it is new.
    pub id: ArtifactId,
    /// The task that provides it.
    pub task: TaskRef,
    /// Where it lies in the task's project.
    pub path: String,
    /// Its text.
    pub content: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct ArtifactProvided {
    /// The artifact.
    pub artifact: Artifact,
    /// Whether it was there before.
    pub existed: bool,
    /// The task that provided it.
    pub task: Task,
    /// The tasks that waited for it.
    pub freed: Vec<TaskNumber>,
}

const INSERT: &str = "INSERT INTO artifact (id, project, path, task, content, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const UPDATE: &str = "UPDATE artifact SET task = $3, content = $4 WHERE project = $1 AND path = $2";
const BY_PATH: &str = "SELECT id, path, task, content, created_at \
     FROM artifact \
     WHERE project = $1 AND path = $2";
const WAITING: &str = "SELECT number \
     FROM task \
     WHERE artifact = $1 AND artifact_present = 0 AND COALESCE(project, 0) = $2";

impl Verb for ArtifactProvide {
    type Output = ArtifactProvided;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ArtifactProvided, Error> {
        take_graph_lock(tx).await?;
        let task = task::get(tx, self.task).await?;
        let project = project_key(task.project);
        let kept = find(tx, project, &self.path).await?;
        let (id, created_at) = match &kept {
            Some(kept) => (kept.id, kept.created_at),
            None => (self.id, self.ctx.now),
        };
        let written = if kept.is_some() {
            let params = params![project, self.path.as_str(), task.number.0, &self.content];
            tx.execute(UPDATE.into(), params).await?
        } else {
            let (id, at) = (id.to_string(), created_at.as_micros());
            let params = params![id, project, self.path.as_str(), task.number.0, &self.content, at];
            tx.execute(INSERT.into(), params).await?
        };
        expect_rows("keeping an artifact", 1, written)?;
        let rows = tx.query(WAITING.into(), params![self.path.as_str(), project]).await?;
        let waiting = rows.into_iter().map(|mut row| row.int()).collect::<Result<Vec<_>, _>>()?;
        let event = NewEvent::new(EventType::ArtifactPresent, &self.ctx, task.number)
            .data(json!({ "artifact": id.to_string(), "path": self.path }));
        let freed = set_present(tx, &self.ctx, waiting, vec![event]).await?;
        let (path, content) = (self.path.clone(), self.content.clone());
        let artifact = Artifact { id, path, task: task.number, content, created_at };
        Ok(ArtifactProvided { artifact, existed: kept.is_some(), task, freed })
    }
}

fn project_key(project: Option<ProjectNumber>) -> i64 {
    project.map_or(0, |project| project.0)
}

async fn find<T: Tx>(tx: &mut T, project: i64, path: &str) -> Result<Option<Artifact>, Error> {
    first(tx, BY_PATH.into(), params![project, path]).await?.map(from_row).transpose()
}

fn from_row(mut row: crate::value::Row) -> Result<Artifact, Error> {
    Ok(Artifact {
        id: row.parse()?,
        path: row.text()?,
        task: TaskNumber(row.int()?),
        content: row.opt_text()?,
        created_at: Timestamp::from_micros(row.int()?),
    })
}

/// Tells whether the artifact a task names was provided. The graph lock is taken.
pub(crate) async fn is_provided<T: Tx>(tx: &mut T, task: &Task) -> Result<bool, Error> {
    match &task.artifact {
        Some(path) => find(tx, project_key(task.project), path).await.map(|found| found.is_some()),
        None => Ok(false),
    }
}

async fn set_present<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    numbers: Vec<i64>,
    events: Vec<NewEvent>,
) -> Result<Vec<TaskNumber>, Error> {
    let tasks = task::lock_many(tx, numbers).await?;
    let waiting: Vec<_> = tasks.into_iter().filter(Task::waits_for_artifact).collect();
    let freed = waiting.iter().map(|task| task.number).collect();
    let changes = waiting.into_iter().map(|task| (task.clone(), Task { artifact_present: true, ..task }));
    change_facts(tx, ctx, changes.collect(), events).await?;
    Ok(freed)
}

/// Lists what a task provided.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactList {
    /// Which task.
    pub task: TaskRef,
}

impl Verb for ArtifactList {
    type Output = Vec<Artifact>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Artifact>, Error> {
        let task = task::get(tx, self.task).await?;
        let sql = "SELECT id, path, task, content, created_at \
             FROM artifact \
             WHERE task = $1 \
             ORDER BY created_at, path";
        tx.query(sql.into(), params![task.number.0]).await?.into_iter().map(from_row).collect()
    }
}

/// Lists queued tasks that wait for a file in their project's workspace.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactWaits {
    /// Only those behind this one.
    pub after: TaskNumber,
}

/// A task that waits for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactWait {
    /// The task.
    pub task: TaskNumber,
    /// Its project's workspace.
    pub workspace: String,
    /// The path in there.
    pub path: String,
}

const FILES: &str = "SELECT t.number, p.workspace, t.artifact \
     FROM held h \
     JOIN task t ON t.number = h.task \
     JOIN project p ON p.number = t.project \
     WHERE h.task > $1 AND t.artifact IS NOT NULL AND t.artifact_present = 0 \
       AND p.workspace IS NOT NULL AND p.deleted_at IS NULL \
     ORDER BY h.task \
     LIMIT $2";

impl Verb for ArtifactWaits {
    type Output = Vec<ArtifactWait>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<ArtifactWait>, Error> {
        let rows = tx.query(FILES.into(), params![self.after.0, TURN_MAX]).await?;
        let wait = |mut row: crate::value::Row| {
            Ok(ArtifactWait { task: TaskNumber(row.int()?), workspace: row.text()?, path: row.text()? })
        };
        rows.into_iter().map(wait).collect()
    }
}

/// Says that files tasks waited for are there.
#[derive(Clone, Debug)]
pub struct ArtifactsFound {
    /// The desk, and when.
    pub ctx: Ctx,
    /// Which were found.
    pub found: Vec<ArtifactWait>,
}

impl Verb for ArtifactsFound {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        let numbers: Vec<_> = self.found.iter().map(|found| found.task.0).collect();
        let tasks = task::lock_many(tx, numbers).await?;
        // What was asked for may have changed since it was looked for.
        let is_same = |task: &&Task| {
            self.found
                .iter()
                .any(|found| found.task == task.number && task.artifact.as_ref() == Some(&found.path))
        };
        let numbers: Vec<_> = tasks.iter().filter(is_same).map(|task| task.number.0).collect();
        set_present(tx, &self.ctx, numbers, Vec::new()).await.map(|freed| freed.len())
    }
}
