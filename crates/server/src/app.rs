//! The application: what handlers share, and the routes.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{get, post};
use extraboard_core::clock::Timestamp;
use extraboard_desk::Desk;
use tokio::net::TcpListener;

use crate::http;
use crate::tokens::ServerKey;
use crate::{accept, error, guard};

/// What the surfaces need to know.
#[derive(Debug)]
pub struct AppSettings {
    /// The address the API listens on.
    pub listen: SocketAddr,
    /// Further names the server answers to.
    pub hosts: Vec<String>,
    /// What dispatch tokens are derived from.
    pub key: ServerKey,
    /// When the server started.
    pub started_at: Timestamp,
    /// The program's version.
    pub version: &'static str,
}

/// What handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) desk: Desk,
    pub(crate) settings: AppSettings,
}

impl App {
    /// Puts surfaces over a desk.
    pub fn new(desk: Desk, settings: AppSettings) -> Arc<Self> {
        Arc::new(Self { desk, settings })
    }
}

/// Answers requests until `stop` resolves, then finishes those under way.
pub async fn serve(listener: TcpListener, app: Arc<App>, stop: impl Future<Output = ()> + Send) {
    accept::serve(listener, routes(app), stop).await;
}

fn routes(app: Arc<App>) -> Router {
    let issues = Router::new()
        .route("/api/issues", get(http::issue_list::handle).post(http::issue_create::handle))
        .route(
            "/api/issues/{id}",
            get(http::issue_get::handle).patch(http::issue_patch::handle).delete(http::issue_delete::handle),
        )
        .route("/api/issues/{id}/{verb}", post(http::issue_move::handle));
    let dispatches = Router::new()
        // A HEAD would be answered by the GET handler, and claim.
        .route(
            "/api/dispatch/next",
            get(http::next::handle).post(http::next::handle).head(http::next::refuse_head),
        )
        .route("/api/dispatch/queue", get(http::queue::handle))
        .route("/api/dispatches/{id}/heartbeat", post(http::heartbeat::handle))
        .route("/api/dispatches/{id}/complete", post(http::complete::handle))
        .route("/api/dispatches/{id}/fail", post(http::fail::handle))
        .route("/api/dispatches/{id}/release", post(http::release::handle));
    Router::new()
        .merge(issues)
        .merge(dispatches)
        .route("/api/status", get(http::status::handle))
        .fallback(error::no_route)
        .method_not_allowed_fallback(error::no_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::check))
        .with_state(app)
}
