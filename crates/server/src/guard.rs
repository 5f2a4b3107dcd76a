//! Who may come in: the right `Host`, no page of another origin, and a caller that is known.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use extraboard_core::caller::Caller;
use extraboard_core::id::{DispatchId, TaskRef};
use extraboard_core::token::{Token, TokenScope};
use extraboard_intake::webhook::Provider;
use extraboard_store::error::Error;
use extraboard_store::verbs::{DispatchGet, TaskGet, TemplateRef, TokenKnown, VersionList};

use crate::app::App;
use crate::error::ApiError;
use crate::tokens::{DISPATCH_PREFIX, hash_token};

/// How many versions of a template are looked at for the issue to improve one.
const VERSIONS_LOOKED_AT: i64 = 200;
/// The longest name an agent may give.
const AGENT_CHARS_MAX: usize = 100;

/// Checks a request, finds its caller, and counts the answer.
pub(crate) async fn check(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let path = request.uri().path().to_owned();
    let mut response = match admit(&app, &method, request.uri(), request.headers()).await {
        Ok(Known { caller, credential, .. }) => {
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(credential);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    };
    // A claim must never be answered from a cache, and nothing else should be.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let status = response.status().as_u16();
    tracing::debug!(http.status = status, "{method} {path} was answered {status}");
    count(&method, route, &response);
    response
}

fn count(method: &Method, route: String, response: &Response) {
    // Callers can invent methods; they must not invent time series.
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD];
    let method = if known.contains(method) { method.to_string() } else { "other".to_owned() };
    let status = response.status().as_str().to_owned();
    metrics::counter!("extraboard_http_requests_total", "method" => method, "route" => route, "status" => status)
        .increment(1);
}

async fn admit(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Known, ApiError> {
    let loopback = app.is_loopback();
    check_host(headers, loopback, &app.settings.hosts)?;
    check_target(uri, headers)?;
    check_origin(headers)?;
    if let Some(name) = webhook(method, uri) {
        // They are signed, and their handlers look at that.
        app.meter.count(&name, app.desk.now()).map_err(ApiError::TooOften)?;
        let caller = Caller::Agent(name);
        return Ok(Known { caller, by: KnownBy::Word, credential: Credential::Lasting });
    }
    let known = caller(app, headers).await;
    // A token counts as one caller, whatever names go with it; those that are none count together.
    let measured = match &known {
        Ok(Known { credential: Credential::Token(hash), .. }) => hash.clone(),
        Ok(Known { caller, .. }) => caller.to_string(),
        Err(ApiError::Unauthorized(_)) => "bad token".to_owned(),
        Err(_) => return known,
    };
    app.meter.count(&measured, app.desk.now()).map_err(ApiError::TooOften)?;
    let known = known?;
    match (&known.caller, known.by) {
        (_, KnownBy::Token(TokenScope::Viewer)) => check_looks(method, uri)?,
        _ if loopback => {}
        (Caller::Holder { dispatch, .. }, _) => check_scope(app, method, uri, *dispatch).await?,
        (_, KnownBy::Token(_)) => {}
        (Caller::Agent(_), KnownBy::Word) if app.settings.trust_agent_id => {}
        _ => {
            return Err(ApiError::Unauthorized(
                "this server is not bound to loopback: send Authorization: Bearer <token>",
            ));
        }
    }
    Ok(known)
}

/// Returns the name of whoever sends a webhook, if this is one.
fn webhook(method: &Method, uri: &Uri) -> Option<String> {
    let provider = uri.path().strip_prefix("/api/signals/")?;
    let is_known = *method == Method::POST && provider.parse::<Provider>().is_ok();
    is_known.then(|| format!("webhook:{provider}"))
}

/// A caller, and what it is known by.
struct Known {
    caller: Caller,
    by: KnownBy,
    credential: Credential,
}

/// What may stop being valid while a request waits or streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Nothing that could.
    Lasting,
    /// A token, by its hash.
    Token(String),
}

impl Credential {
    /// Fails if it has been taken back, or has ended.
    pub(crate) async fn check(&self, app: &App) -> Result<(), ApiError> {
        let Self::Token(hash) = self else { return Ok(()) };
        let asked = TokenKnown { hash: hash.clone(), now: app.desk.now() };
        app.desk.read(asked).await?.map(drop).ok_or(UNKNOWN_TOKEN)
    }
}

const UNKNOWN_TOKEN: ApiError = ApiError::Unauthorized("this token is not valid");

/// What a caller is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownBy {
    /// Its own word, or nothing at all.
    Word,
    /// A token that somebody made.
    Token(TokenScope),
    /// The token of a dispatch.
    Dispatch,
}

/// Keeps whoever may only look to that. A claim is no look, even if it is asked for by GET.
fn check_looks(method: &Method, uri: &Uri) -> Result<(), ApiError> {
    let looks = matches!(*method, Method::GET | Method::HEAD) && uri.path() != "/api/dispatch/next";
    if looks { Ok(()) } else { Err(ApiError::Forbidden("this token is for looking alone")) }
}

/// Keeps a dispatch token to its dispatch and that dispatch's issue.
async fn check_scope(app: &App, method: &Method, uri: &Uri, dispatch: DispatchId) -> Result<(), ApiError> {
    let mut path = uri.path().trim_start_matches("/api/").split('/');
    let in_scope = match (path.next(), path.next(), path.next(), path.next()) {
        (Some("dispatches"), Some(id), Some(_), None) => id.parse() == Ok(dispatch),
        (Some("issues"), Some(id), part, None) if is_holders(method, part) => match id.parse() {
            Ok(task) => app.desk.read(TaskGet { task }).await?.task.dispatch == Some(dispatch),
            Err(_) => false,
        },
        // Their handlers look at what is in the body: parts of its own issue, and its own prompt.
        (Some("issues" | "prompt-reviews"), None, None, None) => *method == Method::POST,
        (Some("labels"), None, None, None) => *method == Method::GET,
        (Some("templates"), Some(template), part, None) => match (method.as_str(), part) {
            ("GET", None | Some("versions" | "reviews")) | ("POST", Some("versions")) => {
                is_to_improve(app, dispatch, template).await?
            }
            _ => false,
        },
        _ => false,
    };
    if in_scope { Ok(()) } else { Err(ApiError::OutOfScope(dispatch)) }
}

/// Tells whether the issue of a dispatch is to make a better version of that template.
async fn is_to_improve(app: &App, dispatch: DispatchId, template: &str) -> Result<bool, ApiError> {
    let number = app.desk.read(DispatchGet { dispatch }).await?.task;
    let task = app.desk.read(TaskGet { task: TaskRef::Number(number) }).await?.task;
    if task.dispatch != Some(dispatch) {
        return Ok(false);
    }
    let versions = VersionList { template: TemplateRef::new(template), offset: 0, limit: VERSIONS_LOOKED_AT };
    match app.desk.read(versions).await {
        Ok((versions, _)) => Ok(versions.iter().any(|version| version.improvement == Some(task.id))),
        Err(Error::NoTemplate(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Tells whether a holder may ask that of its own issue: to read and patch it, to say what it
/// found to come first, to hand in what others wait for, and to talk about it.
fn is_holders(method: &Method, part: Option<&str>) -> bool {
    match *method {
        Method::GET => matches!(part, None | Some("relations" | "artifacts" | "comments" | "why")),
        Method::POST => matches!(part, Some("relations" | "artifacts" | "comments")),
        Method::PATCH => part.is_none(),
        _ => false,
    }
}

/// Refuses names that are not this server's: a page may point any name at 127.0.0.1.
pub(crate) fn check_host(headers: &HeaderMap, loopback: bool, names: &[String]) -> Result<(), ApiError> {
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(ApiError::Host("two of them".to_owned()));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host_name(host);
    let known =
        names.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host));
    let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let ours = match ip {
        // Another name cannot hide behind an address; elsewhere tokens decide.
        Some(ip) => ip.is_loopback() || !loopback,
        None => name.eq_ignore_ascii_case("localhost"),
    };
    if known || ours { Ok(()) } else { Err(ApiError::Host(host.to_owned())) }
}

/// Refuses a request line that names another server than the `Host` does.
fn check_target(uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(target) = uri.authority() else { return Ok(()) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if target.as_str().eq_ignore_ascii_case(host) { Ok(()) } else { Err(ApiError::Host(target.to_string())) }
}

/// Returns a host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Refuses what a browser sends for a page that is not ours. Another port of
/// this machine is the same site to a browser, and still not ours.
pub(crate) fn check_origin(headers: &HeaderMap) -> Result<(), ApiError> {
    for name in ["origin", "sec-fetch-site"] {
        if headers.get_all(name).iter().count() > 1 {
            return Err(ApiError::CrossSite);
        }
    }
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text(header::HeaderName::from_static("sec-fetch-site"));
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(ApiError::CrossSite);
    }
    // A browser that sends neither still says which page an image or a link is on.
    let referer = if site.is_none() { text(header::REFERER).map(origin_of) } else { None };
    let Some(origin) = text(header::ORIGIN).or(referer) else { return Ok(()) };
    let host = text(header::HOST).unwrap_or_default();
    let same = origin.split_once("://").is_some_and(|(scheme, origin)| {
        matches!(scheme, "http" | "https") && origin.eq_ignore_ascii_case(host)
    });
    if same { Ok(()) } else { Err(ApiError::CrossSite) }
}

/// Returns scheme and host of a URL.
fn origin_of(url: &str) -> &str {
    let path = url.find("://").and_then(|at| url[at + 3..].find('/').map(|slash| at + 3 + slash));
    &url[..path.unwrap_or(url.len())]
}

async fn caller(app: &App, headers: &HeaderMap) -> Result<Known, ApiError> {
    let mut names = headers.get_all("x-agent-id").iter();
    let name = match (names.next(), names.next()) {
        (None, _) => None,
        (Some(name), None) => Some(agent(name.to_str().unwrap_or_default())?),
        (Some(_), Some(_)) => Some(agent("")?),
    };
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(bearer);
        let token = token.ok_or(ApiError::Unauthorized("expected Authorization: Bearer <token>"))?;
        return token_caller(app, token, name).await;
    }
    let caller = name.map_or(Caller::Anonymous, Caller::Agent);
    Ok(Known { caller, by: KnownBy::Word, credential: Credential::Lasting })
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

async fn token_caller(app: &App, token: &str, name: Option<String>) -> Result<Known, ApiError> {
    if token.starts_with(DISPATCH_PREFIX) {
        let caller = app.settings.key.holder(token).ok_or(UNKNOWN_TOKEN)?;
        return Ok(Known { caller, by: KnownBy::Dispatch, credential: Credential::Lasting });
    }
    let hash = hash_token(token);
    let asked = TokenKnown { hash: hash.clone(), now: app.desk.now() };
    let token = app.desk.read(asked).await?.ok_or(UNKNOWN_TOKEN)?;
    let by = KnownBy::Token(token.scope);
    Ok(Known { caller: speaks_for(token, name)?, by, credential: Credential::Token(hash) })
}

/// Returns whom a token speaks for. A name beside it must be the one it was made for.
fn speaks_for(token: Token, name: Option<String>) -> Result<Caller, ApiError> {
    match (token.scope, token.agent, name) {
        (TokenScope::Admin, _, _) => Ok(Caller::Person(token.subject)),
        (TokenScope::Viewer, _, _) => Ok(Caller::Agent(format!("viewer:{}", token.subject))),
        (TokenScope::Agent | TokenScope::Node, Some(agent), Some(name)) if agent != name => {
            Err(ApiError::Forbidden("X-Agent-ID is not the agent this token was made for"))
        }
        (TokenScope::Agent | TokenScope::Node, Some(agent), _) => Ok(Caller::Agent(agent)),
        (TokenScope::Agent | TokenScope::Node, None, Some(name)) => Ok(Caller::Agent(name)),
        (TokenScope::Agent | TokenScope::Node, None, None) => Ok(Caller::Agent(token.subject)),
    }
}

fn agent(name: &str) -> Result<String, ApiError> {
    match check_agent_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(message) => Err(ApiError::Malformed { field: Some("X-Agent-ID".to_owned()), message }),
    }
}

/// Fails, saying what was expected, unless an agent can go by that name.
pub(crate) fn check_agent_name(name: &str) -> Result<(), String> {
    let printable = name.bytes().all(|byte| byte.is_ascii_graphic());
    if printable && (1..=AGENT_CHARS_MAX).contains(&name.len()) {
        return Ok(());
    }
    Err(format!("expected one name of 1 to {AGENT_CHARS_MAX} printable ASCII characters without spaces"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_loopback_server_answers_to_loopback_names_only() {
        for good in ["localhost", "LOCALHOST:8600", "127.0.0.1:8600", "127.0.0.5", "[::1]:8600", "[::1]"] {
            assert!(check_host(&headers(&[("host", good)]), true, &[]).is_ok(), "{good}");
        }
        for bad in ["evil.example", "evil.example:8600", "localhost.evil.example", "10.0.0.1:8600", ""] {
            assert!(check_host(&headers(&[("host", bad)]), true, &[]).is_err(), "{bad}");
        }
        assert!(check_host(&headers(&[]), true, &[]).is_err());
    }

    #[test]
    fn other_servers_answer_to_addresses_and_configured_names() {
        let names = ["desk.example".to_owned()];
        for good in ["10.0.0.1:8600", "desk.example", "desk.example:443", "localhost:1"] {
            assert!(check_host(&headers(&[("host", good)]), false, &names).is_ok(), "{good}");
        }
        assert!(check_host(&headers(&[("host", "evil.example")]), false, &names).is_err());
    }

    #[test]
    fn pages_of_another_origin_are_refused() {
        let host = ("host", "127.0.0.1:8600");
        for bad in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "null"),
            ("origin", "http://evil.example"),
            ("origin", "http://127.0.0.1:3000"),
            ("origin", "file://127.0.0.1:8600"),
            ("referer", "http://evil.example/page"),
            ("referer", "http://127.0.0.1:3000/"),
        ] {
            assert!(check_origin(&headers(&[host, bad])).is_err(), "{bad:?}");
        }
        for good in [
            ("sec-fetch-site", "none"),
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://127.0.0.1:8600"),
            ("referer", "http://127.0.0.1:8600/board"),
        ] {
            assert!(check_origin(&headers(&[host, good])).is_ok(), "{good:?}");
        }
        assert!(check_origin(&headers(&[host])).is_ok());
    }

    #[test]
    fn a_holder_reads_and_writes_of_its_issue_what_is_its_own() {
        for (method, part) in [
            (Method::GET, None),
            (Method::PATCH, None),
            (Method::GET, Some("why")),
            (Method::GET, Some("relations")),
            (Method::POST, Some("relations")),
            (Method::GET, Some("artifacts")),
            (Method::POST, Some("artifacts")),
        ] {
            assert!(is_holders(&method, part), "{method} {part:?}");
        }
        for (method, part) in [
            (Method::DELETE, None),
            (Method::POST, None),
            (Method::PUT, None),
            (Method::POST, Some("why")),
            (Method::POST, Some("bump")),
            (Method::POST, Some("move")),
            (Method::POST, Some("cancel")),
            (Method::PATCH, Some("relations")),
            (Method::HEAD, Some("why")),
        ] {
            assert!(!is_holders(&method, part), "{method} {part:?}");
        }
    }

    fn token(scope: TokenScope, agent: Option<&str>) -> Token {
        Token {
            id: String::new(),
            scope,
            subject: "ann".to_owned(),
            agent: agent.map(str::to_owned),
            created_at: extraboard_core::clock::Timestamp::from_micros(0),
            expires_at: None,
        }
    }

    #[test]
    fn a_token_speaks_for_whom_it_was_made_for() {
        let agent = |name: &str| Caller::Agent(name.to_owned());
        let check = |scope, made_for, name: Option<&str>| {
            speaks_for(token(scope, made_for), name.map(str::to_owned)).ok()
        };
        assert_eq!(check(TokenScope::Admin, None, Some("w1")), Some(Caller::Person("ann".to_owned())));
        assert_eq!(check(TokenScope::Agent, Some("w1"), None), Some(agent("w1")));
        assert_eq!(check(TokenScope::Agent, Some("w1"), Some("w1")), Some(agent("w1")));
        assert_eq!(check(TokenScope::Agent, Some("w1"), Some("w2")), None);
        assert_eq!(check(TokenScope::Agent, None, Some("w2")), Some(agent("w2")));
        assert_eq!(check(TokenScope::Node, None, None), Some(agent("ann")));
        assert_eq!(check(TokenScope::Viewer, None, Some("w2")), Some(agent("viewer:ann")));
    }

    #[test]
    fn whoever_may_look_may_not_claim() {
        let uri = |path: &'static str| Uri::from_static(path);
        assert!(check_looks(&Method::GET, &uri("/api/issues")).is_ok());
        assert!(check_looks(&Method::GET, &uri("/api/dispatch/queue")).is_ok());
        assert!(check_looks(&Method::GET, &uri("/api/dispatch/next")).is_err());
        assert!(check_looks(&Method::POST, &uri("/api/issues")).is_err());
        assert!(check_looks(&Method::DELETE, &uri("/api/issues/1")).is_err());
    }

    #[test]
    fn agents_have_short_printable_names() {
        assert_eq!(agent("worker-1").unwrap(), "worker-1");
        for bad in ["", "two words", "tab\there", &"x".repeat(101)] {
            assert!(agent(bad).is_err(), "{bad:?}");
        }
    }
}
