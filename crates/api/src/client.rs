//! A typed client: one method per route of `docs/api.md`.
//!
//! It sends each request once. Whether a failed request may be repeated is the caller's decision, because a
//! claim without an idempotency key may not.

mod error;
mod transport;

use std::fmt;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};

pub use self::error::ClientError;
use self::transport::{answer, key_header, read};
use crate::dispatch::{Complete, Fail, Heartbeat, Next, Queue, QueueQuery, Release, ReportReply};
use crate::envelope::One;
use crate::issue::{Issue, IssueCreate, IssueDetail, IssueList, IssuePatch, IssuePatched, IssueQuery};
use crate::status::DeskStatus;

/// The header that says why there was nothing to hand out.
const REASON_HEADER: &str = "extraboard-reason";

/// Who the client says it is.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody in particular.
    Anonymous,
    /// The owner of a token: a person, or the holder of a dispatch.
    Bearer(String),
    /// An agent, by name alone.
    Agent(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::Bearer(_) => f.write_str("Bearer(…)"),
            Self::Agent(name) => write!(f, "Agent({name:?})"),
        }
    }
}

/// What a claim came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    Work(Box<Next>),
    /// Nothing is to be had now, and why.
    Nothing {
        reason: String,
    },
}

/// A desk, as seen from outside.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    identity: HeaderMap,
}

impl Client {
    /// Makes a client for the desk at `base_url`; nothing is sent yet.
    pub fn new(base_url: &str, credentials: &Credentials) -> Result<Self, ClientError> {
        let base = transport::base(base_url)?;
        let http = transport::build(&base)?;
        let identity = transport::identity(credentials)?;
        Ok(Self { http, base, identity })
    }

    /// Creates an issue; the same key with the same request answers the same issue.
    pub async fn issue_create(&self, create: &IssueCreate, key: Option<&str>) -> Result<Issue, ClientError> {
        let mut request = self.request(Method::POST, &["issues"]).json(create);
        if let Some(key) = key {
            request = key_header(request, key)?;
        }
        let issue: One<Issue> = answer(request).await?;
        Ok(issue.data)
    }

    /// Returns one page of issues, oldest first.
    pub async fn issue_list(&self, query: &IssueQuery) -> Result<IssueList, ClientError> {
        answer(self.request(Method::GET, &["issues"]).query(query)).await
    }

    /// Returns one issue, by uuid or number, with what stands around it.
    pub async fn issue_get(&self, id: &str) -> Result<IssueDetail, ClientError> {
        let issue: One<IssueDetail> = answer(self.request(Method::GET, &["issues", id])).await?;
        Ok(issue.data)
    }

    /// Changes the fields that the patch names.
    pub async fn issue_patch(&self, id: &str, patch: &IssuePatch) -> Result<IssuePatched, ClientError> {
        answer(self.request(Method::PATCH, &["issues", id]).json(patch)).await
    }

    /// Deletes an issue.
    pub async fn issue_delete(&self, id: &str) -> Result<(), ClientError> {
        let request = self.request(Method::DELETE, &["issues", id]);
        transport::send(request).await.map(drop)
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

    /// Takes the first issue in line; the same key answers the same open dispatch.
    pub async fn claim(&self, key: Option<&str>) -> Result<Claim, ClientError> {
        let mut request = self.request(Method::POST, &["dispatch", "next"]);
        if let Some(key) = key {
            request = key_header(request, key)?;
        }
        let response = transport::send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            let reason = response.headers().get(REASON_HEADER).and_then(|value| value.to_str().ok());
            return Ok(Claim::Nothing { reason: reason.unwrap_or("empty").to_owned() });
        }
        read(response).await.map(|next| Claim::Work(Box::new(next)))
    }

    /// Returns what would be handed out, in that order.
    pub async fn queue(&self, query: &QueueQuery) -> Result<Queue, ClientError> {
        answer(self.request(Method::GET, &["dispatch", "queue"]).query(query)).await
    }

    /// Says that the work goes on, and renews the lease.
    pub async fn dispatch_heartbeat(&self, id: &str, body: &Heartbeat) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "heartbeat"]).json(body)).await
    }

    /// Reports success.
    pub async fn dispatch_complete(&self, id: &str, body: &Complete) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "complete"]).json(body)).await
    }

    /// Reports failure.
    pub async fn dispatch_fail(&self, id: &str, body: &Fail) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "fail"]).json(body)).await
    }

    /// Gives the work back undone.
    pub async fn dispatch_release(&self, id: &str, body: &Release) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "release"]).json(body)).await
    }

    /// Returns how the desk itself is doing.
    pub async fn status(&self) -> Result<DeskStatus, ClientError> {
        let status: One<DeskStatus> = answer(self.request(Method::GET, &["status"])).await?;
        Ok(status.data)
    }

    async fn issue_verb(&self, id: &str, verb: &str) -> Result<Issue, ClientError> {
        let issue: One<Issue> = answer(self.request(Method::POST, &["issues", id, verb])).await?;
        Ok(issue.data)
    }

    fn request(&self, method: Method, path: &[&str]) -> reqwest::RequestBuilder {
        let url = transport::route(&self.base, path);
        self.http.request(method, url).headers(self.identity.clone())
    }
}

/// Returns whether requests to this URL stay on this machine.
pub fn is_loopback(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| transport::is_loopback(&url))
}

/// Returns whether both URLs name the same scheme, host and port.
pub fn same_origin(one: &str, other: &str) -> bool {
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => one.origin().is_tuple() && one.origin() == other.origin(),
        (Ok(_) | Err(_), _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_the_rest() {
        for url in ["http://127.0.0.1:8600", "http://localhost:1", "http://[::1]:8600/x", "https://127.9.9.9"]
        {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://10.0.0.1",
            "http://localhost.evil.org",
            "http://127.0.0.1.evil.org",
            "http://0.0.0.0",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn user_information_does_not_make_a_host_loopback() {
        assert!(!is_loopback("http://127.0.0.1@evil.org/"));
    }

    #[test]
    fn origins_compare_with_default_ports() {
        assert!(same_origin("http://desk:80/", "http://DESK"));
        assert!(!same_origin("http://desk", "https://desk"));
        assert!(!same_origin("nonsense", "nonsense"));
        assert!(!same_origin("data:x", "data:x"));
    }

    #[test]
    fn credentials_do_not_show_the_token() {
        assert_eq!(format!("{:?}", Credentials::Bearer("xba_secret".to_owned())), "Bearer(…)");
    }

    #[test]
    fn a_client_refuses_what_it_cannot_send() {
        let check =
            |url: &str, credentials: Credentials| Client::new(url, &credentials).unwrap_err().to_string();
        assert_eq!(
            check("desk:8600", Credentials::Anonymous),
            "`desk:8600` is not a server URL: expected http://HOST:PORT or https://HOST"
        );
        assert_eq!(
            check("http://desk", Credentials::Agent("a\nb".to_owned())),
            "the agent name cannot be sent in a header"
        );
    }
}
