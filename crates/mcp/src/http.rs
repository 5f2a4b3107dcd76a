//! Sessions over streamable HTTP: each acts as whoever makes its requests.

use std::convert::Infallible;
use std::fmt::{self, Display};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use extraboard_api::claimer::ClaimerQuery;
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::caller::Desk;
use crate::server::{Server, Sessions};
use crate::session::{Beats, Registry, Session};

/// The largest request that is read: what the desk itself takes, and the envelope.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What sessions over HTTP are served with.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Where the desk is, as seen from here: its own loopback address.
    pub url: String,
    /// After how long without a request a session is over, and what it holds released.
    pub idle: Duration,
    /// How many sessions there may be at once.
    pub session_count_max: usize,
}

impl HttpSettings {
    /// Returns the usual settings for the desk at `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), idle: Duration::from_hours(1), session_count_max: 1024 }
    }
}

/// The MCP endpoint, to be mounted on one route for GET, POST and DELETE.
#[derive(Clone)]
pub struct HttpService {
    inner: StreamableHttpService<Server, LocalSessionManager>,
    ended: CancellationToken,
    registry: Registry,
}

/// Makes the MCP endpoint.
///
/// It checks neither Host nor Origin: whoever mounts it has to.
pub fn http_service(settings: HttpSettings) -> HttpService {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(settings.idle);
    let manager = Arc::new(manager);
    let ended = CancellationToken::new();
    let registry = Registry::default();
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .with_cancellation_token(ended.clone());
    let factory = {
        let (manager, registry) = (manager.clone(), registry.clone());
        move || server(&settings, &manager, &registry)
    };
    HttpService { inner: StreamableHttpService::new(factory, manager, config), ended, registry }
}

impl HttpService {
    /// Ends all sessions and their streams, and releases what they hold.
    ///
    /// To be called while the desk still answers: releasing is a request like any other.
    pub async fn close(&self) {
        self.ended.cancel();
        self.registry.close().await;
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}

impl<B> Service<http::Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send + 'static,
    B::Error: Display,
{
    type Response = http::Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<http::Request<B>>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        self.inner.call(request)
    }
}

/// Makes the server of one session.
fn server(settings: &HttpSettings, manager: &LocalSessionManager, registry: &Registry) -> io::Result<Server> {
    if manager.sessions.try_read().is_ok_and(|sessions| sessions.len() >= settings.session_count_max) {
        return Err(io::Error::other("there are as many MCP sessions as there may be"));
    }
    let desk = Desk::of_requests(settings.url.clone());
    let session = Session::new(desk, ClaimerQuery::default(), Beats::OnCall(registry.clone()));
    Ok(Server::new(session, None, Sessions::Handshake))
}
