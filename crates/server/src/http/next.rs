//! `GET|POST /api/dispatch/next`: hand out the first task in line for whoever asks.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use extraboard_api::claimer::{ClaimerQuery, NextBody};
use extraboard_api::dispatch::Next;
use extraboard_core::caller::Caller;
use extraboard_desk::Claim;
use extraboard_store::verbs::Claimed;

use crate::app::App;
use crate::error::{self, ApiError};
use crate::extract::{Body, By, KeyHeader, Nothing, Params};
use crate::validate::Problems;
use crate::{claimer, convert};

pub(crate) async fn get(
    State(app): State<Arc<App>>,
    By(caller): By,
    key: KeyHeader,
    Params(query): Params<ClaimerQuery>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, ApiError> {
    claim(&app, caller, key, query, NextBody::default()).await
}

pub(crate) async fn post(
    State(app): State<Arc<App>>,
    By(caller): By,
    key: KeyHeader,
    Params(query): Params<ClaimerQuery>,
    Body(body): Body<NextBody>,
) -> Result<Response, ApiError> {
    claim(&app, caller, key, query, body).await
}

async fn claim(
    app: &App,
    caller: Caller,
    key: KeyHeader,
    query: ClaimerQuery,
    body: NextBody,
) -> Result<Response, ApiError> {
    let mut problems = Problems::default();
    let said = claimer::joined(&mut problems, query, body);
    let unplaced = claimer::read(&mut problems, caller.to_string(), said);
    problems.check()?;
    let claimer = unplaced.place(app).await?.claimer;
    let key = key.used_for(&claimer::parameters(&claimer));
    match app.desk.claim(Claim { caller, claimer, key }).await? {
        Ok(work) => Ok(Json(handed_out(app, work)).into_response()),
        Err(nothing) => {
            let reason = ("extraboard-reason", nothing.as_str().to_owned());
            let retry_after = ("retry-after", app.desk.poll_interval_secs().to_string());
            Ok((StatusCode::NO_CONTENT, [reason, retry_after]).into_response())
        }
    }
}

fn handed_out(app: &App, work: Claimed) -> Next {
    let dispatch = work.dispatch;
    Next {
        issue: convert::issue(work.task, Some(&dispatch)),
        prompt: dispatch.prompt.clone(),
        meta: None,
        dispatch: convert::ticket(&app.settings.key, &dispatch),
    }
}

/// A question about headers must not take work.
pub(crate) async fn refuse_head(method: Method, uri: Uri) -> Response {
    ([(header::ALLOW, "GET,POST")], error::no_method(method, uri).await).into_response()
}
