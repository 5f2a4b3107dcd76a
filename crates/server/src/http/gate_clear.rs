//! `DELETE /api/gates/:provider/:account`: open the gate of an account before its time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use extraboard_store::verbs::GateClear;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{AccountPath, Admin, Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Params(Nothing {}): Params<Nothing>,
    AccountPath(account): AccountPath,
) -> Result<StatusCode, ApiError> {
    let clear = GateClear { ctx: app.desk.ctx(caller), account: account.clone() };
    if app.desk.write(clear).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(ApiError::NotFound(format!("there is no gate of {account}")))
}
