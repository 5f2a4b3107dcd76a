//! Templates, their versions and their reviews.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::{Many, PageQuery};
use crate::review::{PromptReview, PromptReviewCreate};
use crate::template::{
    PreviewQuery, Template, TemplateCreate, TemplateDetail, TemplatePatch, TemplatePreview, Version,
    VersionCreate,
};

impl Client {
    /// Returns one page of templates, by slug.
    pub async fn template_list(&self, query: &PageQuery) -> Result<Many<Template>, ClientError> {
        answer(self.request(Method::GET, &["templates"]).query(query)).await
    }

    /// Creates a template, as yet without a version.
    pub async fn template_create(&self, create: &TemplateCreate) -> Result<Template, ClientError> {
        data(self.request(Method::POST, &["templates"]).json(create)).await
    }

    /// Returns one template, by uuid or slug, with the version in use.
    pub async fn template_get(&self, id: &str) -> Result<TemplateDetail, ClientError> {
        data(self.request(Method::GET, &["templates", id])).await
    }

    /// Changes the fields that the patch names.
    pub async fn template_patch(&self, id: &str, patch: &TemplatePatch) -> Result<Template, ClientError> {
        data(self.request(Method::PATCH, &["templates", id]).json(patch)).await
    }

    /// Deletes a template.
    pub async fn template_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["templates", id])).await.map(drop)
    }

    /// Returns one page of a template's versions, newest first.
    pub async fn version_list(&self, id: &str, query: &PageQuery) -> Result<Many<Version>, ClientError> {
        answer(self.request(Method::GET, &["templates", id, "versions"]).query(query)).await
    }

    /// Adds a version: the first of a template is in use at once, others are drafts.
    pub async fn version_create(&self, id: &str, create: &VersionCreate) -> Result<Version, ClientError> {
        data(self.request(Method::POST, &["templates", id, "versions"]).json(create)).await
    }

    /// Makes a version, named by uuid or number, the one in use.
    pub async fn version_promote(&self, id: &str, version: &str) -> Result<Version, ClientError> {
        data(self.request(Method::POST, &["templates", id, "versions", version, "promote"])).await
    }

    /// Returns one page of what was said about a template's prompts, newest first.
    pub async fn template_reviews(
        &self,
        id: &str,
        query: &PageQuery,
    ) -> Result<Many<PromptReview>, ClientError> {
        answer(self.request(Method::GET, &["templates", id, "reviews"]).query(query)).await
    }

    /// Returns the prompt an issue would be handed out with.
    pub async fn template_preview(
        &self,
        issue_id: &str,
        query: &PreviewQuery,
    ) -> Result<TemplatePreview, ClientError> {
        answer(self.request(Method::GET, &["templates", "preview", issue_id]).query(query)).await
    }

    /// Says what somebody thinks of a prompt.
    pub async fn review_create(&self, create: &PromptReviewCreate) -> Result<PromptReview, ClientError> {
        data(self.request(Method::POST, &["prompt-reviews"]).json(create)).await
    }
}
