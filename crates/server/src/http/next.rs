//! `GET|POST /api/dispatch/next`: hand out the first task in line for whoever asks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use extraboard_api::claimer::{NextBody, NextQuery};
use extraboard_api::dispatch::Next;
use extraboard_core::caller::Caller;
use extraboard_desk::{Claim, Delivery};
use extraboard_store::error::Error;
use tokio::time::timeout;

use crate::app::App;
use crate::error::{self, ApiError};
use crate::extract::{Body, By, KeyHeader, KnownBy, Nothing, Params};
use crate::guard::Credential;
use crate::validate::Problems;
use crate::{claimer, convert, delivered};

/// The longest a claim may wait for work.
const WAIT_MAX: Duration = Duration::from_mins(1);

pub(crate) async fn get(
    State(app): State<Arc<App>>,
    By(caller): By,
    KnownBy(credential): KnownBy,
    key: KeyHeader,
    Params(query): Params<NextQuery>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, ApiError> {
    claim(&app, (caller, credential), key, query, NextBody::default()).await
}

pub(crate) async fn post(
    State(app): State<Arc<App>>,
    By(caller): By,
    KnownBy(credential): KnownBy,
    key: KeyHeader,
    Params(query): Params<NextQuery>,
    Body(body): Body<NextBody>,
) -> Result<Response, ApiError> {
    claim(&app, (caller, credential), key, query, body).await
}

async fn claim(
    app: &App,
    (caller, credential): (Caller, Credential),
    key: KeyHeader,
    query: NextQuery,
    body: NextBody,
) -> Result<Response, ApiError> {
    let mut problems = Problems::default();
    let wait = query.wait.as_deref().map(|text| problems.wait("wait", text, WAIT_MAX));
    let said = claimer::joined(&mut problems, query.claimer(), body);
    let unplaced = claimer::read(&mut problems, caller.to_string(), said);
    problems.check()?;
    let claimer = unplaced.place(app).await?.claimer;
    let key = key.used_for(&claimer::parameters(&claimer));
    let claim = Claim { caller, claimer, key };
    let answer = match wait {
        Some(wait) if !wait.is_zero() => {
            let enough = async { drop(timeout(wait, app.stopping()).await) };
            let answer = app.desk.deliver_until(claim, enough).await?;
            if let Err(error) = credential.check(app).await {
                if let Ok(delivery) = answer {
                    delivery.give_back();
                }
                return Err(error);
            }
            answer
        }
        _ => app.desk.deliver(claim).await?,
    };
    match answer {
        Ok(delivery) => hand_out(app, delivery).await,
        Err(nothing) => {
            let reason = ("extraboard-reason", nothing.as_str().to_owned());
            let retry_after = ("retry-after", app.desk.poll_interval_secs().to_string());
            Ok((StatusCode::NO_CONTENT, [reason, retry_after]).into_response())
        }
    }
}

async fn hand_out(app: &App, delivery: Delivery) -> Result<Response, ApiError> {
    let lost = || Error::Broken("a delivery without a task".to_owned());
    let work = delivery.claimed().ok_or_else(lost)?;
    let dispatch = &work.dispatch;
    let next = Next {
        issue: convert::issue(work.task.clone(), Some(dispatch)),
        prompt: convert::prompt(&app.settings.key, dispatch),
        meta: app.meta(dispatch).await?,
        dispatch: convert::ticket(&app.settings.key, dispatch),
    };
    delivered::json(&next, delivery)
}

/// A question about headers must not take work.
pub(crate) async fn refuse_head(method: Method, uri: Uri) -> Response {
    ([(header::ALLOW, "GET,POST")], error::no_method(method, uri).await).into_response()
}
