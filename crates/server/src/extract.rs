//! Reading requests: bodies, queries, ids and headers, with errors that name the field.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use extraboard_core::caller::Caller;
use extraboard_core::gate::Account;
use extraboard_core::id::{DispatchId, GoalId, InboxId, RelationId, TaskRef};
use extraboard_store::verbs::{IdempotencyKey, LabelRef, ProjectRef, TemplateRef, VersionRef};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;
use crate::guard::Credential;
use crate::tokens::hash_token;

/// The largest body.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// The longest idempotency key.
const KEY_CHARS_MAX: usize = 200;

/// A JSON body. An empty one reads as `{}`: most reports need no words.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, ApiError> {
        let is_json = is_json(request.headers());
        let bytes = read_body(request).await?;
        if bytes.is_empty() {
            return parse(&Bytes::from_static(b"{}")).map(Self);
        }
        if !is_json {
            return Err(ApiError::MediaType);
        }
        parse(&bytes).map(Self)
    }
}

async fn read_body(request: Request) -> Result<Bytes, ApiError> {
    let reading = to_bytes(request.into_body(), BODY_BYTES_MAX);
    let read = tokio::time::timeout(BODY_PATIENCE, reading).await.map_err(|_| ApiError::TooSlow)?;
    read.map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        if cause.contains("length limit") {
            return ApiError::TooLarge;
        }
        ApiError::Malformed { field: None, message: format!("the body broke off: {cause}") }
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // Serde would also read a list as the fields in their order.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        let message = "expected a JSON object".to_owned();
        return Err(ApiError::Malformed { field: None, message });
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        malformed(&path, &error.inner().to_string())
    })?;
    reader.end().map_err(|error| malformed(".", &error.to_string()))?;
    Ok(value)
}

/// Turns what serde says into what was expected, by field.
fn malformed(path: &str, message: &str) -> ApiError {
    let message = message.split(" at line ").next().unwrap_or(message);
    if let Some(field) = quoted_after(message, "unknown field ") {
        let message = unknown_field(&field, message);
        return ApiError::Malformed { field: Some(within(path, &field)), message };
    }
    for (fault, expected) in [("missing field ", "is required"), ("duplicate field ", "is given twice")] {
        if let Some(field) = quoted_after(message, fault) {
            let field = Some(within(path, &field));
            return ApiError::Malformed { field, message: expected.to_owned() };
        }
    }
    let message =
        message.replace("expected i64", "expected an integer").replace("expected f64", "expected a number");
    let field = (path != "." && path != "?").then(|| path.to_owned());
    let message = match &field {
        Some(_) => message,
        None => format!("the request is not as expected: {message}"),
    };
    ApiError::Malformed { field, message }
}

fn quoted_after(message: &str, start: &str) -> Option<String> {
    let rest = message.find(start).map(|at| &message[at + start.len()..])?;
    rest.strip_prefix('`')?.split('`').next().map(str::to_owned)
}

/// Returns the path of a field, where serde names the field alone.
fn within(path: &str, field: &str) -> String {
    match path.strip_suffix(field).unwrap_or(path).trim_end_matches('.') {
        "" | "?" => field.to_owned(),
        parent => format!("{parent}.{field}"),
    }
}

/// Names the nearest field there is.
fn unknown_field(field: &str, message: &str) -> String {
    let known = message.split('`').skip(3).step_by(2);
    let nearest =
        known.map(|known| (strsim::jaro_winkler(field, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, known)) if likeness > 0.7 => format!("unknown field, did you mean {known}?"),
        _ => "unknown field".to_owned(),
    }
}

/// A query string whose every parameter is known.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => Err(malformed_query(&rejection.body_text())),
        }
    }
}

fn malformed_query(text: &str) -> ApiError {
    let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(text);
    let (field, message) = text.split_once(": ").unwrap_or((".", text));
    let message = message.replace("invalid digit found in string", "expected an integer");
    malformed(field, &message)
}

/// No parameters at all.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The task a path names.
pub(crate) struct TaskPath(pub(crate) TaskRef);

impl FromRequestParts<Arc<App>> for TaskPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "id").await?;
        let task = text.parse::<TaskRef>().map_err(|error| ApiError::Malformed {
            field: Some("id".to_owned()),
            message: format!("{error}, got {text:?}"),
        })?;
        Ok(Self(task))
    }
}

/// The dispatch a path names.
pub(crate) struct DispatchPath(pub(crate) DispatchId);

impl FromRequestParts<Arc<App>> for DispatchPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        path_uuid(parts, app, "dispatch").await.map(Self)
    }
}

/// The relation a path names.
pub(crate) struct RelationPath(pub(crate) RelationId);

impl FromRequestParts<Arc<App>> for RelationPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        path_uuid(parts, app, "relation").await.map(Self)
    }
}

/// The goal a path names.
pub(crate) struct GoalPath(pub(crate) GoalId);

impl FromRequestParts<Arc<App>> for GoalPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        path_uuid(parts, app, "goal").await.map(Self)
    }
}

/// The item of the inbox a path names.
pub(crate) struct InboxPath(pub(crate) InboxId);

impl FromRequestParts<Arc<App>> for InboxPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "id").await?;
        let item = text.parse().ok().filter(|number| *number > 0).map(InboxId);
        item.map(Self).ok_or_else(|| ApiError::Malformed {
            field: Some("id".to_owned()),
            message: format!("expected the number of an inbox item, got {text:?}"),
        })
    }
}

/// The token a path names.
pub(crate) struct TokenPath(pub(crate) String);

impl FromRequestParts<Arc<App>> for TokenPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let id = path_part(parts, app, "id").await?;
        if id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(id));
        }
        Err(ApiError::NotFound(format!("there is no token {id:?}")))
    }
}

/// The project a path names, by uuid or name.
pub(crate) struct ProjectPath(pub(crate) ProjectRef);

impl FromRequestParts<Arc<App>> for ProjectPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "id").await?;
        // No name has control characters, and a database would not even look for some of them.
        if text.chars().any(char::is_control) {
            return Err(ApiError::NotFound(format!("there is no project {text:?}")));
        }
        Ok(Self(ProjectRef::new(&text)))
    }
}

/// The label a path names, by uuid or name.
pub(crate) struct LabelPath(pub(crate) LabelRef);

impl FromRequestParts<Arc<App>> for LabelPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "id").await?;
        // As for projects.
        if text.chars().any(char::is_control) {
            return Err(ApiError::NotFound(format!("there is no label {text:?}")));
        }
        Ok(Self(LabelRef::new(&text)))
    }
}

/// The template a path names, by uuid or slug.
pub(crate) struct TemplatePath(pub(crate) TemplateRef);

impl FromRequestParts<Arc<App>> for TemplatePath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "id").await?;
        // As for projects.
        if text.chars().any(char::is_control) {
            return Err(ApiError::NotFound(format!("there is no template {text:?}")));
        }
        Ok(Self(TemplateRef::new(&text)))
    }
}

/// The version a path names, by uuid or number.
pub(crate) struct VersionPath(pub(crate) VersionRef);

impl FromRequestParts<Arc<App>> for VersionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let text = path_part(parts, app, "version").await?;
        let number = text.parse().ok().filter(|number| *number > 0).map(VersionRef::Number);
        let version = number.or_else(|| text.parse().ok().map(VersionRef::Id));
        version.map(Self).ok_or_else(|| ApiError::Malformed {
            field: Some("versionId".to_owned()),
            message: format!("expected a version's uuid or number, got {text:?}"),
        })
    }
}

/// A body as it came, byte for byte, whatever it is.
pub(crate) struct Raw(pub(crate) Bytes);

impl FromRequest<Arc<App>> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, ApiError> {
        read_body(request).await.map(Self)
    }
}

/// The provider account a path names.
pub(crate) struct AccountPath(pub(crate) Account);

/// How a path names the account of a provider that has only one.
const ACCOUNT_ONLY: &str = "-";

impl FromRequestParts<Arc<App>> for AccountPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let provider = path_part(parts, app, "provider").await?;
        let account = path_part(parts, app, "account").await?;
        let account = if account == ACCOUNT_ONLY { String::new() } else { account };
        let account = Account { provider, account };
        // As for projects.
        if account.to_string().chars().any(char::is_control) {
            return Err(ApiError::NotFound(format!("there is no account {:?}", account.to_string())));
        }
        Ok(Self(account))
    }
}

/// Returns the uuid that is the `id` of a path.
async fn path_uuid<I: FromStr>(parts: &mut Parts, app: &Arc<App>, what: &str) -> Result<I, ApiError> {
    let text = path_part(parts, app, "id").await?;
    text.parse().map_err(|_| ApiError::Malformed {
        field: Some("id".to_owned()),
        message: format!("expected a {what}'s uuid, got {text:?}"),
    })
}

/// Returns a part of a path by its name.
async fn path_part(parts: &mut Parts, app: &Arc<App>, name: &str) -> Result<String, ApiError> {
    let path = Path::<std::collections::HashMap<String, String>>::from_request_parts(parts, app).await;
    let part = path.ok().and_then(|Path(mut parts)| parts.remove(name));
    part.ok_or_else(|| ApiError::NotFound("there is no such route".to_owned()))
}

/// Whoever the guard found to be calling.
pub(crate) struct By(pub(crate) Caller);

impl FromRequestParts<Arc<App>> for By {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.map(Self).ok_or(ApiError::Unauthorized("nobody is known to be calling"))
    }
}

/// What the caller is known by, where a request waits or streams.
pub(crate) struct KnownBy(pub(crate) Credential);

impl FromRequestParts<Arc<App>> for KnownBy {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let credential = parts.extensions.get::<Credential>().cloned();
        credential.map(Self).ok_or(ApiError::Unauthorized("nobody is known to be calling"))
    }
}

/// A person, where nobody else may: to change the rules is not an agent's business.
pub(crate) struct Admin(pub(crate) Caller);

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let By(caller) = By::from_request_parts(parts, app).await?;
        match caller {
            Caller::Person(_) => Ok(Self(caller)),
            Caller::Holder { dispatch, .. } => Err(ApiError::OutOfScope(dispatch)),
            Caller::Agent(_) if parts.headers.contains_key(header::AUTHORIZATION) => {
                Err(ApiError::Forbidden("this is for persons: the token is not an admin's"))
            }
            Caller::Agent(_) | Caller::Anonymous | Caller::Desk => {
                Err(ApiError::Unauthorized("this is for persons: send Authorization: Bearer <admin token>"))
            }
        }
    }
}

/// The `Idempotency-Key` header, if one was sent.
pub(crate) struct KeyHeader(Option<String>);

impl FromRequestParts<Arc<App>> for KeyHeader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let key = value.to_str().ok().filter(|key| (1..=KEY_CHARS_MAX).contains(&key.len()));
        match key {
            Some(key) => Ok(Self(Some(key.to_owned()))),
            None => Err(ApiError::Malformed {
                field: Some("Idempotency-Key".to_owned()),
                message: format!("expected 1 to {KEY_CHARS_MAX} printable ASCII characters"),
            }),
        }
    }
}

impl KeyHeader {
    /// Joins the key with what it was used for.
    pub(crate) fn used_for(self, parameters: &str) -> Option<IdempotencyKey> {
        self.0.map(|key| IdempotencyKey { key, fingerprint: hash_token(parameters) })
    }
}

#[cfg(test)]
mod tests {
    use extraboard_api::dispatch::QueueQuery;
    use extraboard_api::issue::IssueCreate;

    use super::*;

    fn check(body: &str, expected: &str) {
        match parse::<IssueCreate>(body.as_bytes()) {
            Err(ApiError::Malformed { field, message }) => {
                let field = field.map_or(String::new(), |field| format!("{field}: "));
                assert_eq!(format!("{field}{message}"), expected);
            }
            other => panic!("{body} gave {other:?}"),
        }
    }

    #[test]
    fn a_bad_body_names_the_field_and_what_was_expected() {
        check(r#"{"type": "task"}"#, "title: is required");
        check(r#"{"title": "t", "title": "u", "type": "task"}"#, "title: is given twice");
        check(
            r#"{"title": "t", "type": "task", "priority": "high"}"#,
            "priority: invalid type: string \"high\", expected an integer",
        );
        check(
            r#"{"title": "t", "type": "task", "prioritty": 1}"#,
            "prioritty: unknown field, did you mean priority?",
        );
        check(r#"{"title": "t", "type": "task", "zzz": 1}"#, "zzz: unknown field");
        for other in ["[1]", "[]", "1", "null", "x"] {
            check(other, "expected a JSON object");
        }
        check(r#"{"title": "#, "title: EOF while parsing a value");
        check(r#"{"title": "t", "type": "task"} x"#, "the request is not as expected: trailing characters");
    }

    #[test]
    fn a_bad_query_names_the_parameter() {
        let uri = "/api/dispatch/queue?limit=ten".parse().unwrap();
        let text = Query::<QueueQuery>::try_from_uri(&uri).unwrap_err().body_text();
        match malformed_query(&text) {
            ApiError::Malformed { field, message } => {
                assert_eq!((field.as_deref(), message.as_str()), (Some("limit"), "expected an integer"));
            }
            other => panic!("{other:?}"),
        }
        let uri = "/api/dispatch/queue?limt=1".parse().unwrap();
        let text = Query::<QueueQuery>::try_from_uri(&uri).unwrap_err().body_text();
        match malformed_query(&text) {
            ApiError::Malformed { field, message } => {
                let expected = (Some("limt"), "unknown field, did you mean limit?");
                assert_eq!((field.as_deref(), message.as_str()), expected);
            }
            other => panic!("{other:?}"),
        }
    }
}
