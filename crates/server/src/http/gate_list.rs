//! `GET /api/gates`: the provider accounts that refused work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::Many;
use extraboard_api::gate::AccountGate;
use extraboard_store::verbs::GateList;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<Many<AccountGate>>, ApiError> {
    let gates = app.desk.read(GateList).await?.into_iter().map(|(account, gate)| AccountGate {
        provider: account.provider,
        account: account.account,
        hits: gate.hits,
        until: Some(convert::time(gate.until)),
    });
    Ok(Json(Many::whole(gates.collect())))
}
