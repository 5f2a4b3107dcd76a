//! `GET /api/dispatches/:id/prompt`: what a dispatch was handed out with.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use extraboard_api::dispatch::DispatchPrompt;
use extraboard_api::envelope::One;
use extraboard_store::error::Error;
use extraboard_store::verbs::DispatchGet;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{By, DispatchPath, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    DispatchPath(id): DispatchPath,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let dispatch = app.desk.read(DispatchGet { dispatch: id }).await?;
    if !caller.is_person() && !caller.holds(&dispatch) {
        return Err(Error::NotHolder { dispatch: id, holder: dispatch.holder }.into());
    }
    // A token that a person reads here would outlive the look at it.
    let prompt =
        if caller.holds(&dispatch) { convert::prompt(&app.settings.key, &dispatch) } else { dispatch.prompt };
    let number = dispatch.task.0;
    if wants_text(&headers) {
        return Ok(prompt.unwrap_or_default().into_response());
    }
    Ok(Json(One { data: DispatchPrompt { dispatch_id: id.to_string(), number, prompt } }).into_response())
}

/// Tells whether the caller wants the prompt as it is, for a shell to pass on.
fn wants_text(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("text/plain"))
}
