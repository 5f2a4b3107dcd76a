//! `POST /api/issues/:id/relations`: relate an issue to another one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::One;
use extraboard_api::relation::{Relation, RelationCreate};
use extraboard_core::id::TaskRef;
use extraboard_core::words::UnknownWord;
use extraboard_store::verbs::{self, TaskGet};

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
    Body(body): Body<RelationCreate>,
) -> Result<(StatusCode, Json<One<Relation>>), ApiError> {
    // Not a matter of range: a relation of another type is another request.
    let relation_type = body.kind.parse().map_err(|error: UnknownWord| ApiError::Malformed {
        field: Some("type".to_owned()),
        message: format!("{error}, got {:?}", body.kind),
    })?;
    let other = issue_ref("relatedIssueId", body.related_issue_id.as_str())?;
    let seen_from = match task {
        TaskRef::Id(id) => id,
        TaskRef::Number(_) => app.desk.read(TaskGet { task }).await?.task.id,
    };
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_relation_id());
    let created = app.desk.write(verbs::RelationCreate { ctx, id, task, relation_type, other }).await?;
    let status = if created.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(One { data: convert::relation(seen_from, &created.related) })))
}
