//! Goals.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::{Many, PageQuery};
use crate::goal::{Goal, GoalCreate, GoalPatch};

impl Client {
    /// Returns one page of goals.
    pub async fn goal_list(&self, query: &PageQuery) -> Result<Many<Goal>, ClientError> {
        answer(self.request(Method::GET, &["goals"]).query(query)).await
    }

    /// Creates a goal.
    pub async fn goal_create(&self, create: &GoalCreate) -> Result<Goal, ClientError> {
        data(self.request(Method::POST, &["goals"]).json(create)).await
    }

    /// Returns one goal, by uuid.
    pub async fn goal_get(&self, id: &str) -> Result<Goal, ClientError> {
        data(self.request(Method::GET, &["goals", id])).await
    }

    /// Changes the fields that the patch names.
    pub async fn goal_patch(&self, id: &str, patch: &GoalPatch) -> Result<Goal, ClientError> {
        data(self.request(Method::PATCH, &["goals", id]).json(patch)).await
    }

    /// Deletes a goal.
    pub async fn goal_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["goals", id])).await.map(drop)
    }
}
