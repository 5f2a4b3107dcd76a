//! `GET /api/goals`: a page of goals, oldest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::{Many, PageQuery};
use extraboard_api::goal::Goal;
use extraboard_store::verbs::GoalList;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::Params;
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Many<Goal>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let (goals, total) = app.desk.read(GoalList { offset: page.offset, limit: page.limit }).await?;
    Ok(Json(Many { data: convert::goal::goals(&app, goals).await?, total }))
}
