//! `GET /api/issues/:id`: one issue, with what stands around it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::issue::IssueDetail;
use extraboard_store::verbs::{TaskGet, TaskRelatives};

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
    let around = app.desk.read(TaskRelatives { task }).await?;
    let id = view.task.id;
    let detail = IssueDetail {
        issue: convert::issue(view.task, view.dispatch.as_ref()),
        parent: around.parent.as_ref().map(convert::brief),
        children: around.children.iter().map(convert::brief).collect(),
        relations: around.related.iter().map(|related| convert::relation(id, related)).collect(),
    };
    Ok(Json(One { data: detail }))
}
