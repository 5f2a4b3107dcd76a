//! Projects.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::{Many, PageQuery};
use crate::project::{Project, ProjectCreate, ProjectPatch};

impl Client {
    /// Returns one page of projects.
    pub async fn project_list(&self, query: &PageQuery) -> Result<Many<Project>, ClientError> {
        answer(self.request(Method::GET, &["projects"]).query(query)).await
    }

    /// Creates a project.
    pub async fn project_create(&self, create: &ProjectCreate) -> Result<Project, ClientError> {
        data(self.request(Method::POST, &["projects"]).json(create)).await
    }

    /// Returns one project, by uuid or name, with its issues counted.
    pub async fn project_get(&self, id: &str) -> Result<Project, ClientError> {
        data(self.request(Method::GET, &["projects", id])).await
    }

    /// Changes the fields that the patch names.
    pub async fn project_patch(&self, id: &str, patch: &ProjectPatch) -> Result<Project, ClientError> {
        data(self.request(Method::PATCH, &["projects", id]).json(patch)).await
    }

    /// Deletes a project that has no unfinished issues.
    pub async fn project_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["projects", id])).await.map(drop)
    }

    /// Stops handing out a project's issues.
    pub async fn project_pause(&self, id: &str) -> Result<Project, ClientError> {
        data(self.request(Method::POST, &["projects", id, "pause"])).await
    }

    /// Hands out a project's issues again.
    pub async fn project_resume(&self, id: &str) -> Result<Project, ClientError> {
        data(self.request(Method::POST, &["projects", id, "resume"])).await
    }
}
