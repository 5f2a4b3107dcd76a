//! Labels.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::{Many, PageQuery};
use crate::label::{Label, LabelCreate, LabelPatch};

impl Client {
    /// Returns one page of labels, by name.
    pub async fn label_list(&self, query: &PageQuery) -> Result<Many<Label>, ClientError> {
        answer(self.request(Method::GET, &["labels"]).query(query)).await
    }

    /// Creates a label.
    pub async fn label_create(&self, create: &LabelCreate) -> Result<Label, ClientError> {
        data(self.request(Method::POST, &["labels"]).json(create)).await
    }

    /// Changes the fields that the patch names; the label is named by uuid or name.
    pub async fn label_patch(&self, id: &str, patch: &LabelPatch) -> Result<Label, ClientError> {
        data(self.request(Method::PATCH, &["labels", id]).json(patch)).await
    }

    /// Deletes a label and takes it off every issue.
    pub async fn label_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["labels", id])).await.map(drop)
    }
}
