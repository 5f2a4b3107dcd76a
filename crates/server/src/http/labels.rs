//! `/api/labels`: the words people sort issues by.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::label::{Label, LabelCreate, LabelPatch};
use extraboard_core::label::{COLOR_CHARS_MAX, LABEL_CHARS_MAX};
use extraboard_store::verbs::{self, LabelDelete, LabelList};

use crate::app::App;
use crate::convert::label::label;
use crate::error::ApiError;
use crate::extract::{Body, By, LabelPath, Nothing, Params};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Many<Label>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let (labels, total) = app.desk.read(LabelList { offset: page.offset, limit: page.limit }).await?;
    Ok(Json(Many { data: labels.into_iter().map(label).collect(), total }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    Body(body): Body<LabelCreate>,
) -> Result<(StatusCode, Json<One<Label>>), ApiError> {
    check(Some(&body.name), Some(&body.color))?;
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_label_id());
    let create = verbs::LabelCreate { ctx, id, name: body.name, color: body.color };
    Ok((StatusCode::CREATED, Json(One { data: label(app.desk.write(create).await?) })))
}

pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    LabelPath(name): LabelPath,
    Body(body): Body<LabelPatch>,
) -> Result<Json<One<Label>>, ApiError> {
    check(body.name.as_deref(), body.color.as_deref())?;
    let ctx = app.desk.ctx(caller);
    let patch = verbs::LabelPatch { ctx, label: name, name: body.name, color: body.color };
    Ok(Json(One { data: label(app.desk.write(patch).await?) }))
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    LabelPath(label): LabelPath,
) -> Result<StatusCode, ApiError> {
    app.desk.write(LabelDelete { ctx: app.desk.ctx(caller), label }).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check(name: Option<&str>, color: Option<&str>) -> Result<(), ApiError> {
    let mut problems = Problems::default();
    if let Some(name) = name {
        problems.name("name", name, LABEL_CHARS_MAX);
        if name.parse::<uuid::Uuid>().is_ok() {
            problems.add("name", "expected a name, got a uuid");
        }
    }
    if let Some(color) = color {
        problems.name("color", color, COLOR_CHARS_MAX);
    }
    problems.check()
}
