//! `POST /api/prompt-reviews` and `GET /api/templates/:id/reviews`: what agents and people think of prompts.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::review::{PromptReview, PromptReviewCreate};
use extraboard_core::caller::Caller;
use extraboard_core::id::{DispatchId, TaskRef, VersionId};
use extraboard_core::review::{FEEDBACK_CHARS_MAX, Marks};
use extraboard_core::task::OWNER_CHARS_MAX;
use extraboard_store::verbs::{DispatchGet, ReviewCreate, ReviewList, TaskGet};

use crate::app::App;
use crate::convert::template::review;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TemplatePath};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
    TemplatePath(template): TemplatePath,
) -> Result<Json<Many<PromptReview>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let list = ReviewList { template, offset: page.offset, limit: page.limit };
    let (reviews, total) = app.desk.read(list).await?;
    Ok(Json(Many { data: reviews.into_iter().map(review).collect(), total }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    Body(body): Body<PromptReviewCreate>,
) -> Result<(StatusCode, Json<One<PromptReview>>), ApiError> {
    let marks = marks(&body)?;
    let mut problems = Problems::default();
    if let Some(feedback) = &body.feedback {
        problems.text("feedback", feedback, FEEDBACK_CHARS_MAX);
    }
    if let Some(name) = &body.author_name {
        problems.name("authorName", name, OWNER_CHARS_MAX);
    }
    let author_type = body.author_type.as_deref().and_then(|word| problems.word("authorType", word));
    let task = problems.issue_ref("issueId", body.issue_id.as_str());
    problems.check()?;
    // What cannot be the id of a version is the id of none.
    let missing = || ApiError::NotFound(format!("there is no version {:?}", body.version_id));
    let version: VersionId = body.version_id.parse().map_err(|_| missing())?;
    let task = task.ok_or_else(missing)?;
    let author = match body.author_name {
        Some(name) => Some(name),
        None => app.holder(&caller).await?,
    };
    let create = ReviewCreate {
        dispatch: own_dispatch(&app, &caller, version, task).await?,
        ctx: app.desk.ctx(caller),
        id: app.desk.new_review_id(),
        version,
        task,
        marks,
        feedback: body.feedback,
        author_type,
        author,
        improvement: (app.desk.new_task_id(), [app.desk.new_label_id(), app.desk.new_label_id()]),
    };
    let taken = Box::pin(app.desk.write(create)).await?;
    let status = if taken.is_repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(One { data: review(taken.review) })))
}

/// Reads the marks. One out of range is a malformed request, as an unknown type of relation is.
fn marks(body: &PromptReviewCreate) -> Result<Marks, ApiError> {
    for (field, mark) in
        [("clarity", body.clarity), ("completeness", body.completeness), ("relevance", body.relevance)]
    {
        if !(1..=5).contains(&mark) {
            let message = format!("expected 1 to 5, got {mark}");
            return Err(ApiError::Malformed { field: Some(field.to_owned()), message });
        }
    }
    Ok(Marks { clarity: body.clarity, completeness: body.completeness, relevance: body.relevance })
}

/// Returns the dispatch a caller's token speaks for: it reviews the prompt it was given, once.
async fn own_dispatch(
    app: &App,
    caller: &Caller,
    version: VersionId,
    task: TaskRef,
) -> Result<Option<DispatchId>, ApiError> {
    let Caller::Holder { dispatch, .. } = caller else { return Ok(None) };
    let held = app.desk.read(DispatchGet { dispatch: *dispatch }).await?;
    let own = app.desk.read(TaskGet { task: TaskRef::Number(held.task) }).await?.task;
    let is_own = task == TaskRef::Number(own.number) || task == TaskRef::Id(own.id);
    match held.version {
        Some(sent) if sent == version && is_own => Ok(Some(*dispatch)),
        _ if app.is_loopback() => Ok(None),
        _ => Err(ApiError::OutOfScope(*dispatch)),
    }
}
