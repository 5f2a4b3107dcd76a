//! `POST /api/signals/github|sentry|posthog`: webhooks. They need no token, because they are signed.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use extraboard_api::envelope::One;
use extraboard_api::signal::WebhookQuery;
use extraboard_core::caller::Caller;
use extraboard_core::signal::Severity;
use extraboard_intake::webhook::{self, Delivery, Provider, WebhookError};

use super::signals::{Heard, created};
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Raw};
use crate::validate::{PAYLOAD_BYTES_MAX, Problems};

pub(crate) async fn github(
    app: State<Arc<App>>,
    query: Params<WebhookQuery>,
    headers: HeaderMap,
    body: Raw,
) -> Result<Response, ApiError> {
    hear(Provider::Github, app, query, headers, body).await
}

pub(crate) async fn sentry(
    app: State<Arc<App>>,
    query: Params<WebhookQuery>,
    headers: HeaderMap,
    body: Raw,
) -> Result<Response, ApiError> {
    hear(Provider::Sentry, app, query, headers, body).await
}

pub(crate) async fn posthog(
    app: State<Arc<App>>,
    query: Params<WebhookQuery>,
    headers: HeaderMap,
    body: Raw,
) -> Result<Response, ApiError> {
    hear(Provider::Posthog, app, query, headers, body).await
}

async fn hear(
    provider: Provider,
    State(app): State<Arc<App>>,
    Params(query): Params<WebhookQuery>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, ApiError> {
    let secret = app.settings.webhooks.of(provider).ok_or_else(|| {
        ApiError::NotConfigured(format!("webhooks.{provider}_secret is not set on this server"))
    })?;
    let draft = match read(provider, secret, &headers, &body)? {
        webhook::Heard::Ping => return Ok(StatusCode::NO_CONTENT.into_response()),
        webhook::Heard::Signal(draft) => draft,
    };
    let mut problems = Problems::default();
    problems.json("payload", &draft.payload, PAYLOAD_BYTES_MAX);
    let project = query.project_id.as_deref().map(|text| problems.project_ref("projectId", text));
    problems.check()?;
    let heard = Heard {
        title: draft.title,
        source: draft.source,
        source_id: draft.source_id,
        signal_type: draft.signal_type,
        severity: severity(draft.severity),
        payload: draft.payload,
        delivery: Some(draft.delivery),
    };
    let caller = Caller::Agent(format!("webhook:{provider}"));
    let taken = heard.take(&app, caller, project, None).await?;
    let status = if taken.is_repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(One { data: created(taken) })).into_response())
}

fn read(
    provider: Provider,
    secret: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<webhook::Heard, ApiError> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    webhook::read(&Delivery { provider, header: &header, body }, secret).map_err(refusal)
}

fn refusal(error: WebhookError) -> ApiError {
    match error {
        WebhookError::MissingSignature(_) => ApiError::Unauthorized("the delivery is not signed"),
        WebhookError::BadSignature => ApiError::Unauthorized("the signature is not ours"),
        other => ApiError::Malformed { field: None, message: other.to_string() },
    }
}

fn severity(severity: webhook::Severity) -> Severity {
    match severity {
        webhook::Severity::Low => Severity::Low,
        webhook::Severity::Medium => Severity::Medium,
        webhook::Severity::High => Severity::High,
        webhook::Severity::Critical => Severity::Critical,
    }
}
