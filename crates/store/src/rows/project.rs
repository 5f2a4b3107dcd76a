//! The `project` table.

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{ProjectId, ProjectNumber};
use extraboard_core::project::Project;

use crate::error::Error;
use crate::tx::{Sql, Tx, expect_rows, first};
use crate::value::{Row, params};

/// How a caller names a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// By permanent id.
    Id(ProjectId),
    /// By name.
    Name(String),
}

impl ProjectRef {
    /// Reads a uuid as an id, and anything else as a name.
    pub fn new(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id)
    }
}

impl std::fmt::Display for ProjectRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// The columns of a project, in the order [`from_row`] reads them.
macro_rules! project_columns {
    () => {
        "p.number, p.id, p.name, p.description, p.status, p.health, p.goal, p.workspace, p.run_limit, \
         p.settings, p.created_at, p.updated_at"
    };
}

pub(crate) use project_columns;

/// Reads the columns of [`project_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Project, Error> {
    Ok(Project {
        number: ProjectNumber(row.int()?),
        id: row.parse()?,
        name: row.text()?,
        description: row.opt_text()?,
        status: row.parse()?,
        health: row.parse()?,
        goal: row.opt_parse()?,
        workspace: row.opt_text()?,
        run_limit: row.opt_int()?,
        settings: row.opt_text()?,
        created_at: Timestamp::from_micros(row.int()?),
        updated_at: Timestamp::from_micros(row.int()?),
    })
}

const BY_ID: &str =
    concat!("SELECT ", project_columns!(), " FROM project p WHERE p.id = $1 AND p.deleted_at IS NULL");
const BY_NAME: &str =
    concat!("SELECT ", project_columns!(), " FROM project p WHERE p.name = $1 AND p.deleted_at IS NULL");
const LOCK: &str = concat!("SELECT ", project_columns!(), " FROM project p WHERE p.number = $1 FOR UPDATE");

/// Reads a project that is not deleted, if there is one.
pub(crate) async fn find<T: Tx>(tx: &mut T, project: &ProjectRef) -> Result<Option<Project>, Error> {
    let row = match project {
        ProjectRef::Id(id) => first(tx, BY_ID.into(), params![id.to_string()]).await?,
        ProjectRef::Name(name) => first(tx, BY_NAME.into(), params![name.as_str()]).await?,
    };
    row.map(|mut row| from_row(&mut row)).transpose()
}

/// Reads a project that is not deleted.
pub(crate) async fn get<T: Tx>(tx: &mut T, project: &ProjectRef) -> Result<Project, Error> {
    find(tx, project).await?.ok_or_else(|| Error::NoProject(project.clone()))
}

/// Reads a project that is not deleted and locks its row.
pub(crate) async fn lock<T: Tx>(tx: &mut T, project: &ProjectRef) -> Result<Project, Error> {
    let found = get(tx, project).await?;
    let row = first(tx, LOCK.into(), params![found.number.0]).await?;
    from_row(&mut row.ok_or_else(|| Error::NoProject(project.clone()))?)
}

const MANY: Sql = Sql {
    postgres: concat!("SELECT ", project_columns!(), " FROM project p WHERE p.number = ANY($1)"),
    sqlite: concat!(
        "SELECT ",
        project_columns!(),
        " FROM project p WHERE p.number IN (SELECT value FROM json_each($1))"
    ),
};

/// Reads projects by their numbers, deleted or not.
pub(crate) async fn get_many<T: Tx>(tx: &mut T, numbers: Vec<i64>) -> Result<Vec<Project>, Error> {
    let rows = tx.query(MANY, params![numbers]).await?;
    rows.into_iter().map(|mut row| from_row(&mut row)).collect()
}

const INSERT: &str = "INSERT INTO project (id, name, description, status, health, goal, workspace, \
       run_limit, created_at, updated_at, settings) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) \
     RETURNING number";

/// Inserts a new project; its number comes from the database.
pub(crate) async fn insert<T: Tx>(tx: &mut T, project: &Project) -> Result<ProjectNumber, Error> {
    let row = first(
        tx,
        INSERT.into(),
        params![
            project.id.to_string(),
            project.name.as_str(),
            &project.description,
            project.status.as_str(),
            project.health.as_str(),
            project.goal.map(|goal| goal.to_string()),
            &project.workspace,
            project.run_limit,
            project.created_at.as_micros(),
            &project.settings,
        ],
    )
    .await?;
    row.ok_or_else(|| Error::Broken("an insert returned nothing".to_owned()))?.int().map(ProjectNumber)
}

const UPDATE: &str = "UPDATE project \
     SET name = $2, description = $3, status = $4, health = $5, goal = $6, workspace = $7, run_limit = $8, \
       updated_at = $9, settings = $10 \
     WHERE number = $1";

/// Writes a changed project.
pub(crate) async fn update<T: Tx>(tx: &mut T, project: &Project) -> Result<(), Error> {
    let params = params![
        project.number.0,
        project.name.as_str(),
        &project.description,
        project.status.as_str(),
        project.health.as_str(),
        project.goal.map(|goal| goal.to_string()),
        &project.workspace,
        project.run_limit,
        project.updated_at.as_micros(),
        &project.settings,
    ];
    expect_rows("a project's update", 1, tx.execute(UPDATE.into(), params).await?)
}
