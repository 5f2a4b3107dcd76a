//! `GET|POST /api/dispatch/next`: hand out the first task in line.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use extraboard_api::dispatch::Next;
use extraboard_core::doors::Door;
use extraboard_desk::Claim;

use crate::app::App;
use crate::convert;
use crate::error::{self, ApiError};
use crate::extract::{Body, By, KeyHeader, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    By(caller): By,
    key: KeyHeader,
    Params(Nothing {}): Params<Nothing>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, ApiError> {
    let claim = Claim { caller, door: Door::Pull, key: key.used_for("door=pull") };
    match app.desk.claim(claim).await? {
        Ok(claimed) => {
            let dispatch = claimed.dispatch;
            Ok(Json(Next {
                issue: convert::issue(claimed.task, Some(&dispatch)),
                prompt: dispatch.prompt.clone(),
                meta: None,
                dispatch: convert::ticket(&app.settings.key, &dispatch),
            })
            .into_response())
        }
        Err(nothing) => {
            Ok((StatusCode::NO_CONTENT, [("extraboard-reason", nothing.as_str())]).into_response())
        }
    }
}

/// A question about headers must not take work.
pub(crate) async fn refuse_head(method: Method, uri: Uri) -> Response {
    ([(header::ALLOW, "GET,POST")], error::no_method(method, uri).await).into_response()
}
