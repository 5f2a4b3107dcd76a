//! `GET /api/issues/:id`: one issue.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::issue::IssueDetail;
use extraboard_store::verbs::TaskGet;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params, TaskPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    TaskPath(task): TaskPath,
) -> Result<Json<One<IssueDetail>>, ApiError> {
    let view = app.desk.read(TaskGet { task }).await?;
    let issue = convert::issue(view.task, view.dispatch.as_ref());
    // Nothing can be related to an issue yet.
    let detail =
        IssueDetail { issue, parent: None, children: Vec::new(), labels: Vec::new(), relations: Vec::new() };
    Ok(Json(One { data: detail }))
}
