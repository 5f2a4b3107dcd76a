//! Issues: the thing itself, its verbs, its place in line, and why it waits.

use reqwest::{Method, StatusCode};

use super::transport::{answer, data, key_header, read, send};
use super::{Client, ClientError};
use crate::envelope::One;
use crate::issue::{Issue, IssueCreate, IssueDetail, IssueList, IssuePatch, IssuePatched, IssueQuery};
use crate::order::{IssueBump, IssueMove, IssueMoved};
use crate::why::{Why, WhyQuery};

/// What became of an issue that was sent with an external key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    /// There was none with that key.
    Created,
    /// There was one already; it was not changed.
    Known,
}

impl Client {
    /// Creates an issue; the same key with the same request answers the same issue.
    pub async fn issue_create(&self, create: &IssueCreate, key: Option<&str>) -> Result<Issue, ClientError> {
        let mut request = self.request(Method::POST, &["issues"]).json(create);
        if let Some(key) = key {
            request = key_header(request, key)?;
        }
        data(request).await
    }

    /// Creates an issue unless one has its external key, and tells which of the two it was.
    pub async fn issue_import(&self, create: &IssueCreate) -> Result<(Issue, Imported), ClientError> {
        let response = send(self.request(Method::POST, &["issues"]).json(create)).await?;
        let imported =
            if response.status() == StatusCode::CREATED { Imported::Created } else { Imported::Known };
        let one: One<Issue> = read(response).await?;
        Ok((one.data, imported))
    }

    /// Returns one page of issues, oldest first.
    pub async fn issue_list(&self, query: &IssueQuery) -> Result<IssueList, ClientError> {
        answer(self.request(Method::GET, &["issues"]).query(query)).await
    }

    /// Returns one issue, by uuid or number, with what stands around it.
    pub async fn issue_get(&self, id: &str) -> Result<IssueDetail, ClientError> {
        data(self.request(Method::GET, &["issues", id])).await
    }

    /// Changes the fields that the patch names.
    pub async fn issue_patch(&self, id: &str, patch: &IssuePatch) -> Result<IssuePatched, ClientError> {
        answer(self.request(Method::PATCH, &["issues", id]).json(patch)).await
    }

    /// Deletes an issue.
    pub async fn issue_delete(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["issues", id])).await.map(drop)
    }

    /// Lets an issue of triage or backlog into the line.
    pub async fn issue_admit(&self, id: &str) -> Result<Issue, ClientError> {
        self.issue_verb(id, "admit").await
    }

    /// Takes an issue out of the line, back to the backlog.
    pub async fn issue_park(&self, id: &str) -> Result<Issue, ClientError> {
        self.issue_verb(id, "park").await
    }

    /// Ends an issue without a result.
    pub async fn issue_cancel(&self, id: &str) -> Result<Issue, ClientError> {
        self.issue_verb(id, "cancel").await
    }

    /// Puts a failed or blocked issue in line again.
    pub async fn issue_retry(&self, id: &str) -> Result<Issue, ClientError> {
        self.issue_verb(id, "retry").await
    }

    /// Puts a done or canceled issue in line again.
    pub async fn issue_reopen(&self, id: &str) -> Result<Issue, ClientError> {
        self.issue_verb(id, "reopen").await
    }

    /// Adds to an issue's boost.
    pub async fn issue_bump(&self, id: &str, body: &IssueBump) -> Result<Issue, ClientError> {
        data(self.request(Method::POST, &["issues", id, "bump"]).json(body)).await
    }

    /// Puts an issue right before or after another one in line.
    pub async fn issue_move(&self, id: &str, body: &IssueMove) -> Result<IssueMoved, ClientError> {
        answer(self.request(Method::POST, &["issues", id, "move"]).json(body)).await
    }

    /// Returns why an issue runs, waits or never will.
    pub async fn issue_why(&self, id: &str, query: &WhyQuery) -> Result<Why, ClientError> {
        data(self.request(Method::GET, &["issues", id, "why"]).query(query)).await
    }

    async fn issue_verb(&self, id: &str, verb: &str) -> Result<Issue, ClientError> {
        data(self.request(Method::POST, &["issues", id, verb])).await
    }
}
