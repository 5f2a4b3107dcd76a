//! The metrics port: is the server up, and how busy is it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use extraboard_desk::Desk;
use extraboard_store::verbs::CountsRead;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::error::ApiError;
use crate::{accept, guard};

/// How long the database may take to answer a health check.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the server's health; shared with whoever starts and stops it.
#[derive(Clone)]
pub struct Health {
    desk: Arc<OnceLock<Desk>>,
    accepting: Arc<watch::Sender<bool>>,
    metrics: PrometheusHandle,
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Health").field("accepting", &self.accepting).finish_non_exhaustive()
    }
}

impl Health {
    /// Begins with a server that is not up yet.
    pub fn starting(metrics: PrometheusHandle) -> Self {
        describe();
        Self { desk: Arc::default(), accepting: Arc::new(watch::channel(false).0), metrics }
    }

    /// Says that the API port accepts requests for this desk.
    pub fn up(&self, desk: Desk) {
        // A server starts once; a second desk would change nothing.
        let _ = self.desk.set(desk);
        self.accepting.send_replace(true);
    }

    /// Says that the API port accepts no more requests.
    pub fn stopping(&self) {
        self.accepting.send_replace(false);
    }

    async fn problem(&self) -> Option<&'static str> {
        let Some(desk) = self.desk.get().filter(|_| *self.accepting.borrow()) else {
            return Some("the API does not accept requests");
        };
        match tokio::time::timeout(DATABASE_PATIENCE, desk.check()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                let cause = std::error::Error::source(&error).map_or_else(String::new, ToString::to_string);
                tracing::warn!(error = %cause, "unhealthy: {error}: {cause}");
                Some("the database does not take writes")
            }
            Err(_) => Some("the database does not answer"),
        }
    }
}

fn describe() {
    metrics::describe_counter!(
        "extraboard_http_requests_total",
        "Requests answered, by method, route and status."
    );
    metrics::describe_counter!("extraboard_claims_total", "Tasks handed out.");
    metrics::describe_counter!("extraboard_reports_total", "Reports on dispatches, by outcome.");
    metrics::describe_counter!(
        "extraboard_leases_lapsed_total",
        "Dispatches whose holders were not heard of."
    );
    metrics::describe_counter!(
        "extraboard_differences_total",
        "Things the slow check found not to be as they should: see `xb doctor`."
    );
    metrics::describe_gauge!(
        "extraboard_database_up",
        "Whether the database could be counted for this answer."
    );
    metrics::describe_gauge!("extraboard_line_tasks", "Tasks in line.");
    metrics::describe_gauge!("extraboard_tasks", "Tasks that are not deleted, by state.");
    metrics::describe_gauge!("extraboard_dispatches_unclosed", "Dispatches that are not closed.");
    metrics::describe_gauge!("extraboard_event_streams", "Readers of /api/events.");
    metrics::describe_gauge!("extraboard_events_pos", "The last event's position.");
}

/// Serves `/health` and `/metrics` for as long as it is polled.
pub async fn serve_metrics(listener: TcpListener, health: Health) {
    let loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let guard = move |request: Request, next: Next| async move {
        match refuse_pages(request.headers(), loopback) {
            Ok(()) => next.run(request).await,
            Err(error) => error.into_response(),
        }
    };
    let routes = Router::new()
        .route("/health", get(check))
        .route("/metrics", get(numbers))
        .layer(middleware::from_fn(guard))
        .with_state(health);
    accept::serve(listener, routes, std::future::pending()).await;
}

/// Refuses pages of other origins. On loopback also names that are not this machine's; elsewhere
/// whoever scrapes knows the server by names we do not.
fn refuse_pages(headers: &HeaderMap, loopback: bool) -> Result<(), ApiError> {
    if loopback {
        guard::check_host(headers, loopback, &[])?;
    }
    guard::check_origin(headers)
}

async fn check(State(health): State<Health>) -> Response {
    match health.problem().await {
        None => axum::Json(serde_json::json!({ "status": "ok" })).into_response(),
        Some(problem) => {
            let body = serde_json::json!({ "status": "unavailable", "error": problem });
            (StatusCode::SERVICE_UNAVAILABLE, axum::Json(body)).into_response()
        }
    }
}

async fn numbers(State(health): State<Health>) -> Response {
    let counted = match health.desk.get() {
        Some(desk) => tokio::time::timeout(DATABASE_PATIENCE, count(desk)).await.unwrap_or(false),
        None => false,
    };
    // Gauges keep their last values; this one says whether they are news.
    gauge("extraboard_database_up", i64::from(counted));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], health.metrics.render()).into_response()
}

/// Sets the gauges that are counted, not kept; tells whether it could.
async fn count(desk: &Desk) -> bool {
    match desk.read(CountsRead).await {
        Ok(counts) => {
            gauge("extraboard_line_tasks", counts.line);
            gauge("extraboard_dispatches_unclosed", counts.unclosed);
            gauge("extraboard_events_pos", counts.pos.0);
            for state in extraboard_core::state::State::ALL {
                let tasks = counts.states.iter().find(|(counted, _)| counted == state).map_or(0, |(_, n)| *n);
                #[expect(clippy::cast_precision_loss, reason = "gauges are floating-point numbers")]
                metrics::gauge!("extraboard_tasks", "state" => state.as_str()).set(tasks as f64);
            }
            true
        }
        Err(error) => {
            tracing::warn!(error = %error, "metrics without counts: {error}");
            false
        }
    }
}

fn gauge(name: &'static str, value: i64) {
    #[expect(clippy::cast_precision_loss, reason = "gauges are floating-point numbers")]
    metrics::gauge!(name).set(value as f64);
}
