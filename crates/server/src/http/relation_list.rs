//! `GET /api/issues/:id/relations`: what an issue has to do with others.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::Many;
use extraboard_api::relation::Relation;
use extraboard_store::verbs::RelationList;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params, TaskPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    TaskPath(task): TaskPath,
) -> Result<Json<Many<Relation>>, ApiError> {
    let relations = app.desk.read(RelationList { task }).await?;
    let id = relations.task.id;
    let data: Vec<_> = relations.related.iter().map(|related| convert::relation(id, related)).collect();
    Ok(Json(Many::whole(data)))
}
