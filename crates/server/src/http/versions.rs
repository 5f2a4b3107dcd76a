//! `/api/templates/:id/versions`: the texts of a template, and which one is in use.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::template::{Version, VersionCreate};
use extraboard_core::comment::COMMENT_CHARS_MAX;
use extraboard_core::task::OWNER_CHARS_MAX;
use extraboard_prompts::compile;
use extraboard_store::verbs::{self, VersionList, VersionPromote};

use crate::app::App;
use crate::convert::template::version;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TemplatePath, VersionPath};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
    TemplatePath(template): TemplatePath,
) -> Result<Json<Many<Version>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    app.count_prompts().await;
    let list = VersionList { template, offset: page.offset, limit: page.limit };
    let (versions, total) = app.desk.read(list).await?;
    Ok(Json(Many { data: versions.iter().map(version).collect(), total }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TemplatePath(template): TemplatePath,
    Body(body): Body<VersionCreate>,
) -> Result<(StatusCode, Json<One<Version>>), ApiError> {
    let mut problems = Problems::default();
    if let Err(error) = compile(&body.content) {
        problems.add("content", error.to_string());
    }
    if let Some(changelog) = &body.changelog {
        problems.text("changelog", changelog, COMMENT_CHARS_MAX);
    }
    if let Some(name) = &body.author_name {
        problems.name("authorName", name, OWNER_CHARS_MAX);
    }
    let author_type = body.author_type.as_deref().and_then(|word| problems.word("authorType", word));
    problems.check()?;
    let create = verbs::VersionCreate {
        ctx: app.desk.ctx(caller),
        id: app.desk.new_version_id(),
        template,
        content: body.content,
        changelog: body.changelog,
        author_type,
        author: body.author_name,
    };
    Ok((StatusCode::CREATED, Json(One { data: version(&app.desk.write(create).await?) })))
}

pub(crate) async fn promote(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TemplatePath(template): TemplatePath,
    VersionPath(promoted): VersionPath,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<One<Version>>, ApiError> {
    let (ctx, epoch) = (app.desk.ctx(caller), app.desk.new_version_id());
    let promote = VersionPromote { ctx, template, version: promoted, epoch };
    Ok(Json(One { data: version(&app.desk.write(promote).await?) }))
}
