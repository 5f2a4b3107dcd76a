//! The application: what handlers share, and the routes.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{delete, get, patch, post};
use extraboard_api::dispatch::DispatchMeta;
use extraboard_core::caller::Caller;
use extraboard_core::clock::Timestamp;
use extraboard_core::dispatch::Dispatch;
use extraboard_core::task::Task;
use extraboard_desk::Desk;
use extraboard_intake::webhook::Provider;
use extraboard_mcp::{HttpService, HttpSettings, http_service};
use extraboard_store::error::Error;
use extraboard_store::verbs::DispatchGet;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::http;
use crate::metas::Metas;
use crate::meter::Meter;
use crate::tokens::ServerKey;
use crate::{accept, error, guard};

/// What the surfaces need to know.
#[derive(Debug)]
pub struct AppSettings {
    /// The address the API listens on.
    pub listen: SocketAddr,
    /// Further names the server answers to.
    pub hosts: Vec<String>,
    /// Whether the name an agent gives is believed, where tokens would be asked for.
    pub trust_agent_id: bool,
    /// How many requests a caller may make in a second; none is as many as it likes.
    pub rate_limit: Option<u32>,
    /// What webhooks are signed with.
    pub webhooks: WebhookSecrets,
    /// What dispatch tokens are derived from.
    pub key: ServerKey,
    /// When the server started.
    pub started_at: Timestamp,
    /// The program's version.
    pub version: &'static str,
}

/// What webhooks are signed with; nobody's are heard whose is not known.
#[derive(Clone, Default)]
pub struct WebhookSecrets {
    /// GitHub's.
    pub github: Option<String>,
    /// Sentry's.
    pub sentry: Option<String>,
    /// `PostHog`'s.
    pub posthog: Option<String>,
}

impl WebhookSecrets {
    pub(crate) fn of(&self, provider: Provider) -> Option<&str> {
        let secret = match provider {
            Provider::Github => &self.github,
            Provider::Sentry => &self.sentry,
            Provider::Posthog => &self.posthog,
        };
        secret.as_deref().filter(|secret| !secret.is_empty())
    }
}

impl std::fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = Provider::ALL.into_iter().filter(|provider| self.of(*provider).is_some());
        f.debug_list().entries(known.map(Provider::as_str)).finish()
    }
}

/// What handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) desk: Desk,
    pub(crate) settings: AppSettings,
    pub(crate) meter: Meter,
    metas: Metas,
    stopping: watch::Sender<bool>,
}

impl App {
    /// Puts surfaces over a desk.
    pub fn new(desk: Desk, settings: AppSettings) -> Arc<Self> {
        let meter = Meter::new(settings.rate_limit);
        let (metas, stopping) = (Metas::default(), watch::Sender::new(false));
        Arc::new(Self { desk, settings, meter, metas, stopping })
    }

    /// Tells whether only this machine reaches the server.
    pub(crate) fn is_loopback(&self) -> bool {
        self.settings.listen.ip().is_loopback()
    }

    /// Returns who holds the dispatch whose token the caller presents: that is who speaks.
    pub(crate) async fn holder(&self, caller: &Caller) -> Result<Option<String>, Error> {
        match caller {
            Caller::Holder { dispatch, .. } => {
                Ok(Some(self.desk.read(DispatchGet { dispatch: *dispatch }).await?.holder))
            }
            Caller::Person(_) | Caller::Agent(_) | Caller::Anonymous | Caller::Desk => Ok(None),
        }
    }

    /// Counts what became of prompts before it is shown. What cannot be counted now, on a full
    /// disk say, is counted later: it must not keep anybody from looking.
    pub(crate) async fn count_prompts(&self) {
        if let Err(error) = self.desk.count_prompts().await {
            tracing::debug!("what became of prompts is not counted yet: {}", error.with_cause());
        }
    }

    /// Returns what a dispatch's prompt was made by.
    pub(crate) async fn meta(&self, dispatch: &Dispatch) -> Result<Option<DispatchMeta>, Error> {
        match dispatch.version {
            Some(version) => self.metas.of(&self.desk, version).await,
            None => Ok(None),
        }
    }

    /// Resolves when the server begins to stop: what waits or streams has to end.
    pub(crate) async fn stopping(&self) {
        // The sender is our own, so this ends only when it is told.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// Follows a write: the file that a task begins to wait for may be there already.
    pub(crate) fn wrote(&self, task: &Task) {
        if task.waits_for_artifact() {
            self.desk.nudge();
        }
    }
}

/// Answers requests until `stop` resolves, then finishes those under way.
pub async fn serve(listener: TcpListener, app: Arc<App>, stop: impl Future<Output = ()> + Send) {
    let (stopping, mcp) = (Arc::clone(&app), http_service(HttpSettings::new(own_url(app.settings.listen))));
    let sessions = mcp.clone();
    let stop = async move {
        stop.await;
        // What sessions hold is given back through these very surfaces.
        sessions.close().await;
        stopping.stopping.send_replace(true);
    };
    accept::serve(listener, routes(app, mcp), stop).await;
}

/// Returns where this machine reaches the server.
pub fn own_url(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

fn routes(app: Arc<App>, mcp: HttpService) -> Router {
    Router::new()
        .route_service("/mcp", mcp)
        .merge(issues())
        .merge(dispatches())
        .merge(projects())
        .merge(signals())
        .merge(templates())
        .merge(desk())
        .fallback(error::no_route)
        .method_not_allowed_fallback(error::no_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::check))
        .with_state(app)
}

/// Issues, and what stands around them.
fn issues() -> Router<Arc<App>> {
    Router::new()
        .route("/api/issues", get(http::issue_list::handle).post(http::issue_create::handle))
        .route(
            "/api/issues/{id}",
            get(http::issue_get::handle).patch(http::issue_patch::handle).delete(http::issue_delete::handle),
        )
        .route("/api/issues/{id}/{verb}", post(http::issue_move::handle))
        .route("/api/issues/{id}/bump", post(http::issue_bump::handle))
        .route("/api/issues/{id}/move", post(http::issue_reorder::handle))
        .route("/api/issues/{id}/why", get(http::issue_why::handle))
        .route("/api/issues/{id}/answer", post(http::inbox::answer_issue))
        .route("/api/issues/{id}/comments", get(http::comments::list).post(http::comments::create))
        .route(
            "/api/issues/{id}/relations",
            get(http::relation_list::handle).post(http::relation_create::handle),
        )
        .route("/api/relations/{id}", delete(http::relation_delete::handle))
        .route(
            "/api/issues/{id}/artifacts",
            get(http::artifact_list::handle).post(http::artifact_create::handle),
        )
}

/// Taking work, and reporting on it.
fn dispatches() -> Router<Arc<App>> {
    Router::new()
        // A HEAD would be answered by the GET handler, and claim.
        .route(
            "/api/dispatch/next",
            get(http::next::get).post(http::next::post).head(http::next::refuse_head),
        )
        .route("/api/dispatch/queue", get(http::queue::handle))
        .route("/api/dispatches/{id}/heartbeat", post(http::heartbeat::handle))
        .route("/api/dispatches/{id}/complete", post(http::complete::handle))
        .route("/api/dispatches/{id}/fail", post(http::fail::handle))
        .route("/api/dispatches/{id}/release", post(http::release::handle))
        .route("/api/dispatches/{id}/ask", post(http::ask::handle))
        .route("/api/dispatches/{id}/prompt", get(http::dispatch_prompt::handle))
}

/// Projects and goals.
fn projects() -> Router<Arc<App>> {
    Router::new()
        .route("/api/projects", get(http::project_list::handle).post(http::project_create::handle))
        .route(
            "/api/projects/{id}",
            get(http::project_get::handle)
                .patch(http::project_patch::handle)
                .delete(http::project_delete::handle),
        )
        .route("/api/projects/{id}/pause", post(http::project_pause::pause))
        .route("/api/projects/{id}/resume", post(http::project_pause::resume))
        .route("/api/goals", get(http::goal_list::handle).post(http::goal_create::handle))
        .route(
            "/api/goals/{id}",
            get(http::goal_get::handle).patch(http::goal_patch::handle).delete(http::goal_delete::handle),
        )
}

/// What the world says, and the words people sort it by.
fn signals() -> Router<Arc<App>> {
    Router::new()
        .route("/api/labels", get(http::labels::list).post(http::labels::create))
        .route("/api/labels/{id}", patch(http::labels::patch).delete(http::labels::delete))
        .route("/api/signals", get(http::signals::list).post(http::signals::create))
        .route("/api/signals/github", post(http::webhooks::github))
        .route("/api/signals/sentry", post(http::webhooks::sentry))
        .route("/api/signals/posthog", post(http::webhooks::posthog))
}

/// What prompts are made by, and how they do.
fn templates() -> Router<Arc<App>> {
    Router::new()
        .route("/api/templates", get(http::templates::list).post(http::templates::create))
        .route(
            "/api/templates/{id}",
            get(http::templates::get).patch(http::templates::patch).delete(http::templates::delete),
        )
        .route("/api/templates/preview/{id}", get(http::template_preview::handle))
        .route("/api/templates/{id}/versions", get(http::versions::list).post(http::versions::create))
        .route("/api/templates/{id}/versions/{version}/promote", post(http::versions::promote))
        .route("/api/templates/{id}/reviews", get(http::reviews::list))
        .route("/api/prompt-reviews", post(http::reviews::create))
        .route("/api/dashboard/stats", get(http::dashboard::stats))
        .route("/api/dashboard/activity", get(http::dashboard::activity))
        .route("/api/dashboard/prompts", get(http::dashboard::prompts))
}

/// The desk itself.
fn desk() -> Router<Arc<App>> {
    Router::new()
        .route("/api/status", get(http::status::handle))
        .route("/api/openapi.json", get(http::openapi::handle))
        .route("/api/events", get(http::events::handle))
        .route("/api/inbox", get(http::inbox::list))
        .route("/api/inbox/{id}/answer", post(http::inbox::answer))
        .route("/api/inbox/{id}/dismiss", post(http::inbox::dismiss))
        .route("/api/rules", get(http::rules_get::handle).put(http::rules_put::handle))
        .route("/api/tokens", get(http::tokens::list).post(http::tokens::create))
        .route("/api/tokens/{id}", delete(http::tokens::revoke))
        .route("/api/gates", get(http::gate_list::handle))
        .route("/api/gates/{provider}/{account}", delete(http::gate_clear::handle))
        .route("/api/doctor", get(http::doctor::check))
        .route("/api/doctor/repair", post(http::doctor::repair))
}
