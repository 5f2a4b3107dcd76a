//! `POST /api/issues/:id/move`: put an issue right before or after another one in line.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::order::{IssueMove, IssueMoved};
use extraboard_core::id::TaskRef;
use extraboard_store::verbs::{Side, TaskReorder};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};
use crate::validate::issue_ref;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Body(body): Body<IssueMove>,
) -> Result<Json<IssueMoved>, ApiError> {
    let (side, other) = read(&body)?;
    let reorder = TaskReorder { ctx: app.desk.ctx(caller), task, side, other };
    let moved = app.desk.write(reorder).await?;
    Ok(Json(IssueMoved {
        data: convert::issue(moved.task, None),
        position: moved.position,
        position_capped: moved.capped,
    }))
}

fn read(body: &IssueMove) -> Result<(Side, TaskRef), ApiError> {
    match body {
        IssueMove::Before(other) => Ok((Side::Before, issue_ref("before", other.as_str())?)),
        IssueMove::After(other) => Ok((Side::After, issue_ref("after", other.as_str())?)),
    }
}
