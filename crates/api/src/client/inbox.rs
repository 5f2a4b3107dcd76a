//! Comments, and what waits for a person.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::comment::{Comment, CommentCreate};
use crate::envelope::Many;
use crate::inbox::{Answer, InboxItem, InboxQuery};
use crate::issue::Issue;

impl Client {
    /// Returns what was said about an issue.
    pub async fn comment_list(&self, issue_id: &str) -> Result<Many<Comment>, ClientError> {
        answer(self.request(Method::GET, &["issues", issue_id, "comments"])).await
    }

    /// Says something about an issue.
    pub async fn comment_create(
        &self,
        issue_id: &str,
        create: &CommentCreate,
    ) -> Result<Comment, ClientError> {
        data(self.request(Method::POST, &["issues", issue_id, "comments"]).json(create)).await
    }

    /// Answers what an issue's agent asked.
    pub async fn issue_answer(&self, issue_id: &str, said: &Answer) -> Result<Issue, ClientError> {
        data(self.request(Method::POST, &["issues", issue_id, "answer"]).json(said)).await
    }

    /// Returns what waits for a person.
    pub async fn inbox_list(&self, query: &InboxQuery) -> Result<Many<InboxItem>, ClientError> {
        answer(self.request(Method::GET, &["inbox"]).query(query)).await
    }

    /// Puts an item away.
    pub async fn inbox_dismiss(&self, id: i64) -> Result<(), ClientError> {
        send(self.request(Method::POST, &["inbox", &id.to_string(), "dismiss"])).await.map(drop)
    }
}
