//! `DELETE /api/relations/:id`: take a relation back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use extraboard_store::verbs::RelationDelete;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{By, Nothing, Params, RelationPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    RelationPath(relation): RelationPath,
) -> Result<StatusCode, ApiError> {
    app.desk.write(RelationDelete { ctx: app.desk.ctx(caller), relation }).await?;
    Ok(StatusCode::NO_CONTENT)
}
