//! `GET /api/status`: how the desk is doing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::status::DeskStatus;
use extraboard_store::verbs::CountsRead;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<One<DeskStatus>>, ApiError> {
    let counts = app.desk.read(CountsRead).await?;
    let states = counts.states.into_iter().map(|(state, tasks)| (state.as_str().to_owned(), tasks)).collect();
    Ok(Json(One {
        data: DeskStatus {
            version: app.settings.version.to_owned(),
            database: app.desk.database().to_owned(),
            started_at: convert::time(app.settings.started_at),
            pid: std::process::id(),
            line: counts.line,
            unclosed: counts.unclosed,
            states,
            pos: counts.pos.0,
        },
    }))
}
