//! Who a session acts as: itself, or whoever makes the HTTP request.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use extraboard_api::client::{Client, Credentials};
use http::header::{AUTHORIZATION, HeaderMap};
use http::request::Parts;
use rmcp::model::Extensions;

use crate::reply::Refusal;

const AGENT_HEADER: &str = "x-agent-id";
const SESSION_HEADER: &str = "mcp-session-id";

/// How a session reaches the desk.
#[derive(Debug)]
pub(crate) struct Desk {
    url: String,
    speaker: Speaker,
}

#[derive(Debug)]
enum Speaker {
    /// One client for as long as the session lives.
    Own(Client),
    /// Whoever made the first request; the session then belongs to that caller alone, because whoever knows its
    /// id could otherwise report on what another one holds.
    Requester(Mutex<Option<(Caller, Client)>>),
}

impl Desk {
    pub(crate) const fn own(url: String, client: Client) -> Self {
        Self { url, speaker: Speaker::Own(client) }
    }

    pub(crate) const fn of_requests(url: String) -> Self {
        Self { url, speaker: Speaker::Requester(Mutex::new(None)) }
    }

    /// Returns the client that speaks for a dispatch and nothing else.
    pub(crate) fn holder(&self, token: &str) -> Result<Client, Refusal> {
        Client::new(&self.url, &Credentials::Bearer(token.to_owned())).map_err(|error| Refusal::of(&error))
    }

    /// Returns the client that speaks for whoever made this request.
    pub(crate) fn client(&self, extensions: &Extensions) -> Result<Client, Refusal> {
        let bound = match &self.speaker {
            Speaker::Own(client) => return Ok(client.clone()),
            Speaker::Requester(bound) => bound,
        };
        let parts = extensions.get::<Parts>().ok_or_else(|| Refusal::no_session("not an HTTP request"))?;
        if !parts.headers.contains_key(SESSION_HEADER) {
            // What is claimed without a session would be released with the answer.
            return Err(Refusal::no_session("this request belongs to no MCP session"));
        }
        let caller = Caller::of(&parts.headers)?;
        let mut bound = bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((first, client)) = &*bound {
            return if *first == caller { Ok(client.clone()) } else { Err(Refusal::other_caller()) };
        }
        let client = caller.client(&self.url)?;
        *bound = Some((caller, client.clone()));
        Ok(client)
    }
}

/// What an HTTP request says about who makes it.
#[derive(PartialEq, Eq)]
struct Caller {
    token: Option<String>,
    agent: Option<String>,
}

impl Caller {
    fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let text = |name: &str| match headers.get(name).map(|value| value.to_str()) {
            Some(Ok(text)) => Ok(Some(text.to_owned())),
            Some(Err(_)) => Err(Refusal::bad_header(name)),
            None => Ok(None),
        };
        let token = match text(AUTHORIZATION.as_str())? {
            Some(authorization) => match authorization.split_once(' ') {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                    Some(token.trim().to_owned())
                }
                _ => return Err(Refusal::bad_header("authorization")),
            },
            None => None,
        };
        Ok(Self { token, agent: text(AGENT_HEADER)? })
    }

    fn client(&self, url: &str) -> Result<Client, Refusal> {
        let credentials = match (&self.token, &self.agent) {
            (Some(token), Some(agent)) => {
                Credentials::BearerAs { token: token.clone(), agent: agent.clone() }
            }
            (Some(token), None) => Credentials::Bearer(token.clone()),
            (None, Some(agent)) => Credentials::Agent(agent.clone()),
            (None, None) => Credentials::Anonymous,
        };
        Client::new(url, &credentials).map_err(|error| Refusal::of(&error))
    }
}

/// Shows everything but the token, which must not reach a log.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("agent", &self.agent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(headers: &[(&'static str, &'static str)]) -> Result<Caller, Refusal> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Caller::of(&headers.collect())
    }

    #[test]
    fn a_caller_is_known_by_token_and_name() {
        let both = caller(&[("authorization", "bearer xba_1"), ("x-agent-id", "ann")]).unwrap();
        assert_eq!((both.token.as_deref(), both.agent.as_deref()), (Some("xba_1"), Some("ann")));
        assert_eq!(caller(&[]).unwrap(), Caller { token: None, agent: None });
        assert_eq!(format!("{both:?}"), r#"Caller { agent: Some("ann"), .. }"#);
    }

    #[test]
    fn a_caller_who_says_it_otherwise_is_refused() {
        for value in ["Basic YTpi", "xba_1", ""] {
            assert_eq!(caller(&[("authorization", value)]).unwrap_err().code(), "bad_header", "{value}");
        }
    }
}
