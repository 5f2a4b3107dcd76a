//! Projects: create, edit, delete, read.

use extraboard_core::event::EventType;
use extraboard_core::id::{GoalId, ProjectId, ProjectNumber};
use extraboard_core::project::{Goal, Health, Project, ProjectStatus};
use extraboard_core::state::State;
use serde_json::json;

use super::Ctx;
use super::rules::goal_changed;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::goal;
use crate::rows::project::{self, ProjectRef, project_columns};
use crate::rules::take_rank_lock;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// A project with what is told along with it.
#[derive(Clone, Debug)]
pub struct ProjectView {
    /// The project.
    pub project: Project,
    /// The goal it names.
    pub goal: Option<Goal>,
    /// Whether it has an active goal, its own or one that names it.
    pub has_active_goal: bool,
    /// Its tasks by state, where they were asked for.
    pub states: Vec<(State, i64)>,
}

/// Creates a project.
#[derive(Clone, Debug)]
pub struct ProjectCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: ProjectId,
    /// What it is called; no other has that name.
    pub name: String,
    /// What else there is to say, as for an edit.
    pub edit: ProjectEdit,
}

/// What is to change; `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectEdit {
    /// What people call it.
    pub name: Option<String>,
    /// What it is about.
    pub description: Option<Option<String>>,
    /// Where it stands.
    pub status: Option<ProjectStatus>,
    /// How it is doing.
    pub health: Option<Health>,
    /// The goal it serves.
    pub goal: Option<Option<GoalId>>,
    /// The directory its artifacts are looked for in.
    pub workspace: Option<Option<String>>,
    /// How many of its tasks may be handed out at once.
    pub run_limit: Option<Option<i64>>,
    /// What else its file says, as JSON.
    pub settings: Option<Option<String>>,
}

impl ProjectEdit {
    fn apply(&self, project: &mut Project) {
        let edit = self.clone();
        project.name = edit.name.unwrap_or_else(|| project.name.clone());
        project.description = edit.description.unwrap_or_else(|| project.description.clone());
        project.status = edit.status.unwrap_or(project.status);
        project.health = edit.health.unwrap_or(project.health);
        project.goal = edit.goal.unwrap_or(project.goal);
        project.workspace = edit.workspace.unwrap_or_else(|| project.workspace.clone());
        project.run_limit = edit.run_limit.unwrap_or(project.run_limit);
        project.settings = edit.settings.unwrap_or_else(|| project.settings.clone());
    }
}

impl Verb for ProjectCreate {
    type Output = ProjectView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ProjectView, Error> {
        let now = self.ctx.now;
        let mut created = Project {
            id: self.id,
            number: ProjectNumber(0),
            name: self.name.clone(),
            description: None,
            status: ProjectStatus::Active,
            health: Health::OnTrack,
            goal: None,
            workspace: None,
            run_limit: None,
            settings: None,
            created_at: now,
            updated_at: now,
        };
        self.edit.apply(&mut created);
        check_goal(tx, created.goal).await?;
        check_name(tx, &created).await?;
        created.number = project::insert(tx, &created).await?;
        goal_changed(tx, &self.ctx, created.number).await?;
        tell(tx, &self.ctx, EventType::ProjectCreated, &created).await?;
        view(tx, created).await
    }
}

/// Edits a project.
#[derive(Clone, Debug)]
pub struct ProjectPatch {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which project.
    pub project: ProjectRef,
    /// What is to change.
    pub edit: ProjectEdit,
}

impl Verb for ProjectPatch {
    type Output = ProjectView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ProjectView, Error> {
        let before = project::lock(tx, &self.project).await?;
        let mut after = before.clone();
        self.edit.apply(&mut after);
        after.updated_at = self.ctx.now;
        check_goal(tx, after.goal.filter(|_| after.goal != before.goal)).await?;
        if after.name != before.name {
            check_name(tx, &after).await?;
        }
        project::update(tx, &after).await?;
        if after.goal != before.goal {
            goal_changed(tx, &self.ctx, after.number).await?;
        }
        tell(tx, &self.ctx, EventType::ProjectEdited, &after).await?;
        view(tx, after).await
    }
}

async fn check_goal<T: Tx>(tx: &mut T, goal: Option<GoalId>) -> Result<(), Error> {
    match goal {
        Some(id) if goal::find(tx, id).await?.is_none() => {
            Err(Error::invalid("goalId", format!("there is no goal {id}")))
        }
        _ => Ok(()),
    }
}

/// Looks under the rank lock, which a new project takes anyway: of two that want one
/// name at once the second sees the first.
async fn check_name<T: Tx>(tx: &mut T, project: &Project) -> Result<(), Error> {
    take_rank_lock(tx).await?;
    match project::find(tx, &ProjectRef::Name(project.name.clone())).await? {
        Some(other) => Err(Error::Conflict(format!("there is a project {} already", other.name))),
        None => Ok(()),
    }
}

async fn tell<T: Tx>(tx: &mut T, ctx: &Ctx, event_type: EventType, project: &Project) -> Result<(), Error> {
    let data = json!({
        "project": project.id.to_string(),
        "name": project.name,
        "status": project.status.as_str(),
    });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Deletes a project none of whose tasks is unfinished.
#[derive(Clone, Debug)]
pub struct ProjectDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which project.
    pub project: ProjectRef,
}

const UNFINISHED: &str = "SELECT number \
     FROM task \
     WHERE project = $1 AND deleted_at IS NULL \
       AND state NOT IN ('done','failed','timed_out','canceled') \
     LIMIT 1";

impl Verb for ProjectDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let project = project::lock(tx, &self.project).await?;
        if let Some(mut row) = first(tx, UNFINISHED.into(), params![project.number.0]).await? {
            let number = row.int()?;
            let message =
                format!("project {} has issues that are not finished, #{number} is one", project.name);
            return Err(Error::StillNeeded(message));
        }
        let sql = "UPDATE project SET deleted_at = $2 WHERE number = $1";
        let deleted = tx.execute(sql.into(), params![project.number.0, self.ctx.now.as_micros()]).await?;
        expect_rows("deleting a project", 1, deleted)?;
        tell(tx, &self.ctx, EventType::ProjectDeleted, &project).await
    }
}

/// Reads a project, with its tasks by state.
#[derive(Clone, Debug)]
pub struct ProjectGet {
    /// Which project.
    pub project: ProjectRef,
}

const STATES: &str = "SELECT state, COUNT(*) \
     FROM task \
     WHERE project = $1 AND deleted_at IS NULL \
     GROUP BY state \
     ORDER BY state";

impl Verb for ProjectGet {
    type Output = ProjectView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ProjectView, Error> {
        let project = project::get(tx, &self.project).await?;
        let number = project.number;
        let mut view = view(tx, project).await?;
        for mut row in tx.query(STATES.into(), params![number.0]).await? {
            view.states.push((row.parse()?, row.int()?));
        }
        Ok(view)
    }
}

/// Lists projects, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct ProjectList {
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = concat!(
    "SELECT ",
    project_columns!(),
    " FROM project p WHERE p.deleted_at IS NULL ORDER BY p.number LIMIT $1 OFFSET $2"
);

impl Verb for ProjectList {
    type Output = (Vec<ProjectView>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<ProjectView>, i64), Error> {
        let mut views = Vec::new();
        for mut row in tx.query(PAGE.into(), params![self.limit, self.offset]).await? {
            let project = project::from_row(&mut row)?;
            views.push(view(tx, project).await?);
        }
        let sql = "SELECT COUNT(*) FROM project WHERE deleted_at IS NULL";
        let row = first(tx, sql.into(), params![]).await?;
        let total = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
        Ok((views, total))
    }
}

/// Finds a project by id or name, and nothing about it.
#[derive(Clone, Debug)]
pub struct ProjectFind {
    /// Which project.
    pub project: ProjectRef,
}

impl Verb for ProjectFind {
    type Output = Option<Project>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<Project>, Error> {
        project::find(tx, &self.project).await
    }
}

/// Returns the ids of projects, for whoever has their numbers only.
#[derive(Clone, Debug)]
pub struct ProjectIds {
    /// Which projects.
    pub projects: Vec<ProjectNumber>,
}

impl Verb for ProjectIds {
    type Output = Vec<(ProjectNumber, ProjectId)>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<(ProjectNumber, ProjectId)>, Error> {
        let mut ids = Vec::new();
        for number in &self.projects {
            let row = first(tx, "SELECT id FROM project WHERE number = $1".into(), params![number.0]).await?;
            if let Some(mut row) = row {
                ids.push((*number, row.parse()?));
            }
        }
        Ok(ids)
    }
}

async fn view<T: Tx>(tx: &mut T, project: Project) -> Result<ProjectView, Error> {
    let goal = match project.goal {
        Some(goal) => goal::find(tx, goal).await?,
        None => None,
    };
    let sql = "SELECT goal_active FROM project WHERE number = $1";
    let row = first(tx, sql.into(), params![project.number.0]).await?;
    let mut row = row.ok_or_else(|| Error::Broken("a project is gone".to_owned()))?;
    Ok(ProjectView { project, goal, has_active_goal: row.flag()?, states: Vec::new() })
}
