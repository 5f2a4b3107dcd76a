//! Artifacts that issues provide.

use reqwest::Method;

use super::transport::{answer, data};
use super::{Client, ClientError};
use crate::artifact::{Artifact, ArtifactCreate, ArtifactStored};
use crate::envelope::Many;

impl Client {
    /// Returns what an issue provided.
    pub async fn artifact_list(&self, issue_id: &str) -> Result<Many<Artifact>, ClientError> {
        answer(self.request(Method::GET, &["issues", issue_id, "artifacts"])).await
    }

    /// Provides an artifact; the same path again replaces its content.
    pub async fn artifact_create(
        &self,
        issue_id: &str,
        create: &ArtifactCreate,
    ) -> Result<ArtifactStored, ClientError> {
        data(self.request(Method::POST, &["issues", issue_id, "artifacts"]).json(create)).await
    }
}
