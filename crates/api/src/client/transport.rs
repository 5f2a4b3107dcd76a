//! How requests travel: URLs, headers, timeouts, and reading what comes back.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use super::{ClientError, Credentials};
use crate::envelope::One;
use crate::error::ErrorBody;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(90);
const EXCERPT_CHARS_MAX: usize = 200;

/// Reads a base URL, with or without a path of its own.
pub(super) fn base(text: &str) -> Result<Url, ClientError> {
    let bad = || ClientError::BadUrl { url: text.to_owned() };
    let mut url = Url::parse(text).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad());
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Returns the URL of a route; each part is escaped, so an id cannot leave its place.
pub(super) fn route(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("api").extend(path);
    }
    url
}

/// Sets up the HTTP client.
///
/// It follows no redirects: the API has none, and the identity must not travel to another host.
pub(super) fn build(base: &Url) -> Result<reqwest::Client, ClientError> {
    // An error only says that a provider was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TOTAL_TIMEOUT)
        .redirect(Policy::none());
    let builder = if is_loopback(base) { builder.no_proxy() } else { builder };
    builder.build().map_err(ClientError::Setup)
}

/// Returns the headers that say who is calling.
pub(super) fn identity(credentials: &Credentials) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    match credentials {
        Credentials::Anonymous => {}
        Credentials::Bearer(token) => {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        Credentials::Agent(name) => {
            headers.insert("x-agent-id", header(name, "agent name")?);
        }
        Credentials::BearerAs { token, agent } => {
            headers.insert(AUTHORIZATION, bearer(token)?);
            headers.insert("x-agent-id", header(agent, "agent name")?);
        }
    }
    Ok(headers)
}

fn bearer(token: &str) -> Result<HeaderValue, ClientError> {
    let mut value = header(&format!("Bearer {token}"), "token")?;
    value.set_sensitive(true);
    Ok(value)
}

/// Adds an idempotency key.
pub(super) fn key_header(request: RequestBuilder, key: &str) -> Result<RequestBuilder, ClientError> {
    Ok(request.header("idempotency-key", header(key, "idempotency key")?))
}

/// Sends a request and reads a successful answer's body.
pub(super) async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ClientError> {
    read(send(request).await?).await
}

/// Sends a request and reads the one thing of a successful answer.
pub(super) async fn data<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ClientError> {
    let one: One<T> = answer(request).await?;
    Ok(one.data)
}

/// Sends a request; an answer that is not a success becomes an error.
pub(super) async fn send(request: RequestBuilder) -> Result<Response, ClientError> {
    let response = request.send().await.map_err(unreachable)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status().as_u16();
    let url = response.url().to_string();
    let body = response.bytes().await.map_err(unreachable)?;
    match serde_json::from_slice::<ErrorBody>(&body) {
        Ok(body) => Err(ClientError::Api { status, body }),
        Err(_) => Err(ClientError::Unexpected { url, status, excerpt: excerpt(&body) }),
    }
}

/// Reads a successful answer's body.
pub(super) async fn read<T: DeserializeOwned>(response: Response) -> Result<T, ClientError> {
    let status = response.status().as_u16();
    let url = response.url().to_string();
    let body = response.bytes().await.map_err(unreachable)?;
    serde_json::from_slice(&body).map_err(|_| ClientError::Unexpected {
        url,
        status,
        excerpt: excerpt(&body),
    })
}

/// Returns whether the URL's host is this machine by its very name.
fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn header(text: &str, what: &'static str) -> Result<HeaderValue, ClientError> {
    HeaderValue::from_str(text).map_err(|_| ClientError::BadHeader { what })
}

fn unreachable(error: reqwest::Error) -> ClientError {
    let url = error.url().map_or_else(String::new, Url::to_string);
    ClientError::Unreachable { url, source: error.without_url() }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base_url: &str, path: &[&str], expected: &str) {
        assert_eq!(route(&base(base_url).unwrap(), path).as_str(), expected);
    }

    #[test]
    fn routes_hang_below_the_base() {
        check("http://desk:8600", &["issues", "42"], "http://desk:8600/api/issues/42");
        check("http://desk:8600/", &["status"], "http://desk:8600/api/status");
        check("https://host/desk/?x=1#y", &["status"], "https://host/desk/api/status");
    }

    #[test]
    fn an_id_cannot_leave_its_place() {
        check("http://desk", &["issues", "../status?x#y"], "http://desk/api/issues/..%2Fstatus%3Fx%23y");
        check("http://desk", &["issues", ".."], "http://desk/api/issues");
    }

    #[test]
    fn loopback_is_told_from_the_rest() {
        let check = |url: &str| is_loopback(&Url::parse(url).unwrap());
        for url in ["http://127.0.0.1:8600", "http://localhost:1", "http://[::1]:8600/x", "https://127.9.9.9"]
        {
            assert!(check(url), "{url}");
        }
        for url in [
            "http://10.0.0.1",
            "http://localhost.evil.org",
            "http://127.0.0.1.evil.org",
            "http://127.0.0.1@evil.org/",
            "http://0.0.0.0",
        ] {
            assert!(!check(url), "{url}");
        }
    }

    #[test]
    fn an_excerpt_is_short_and_tolerates_any_bytes() {
        assert_eq!(excerpt("é".repeat(300).as_bytes()).chars().count(), 200);
        assert_eq!(excerpt(&[0xff, b'a']), "\u{fffd}a");
    }
}
