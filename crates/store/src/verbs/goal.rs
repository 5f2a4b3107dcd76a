//! Goals: create, edit, delete, read.

use extraboard_core::event::EventType;
use extraboard_core::id::{GoalId, ProjectNumber};
use extraboard_core::project::{Goal, GoalStatus};
use serde_json::json;

use super::Ctx;
use super::rules::goal_changed;
use super::task_create::named_project;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::goal::{self, goal_columns};
use crate::rows::project::ProjectRef;
use crate::rules::take_rank_lock;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// What is to change; `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalEdit {
    /// What people call it.
    pub title: Option<String>,
    /// What it is about.
    pub description: Option<Option<String>>,
    /// What is measured.
    pub metric: Option<Option<String>>,
    /// The value to be reached, a JSON number.
    pub target_value: Option<Option<String>>,
    /// The value as it is, a JSON number.
    pub current_value: Option<Option<String>>,
    /// What the values are in.
    pub unit: Option<Option<String>>,
    /// Where it stands.
    pub status: Option<GoalStatus>,
    /// The project it is a goal of.
    pub project: Option<Option<ProjectRef>>,
}

impl GoalEdit {
    async fn apply<T: Tx>(&self, tx: &mut T, goal: &mut Goal) -> Result<(), Error> {
        let edit = self.clone();
        goal.title = edit.title.unwrap_or_else(|| goal.title.clone());
        goal.description = edit.description.unwrap_or_else(|| goal.description.clone());
        goal.metric = edit.metric.unwrap_or_else(|| goal.metric.clone());
        goal.target_value = edit.target_value.unwrap_or_else(|| goal.target_value.clone());
        goal.current_value = edit.current_value.unwrap_or_else(|| goal.current_value.clone());
        goal.unit = edit.unit.unwrap_or_else(|| goal.unit.clone());
        goal.status = edit.status.unwrap_or(goal.status);
        if let Some(project) = edit.project {
            goal.project = match project {
                Some(project) => Some(named_project(tx, &project).await?.number),
                None => None,
            };
        }
        Ok(())
    }
}

/// Creates a goal.
#[derive(Clone, Debug)]
pub struct GoalCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: GoalId,
    /// What people call it.
    pub title: String,
    /// What else there is to say, as for an edit.
    pub edit: GoalEdit,
}

impl Verb for GoalCreate {
    type Output = Goal;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Goal, Error> {
        let now = self.ctx.now;
        let mut created = Goal {
            id: self.id,
            title: self.title.clone(),
            description: None,
            metric: None,
            target_value: None,
            current_value: None,
            unit: None,
            status: GoalStatus::Active,
            project: None,
            created_at: now,
            updated_at: now,
        };
        self.edit.apply(tx, &mut created).await?;
        goal::insert(tx, &created).await?;
        served(tx, &self.ctx, &[created.project], created.id).await?;
        tell(tx, &self.ctx, EventType::GoalCreated, &created).await?;
        Ok(created)
    }
}

/// Edits a goal.
#[derive(Clone, Debug)]
pub struct GoalPatch {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which goal.
    pub goal: GoalId,
    /// What is to change.
    pub edit: GoalEdit,
}

impl Verb for GoalPatch {
    type Output = Goal;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Goal, Error> {
        let before = goal::lock(tx, self.goal).await?;
        let mut after = before.clone();
        self.edit.apply(tx, &mut after).await?;
        after.updated_at = self.ctx.now;
        goal::update(tx, &after).await?;
        if (before.status, before.project) != (after.status, after.project) {
            served(tx, &self.ctx, &[before.project, after.project], after.id).await?;
        }
        tell(tx, &self.ctx, EventType::GoalEdited, &after).await?;
        Ok(after)
    }
}

/// Deletes a goal.
#[derive(Clone, Debug)]
pub struct GoalDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which goal.
    pub goal: GoalId,
}

impl Verb for GoalDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let goal = goal::lock(tx, self.goal).await?;
        let sql = "UPDATE goal SET deleted_at = $2 WHERE id = $1";
        let params = params![self.goal.to_string(), self.ctx.now.as_micros()];
        expect_rows("deleting a goal", 1, tx.execute(sql.into(), params).await?)?;
        served(tx, &self.ctx, &[goal.project], goal.id).await?;
        let sql = "UPDATE project SET goal = NULL WHERE goal = $1";
        tx.execute(sql.into(), params![self.goal.to_string()]).await?;
        tell(tx, &self.ctx, EventType::GoalDeleted, &goal).await
    }
}

/// Looks again whether the projects a goal serves have an active one.
async fn served<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    projects: &[Option<ProjectNumber>],
    goal: GoalId,
) -> Result<(), Error> {
    // A project that begins to name the goal meanwhile reads it under the same lock.
    take_rank_lock(tx).await?;
    let mut served: Vec<_> = projects.iter().flatten().copied().collect();
    let sql = "SELECT number FROM project WHERE goal = $1";
    for mut row in tx.query(sql.into(), params![goal.to_string()]).await? {
        served.push(ProjectNumber(row.int()?));
    }
    served.sort_unstable();
    served.dedup();
    for project in served {
        goal_changed(tx, ctx, project).await?;
    }
    Ok(())
}

async fn tell<T: Tx>(tx: &mut T, ctx: &Ctx, event_type: EventType, goal: &Goal) -> Result<(), Error> {
    let data = json!({ "goal": goal.id.to_string(), "title": goal.title, "status": goal.status.as_str() });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Reads a goal.
#[derive(Clone, Copy, Debug)]
pub struct GoalGet {
    /// Which goal.
    pub goal: GoalId,
}

impl Verb for GoalGet {
    type Output = Goal;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Goal, Error> {
        goal::find(tx, self.goal).await?.ok_or(Error::NoGoal(self.goal))
    }
}

/// Lists goals, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct GoalList {
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = concat!(
    "SELECT ",
    goal_columns!(),
    " FROM goal g WHERE g.deleted_at IS NULL ORDER BY g.created_at, g.id LIMIT $1 OFFSET $2"
);

impl Verb for GoalList {
    type Output = (Vec<Goal>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Goal>, i64), Error> {
        let rows = tx.query(PAGE.into(), params![self.limit, self.offset]).await?;
        let goals = rows.into_iter().map(|mut row| goal::from_row(&mut row)).collect::<Result<_, _>>()?;
        let row = first(tx, "SELECT COUNT(*) FROM goal WHERE deleted_at IS NULL".into(), params![]).await?;
        let total = row.ok_or_else(|| Error::Broken("a count returned nothing".to_owned()))?.int()?;
        Ok((goals, total))
    }
}
