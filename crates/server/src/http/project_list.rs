//! `GET /api/projects`: a page of projects, oldest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::{Many, PageQuery};
use extraboard_api::project::Project;
use extraboard_store::verbs::ProjectList;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::Params;
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Many<Project>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let (views, total) = app.desk.read(ProjectList { offset: page.offset, limit: page.limit }).await?;
    Ok(Json(Many { data: views.into_iter().map(convert::project::project).collect(), total }))
}
