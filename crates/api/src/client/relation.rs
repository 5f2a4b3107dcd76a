//! Relations between issues.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::Many;
use crate::relation::{Relation, RelationCreate};

impl Client {
    /// Returns the relations of an issue, as seen from it.
    pub async fn relation_list(&self, issue_id: &str) -> Result<Many<Relation>, ClientError> {
        answer(self.request(Method::GET, &["issues", issue_id, "relations"])).await
    }

    /// Relates an issue to another one; a relation that is there already is answered again.
    pub async fn relation_create(
        &self,
        issue_id: &str,
        create: &RelationCreate,
    ) -> Result<Relation, ClientError> {
        data(self.request(Method::POST, &["issues", issue_id, "relations"]).json(create)).await
    }

    /// Takes a relation back.
    pub async fn relation_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["relations", id])).await.map(drop)
    }
}
