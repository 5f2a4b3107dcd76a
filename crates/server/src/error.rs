//! The one place where failures become answers.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use extraboard_api::error::{ErrorBody, FieldError};
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::id::DispatchId;
use extraboard_core::patch::{Role, legal_asks, legal_moves};
use extraboard_core::state::State;
use extraboard_core::task::Task;
use extraboard_store::error::Error;
use serde_json::{Value, json};

/// Anything a request can be refused with.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The body or query is not well formed.
    Malformed { field: Option<String>, message: String },
    /// Values are outside their ranges.
    Invalid(Vec<FieldError>),
    /// The body is too large.
    TooLarge,
    /// The body did not arrive in time.
    TooSlow,
    /// The body is not JSON by its own word.
    MediaType,
    /// A token is needed or wrong.
    Unauthorized(&'static str),
    /// The `Host` is not this server's.
    Host(String),
    /// A page of another origin asks.
    CrossSite,
    /// The token speaks for one dispatch, and this is about something else.
    OutOfScope(DispatchId),
    /// The token does not go so far.
    Forbidden(&'static str),
    /// The caller asks more often than it may; it can again after so many seconds.
    TooOften(i64),
    /// There is nothing of that name.
    NotFound(String),
    /// This server was not told what it needs for that.
    NotConfigured(String),
    /// The dispatch was superseded.
    Stale(Box<(Task, Dispatch)>),
    /// The store says no.
    Store(Error),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let retry_after = match &self {
            Self::TooOften(secs) => Some(HeaderValue::from(*secs)),
            _ => None,
        };
        let (status, body) = self.answer();
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(retry_after) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after);
        }
        response
    }
}

impl ApiError {
    /// Refuses the value of one field.
    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError { field: field.to_owned(), message: message.into() }])
    }

    fn answer(self) -> (StatusCode, ErrorBody) {
        match self {
            Self::Malformed { field: None, message } => {
                (StatusCode::BAD_REQUEST, body("bad_request", message))
            }
            Self::Malformed { field: Some(field), message } => {
                let details = Some(json!([{ "field": field, "message": message }]));
                let sentence = format!("{field}: {message}");
                (StatusCode::BAD_REQUEST, ErrorBody { details, ..body("bad_request", sentence) })
            }
            Self::Invalid(fields) => (StatusCode::UNPROCESSABLE_ENTITY, invalid(fields)),
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, body("too_large", "the body is larger than 1 MiB"))
            }
            Self::TooSlow => {
                (StatusCode::REQUEST_TIMEOUT, body("too_slow", "the body did not arrive within 30 seconds"))
            }
            Self::MediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                body("unsupported_media_type", "expected a body of Content-Type application/json"),
            ),
            Self::Unauthorized(why) => (StatusCode::UNAUTHORIZED, body("unauthorized", why)),
            Self::Host(host) => (
                StatusCode::FORBIDDEN,
                body("forbidden_host", format!("this server does not answer to the Host {host:?}")),
            ),
            Self::CrossSite => {
                (StatusCode::FORBIDDEN, body("cross_site", "pages of another origin may not use this server"))
            }
            Self::OutOfScope(dispatch) => (
                StatusCode::FORBIDDEN,
                body("out_of_scope", format!("this token speaks for dispatch {dispatch} alone")),
            ),
            Self::Forbidden(why) => (StatusCode::FORBIDDEN, body("forbidden", why)),
            Self::TooOften(secs) => (
                StatusCode::TOO_MANY_REQUESTS,
                body("too_many_requests", format!("too many requests: try again in {secs} s")),
            ),
            Self::NotConfigured(what) => (StatusCode::INTERNAL_SERVER_ERROR, body("not_configured", what)),
            Self::NotFound(what) => (StatusCode::NOT_FOUND, body("not_found", what)),
            Self::Stale(stale) => (StatusCode::CONFLICT, stale_body(&stale.0, &stale.1)),
            Self::Store(error) => store_answer(&error),
        }
    }
}

fn body(code: &str, error: impl Into<String>) -> ErrorBody {
    ErrorBody { error: error.into(), code: code.to_owned(), ..ErrorBody::default() }
}

fn invalid(fields: Vec<FieldError>) -> ErrorBody {
    let sentences: Vec<_> =
        fields.iter().map(|field| format!("{}: {}", field.field, field.message)).collect();
    let details = serde_json::to_value(fields).ok();
    ErrorBody { details, ..body("validation", sentences.join("; ")) }
}

fn stale_body(task: &Task, dispatch: &Dispatch) -> ErrorBody {
    let why = match (dispatch.phase, task.fence > dispatch.fence) {
        (_, true) => {
            format!("was superseded: issue #{} was handed out again, fence {}", task.number, task.fence)
        }
        (Phase::Closed { reason: Some(reason), .. }, false) => format!("was closed before: {reason}"),
        (_, false) => "was closed before".to_owned(),
    };
    ErrorBody {
        details: Some(json!({ "state": task.state.as_str(), "fence": task.fence.0 })),
        order: Some("stop".to_owned()),
        ..body("stale_dispatch", format!("dispatch {} {why}", dispatch.id))
    }
}

fn store_answer(error: &Error) -> (StatusCode, ErrorBody) {
    let sentence = error.to_string();
    let conflict =
        |code, details| (StatusCode::CONFLICT, ErrorBody { details, ..body(code, sentence.clone()) });
    match error {
        Error::NoTask(_)
        | Error::NoDispatch(_)
        | Error::NoRelation(_)
        | Error::NoInboxItem(_)
        | Error::NoToken(_)
        | Error::NoProject(_)
        | Error::NoGoal(_)
        | Error::NoLabel(_)
        | Error::NoTemplate(_)
        | Error::NoVersion(_) => (StatusCode::NOT_FOUND, body("not_found", sentence)),
        Error::Invalid { field, message } => {
            let field = FieldError { field: (*field).to_owned(), message: message.clone() };
            (StatusCode::UNPROCESSABLE_ENTITY, invalid(vec![field]))
        }
        Error::Cycle(cycle) => {
            let numbers: Vec<_> = cycle.iter().map(|number| number.0).collect();
            let details = Some(json!({ "cycle": numbers }));
            (StatusCode::UNPROCESSABLE_ENTITY, ErrorBody { details, ..body("cycle", sentence) })
        }
        Error::Conflict(_) => conflict("conflict", None),
        Error::StillNeeded(_) => conflict("in_use", None),
        Error::NotWaiting(_) => conflict("not_waiting", None),
        Error::Illegal(refusal) => {
            conflict("illegal_transition", Some(legal(&legal_moves(refusal.from, Role::Agent))))
        }
        Error::Refused { from, role, .. } => {
            let asks: Vec<_> = legal_asks(*from, *role).iter().map(|(ask, _)| ask.as_str()).collect();
            conflict("illegal_transition", Some(legal(&asks)))
        }
        Error::NoMove { from, role, .. } => {
            conflict("illegal_transition", Some(legal(&legal_moves(*from, *role))))
        }
        Error::InUseByOther(from) => {
            conflict("illegal_transition", Some(legal(&legal_moves(*from, Role::Agent))))
        }
        Error::NotReady { .. } => {
            conflict("illegal_transition", Some(legal(&legal_moves(State::Queued, Role::Agent))))
        }
        Error::NotHolder { .. } | Error::HoldersField { .. } => {
            (StatusCode::FORBIDDEN, body("not_holder", sentence))
        }
        Error::KeyMismatch => (StatusCode::UNPROCESSABLE_ENTITY, body("idempotency_mismatch", sentence)),
        Error::PutAside => (StatusCode::SERVICE_UNAVAILABLE, body("unavailable", sentence)),
        Error::KeyClosed => conflict("idempotency_closed", None),
        Error::Unavailable(cause) => {
            tracing::warn!(error = %cause, "the database does not answer: {cause}");
            let sentence =
                "the database does not answer: look before you try again, or use an Idempotency-Key";
            (StatusCode::SERVICE_UNAVAILABLE, body("unavailable", sentence))
        }
        // Details of our own failures stay in the log.
        Error::Broken(_) | Error::InUse { .. } | Error::Newer { .. } | Error::BadUrl { .. } => {
            tracing::error!(error = %sentence, "a request failed: {sentence}");
            (StatusCode::INTERNAL_SERVER_ERROR, body("internal", "internal error"))
        }
    }
}

fn legal(verbs: &[&str]) -> Value {
    json!({ "legal": verbs })
}

/// Answers a path nobody serves.
pub(crate) async fn no_route(uri: Uri) -> Response {
    ApiError::NotFound(format!("there is no route {}", uri.path())).into_response()
}

/// Answers a method a path does not take.
pub(crate) async fn no_method(method: Method, uri: Uri) -> Response {
    let sentence = format!("{} does not take {method}", uri.path());
    (StatusCode::METHOD_NOT_ALLOWED, Json(body("method_not_allowed", sentence))).into_response()
}
