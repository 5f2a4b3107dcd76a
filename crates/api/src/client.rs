//! A typed client: one method per route of `docs/api.md`.
//!
//! It sends each request once. Whether a failed request may be repeated is the caller's decision, because a
//! claim without an idempotency key may not.

mod artifact;
mod dashboard;
mod desk;
mod dispatch;
mod error;
mod event;
mod goal;
mod inbox;
mod issue;
mod label;
mod project;
mod relation;
mod signal;
mod template;
mod token;
mod transport;

use std::fmt;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, Url};

pub use self::dispatch::Claim;
pub use self::error::ClientError;
pub use self::event::{EventStream, Told};
pub use self::issue::Imported;

/// Who the client says it is.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody in particular.
    Anonymous,
    /// The owner of a token: a person, or the holder of a dispatch.
    Bearer(String),
    /// An agent, by name alone.
    Agent(String),
    /// An agent by name, and a token that lets it be one.
    BearerAs { token: String, agent: String },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::Bearer(_) => f.write_str("Bearer(…)"),
            Self::Agent(name) => write!(f, "Agent({name:?})"),
            Self::BearerAs { agent, .. } => write!(f, "BearerAs({agent:?}, …)"),
        }
    }
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

    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let url = transport::route(&self.base, path);
        self.http.request(method, url).headers(self.identity.clone())
    }
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
