//! Taking work, looking at the line, and reporting.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Method, StatusCode};

use super::transport::{answer, data, key_header, read, send};
use super::{Client, ClientError};
use crate::claimer::NextQuery;
use crate::dispatch::{
    Ask, Complete, DispatchPrompt, Fail, Heartbeat, Next, Queue, QueueQuery, Release, ReportReply,
};

/// The header that says why there was nothing to hand out.
const REASON_HEADER: &str = "extraboard-reason";

/// What a claim came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    Work(Box<Next>),
    /// Nothing is to be had now, and why.
    Nothing {
        reason: String,
        /// How long to wait before asking again, where the desk says.
        retry_after_secs: Option<u64>,
    },
}

impl Client {
    /// Takes the first issue in line for this claimer; the same key answers the same open dispatch.
    /// It may wait for work, which takes a wait in the query.
    pub async fn claim(&self, query: &NextQuery, key: Option<&str>) -> Result<Claim, ClientError> {
        let mut request = self.request(Method::POST, &["dispatch", "next"]).query(query);
        if let Some(key) = key {
            request = key_header(request, key)?;
        }
        let response = send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(nothing(response.headers()));
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

    /// Asks a person something; the work is over until they answer.
    pub async fn dispatch_ask(&self, id: &str, body: &Ask) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "ask"]).json(body)).await
    }

    /// Returns the prompt a dispatch was handed out with.
    pub async fn dispatch_prompt(&self, id: &str) -> Result<DispatchPrompt, ClientError> {
        data(self.request(Method::GET, &["dispatches", id, "prompt"])).await
    }

    /// Gives the work back undone.
    pub async fn dispatch_release(&self, id: &str, body: &Release) -> Result<ReportReply, ClientError> {
        answer(self.request(Method::POST, &["dispatches", id, "release"]).json(body)).await
    }
}

/// Reads why there is nothing, and when to ask again; a date instead of seconds counts as not said.
fn nothing(headers: &HeaderMap) -> Claim {
    let reason = headers.get(REASON_HEADER).and_then(|value| value.to_str().ok());
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    Claim::Nothing {
        reason: reason.unwrap_or("empty").to_owned(),
        retry_after_secs: retry_after.and_then(|seconds| seconds.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::claimer::tests::full_query;
    use crate::client::Credentials;

    fn check(headers: &[(&'static str, &'static str)], reason: &str, retry_after_secs: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| {
            let name = name.parse().unwrap();
            (name, HeaderValue::from_static(value))
        });
        let expected = Claim::Nothing { reason: reason.to_owned(), retry_after_secs };
        assert_eq!(nothing(&headers.collect()), expected);
    }

    #[test]
    fn nothing_says_why_and_when_to_ask_again() {
        check(&[("extraboard-reason", "held"), ("retry-after", "5")], "held", Some(5));
        check(&[("extraboard-reason", "no_match")], "no_match", None);
        check(&[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], "empty", None);
        check(&[("retry-after", "-1")], "empty", None);
    }

    fn query_of(query: &QueueQuery) -> Option<String> {
        let client = Client::new("http://127.0.0.1:8600", &Credentials::Anonymous).unwrap();
        let request = client.request(Method::GET, &["dispatch", "queue"]).query(query).build().unwrap();
        request.url().query().map(str::to_owned)
    }

    #[test]
    fn a_claimer_is_said_in_the_query() {
        let query = QueueQuery { limit: Some(5), all: Some(true), ..full_query().into() };
        let expected = "projectId=apollo&kinds=code%2C+task&capabilities=rust%2Cgpu&owner=ann&adapter=claude&door=run\
                        &provider=anthropic&account=team&limit=5&all=true";
        assert_eq!(query_of(&query).as_deref(), Some(expected));
        assert_eq!(query_of(&QueueQuery::default()), None);
    }
}
