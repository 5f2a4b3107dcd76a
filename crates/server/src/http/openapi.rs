//! `GET /api/openapi.json`: the contract for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;

use crate::app::App;
use crate::extract::{Nothing, Params};
use crate::openapi;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Json<&'static Value> {
    Json(openapi::document(app.settings.version))
}
