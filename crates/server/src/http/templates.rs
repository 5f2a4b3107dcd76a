//! `/api/templates`: what prompts are made by, and for which issues.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::template::{self as wire, Template, TemplateCreate, TemplateDetail, TemplatePatch};
use extraboard_core::project::NAME_CHARS_MAX;
use extraboard_core::template::{CONDITION_LABELS_MAX, Conditions, SPECIFICITY_MAX, is_slug};
use extraboard_store::verbs::{self, TemplateDelete, TemplateEdit, TemplateGet, TemplateList};

use crate::app::App;
use crate::convert::template::{template, version};
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TemplatePath};
use crate::validate::{Problems, SOURCE_CHARS_MAX};

/// The slug that addresses take for something else.
const RESERVED: &str = "preview";

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Many<Template>>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let (templates, total) = app.desk.read(TemplateList { offset: page.offset, limit: page.limit }).await?;
    Ok(Json(Many { data: templates.iter().map(template).collect(), total }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    Body(body): Body<TemplateCreate>,
) -> Result<(StatusCode, Json<One<Template>>), ApiError> {
    let mut problems = Problems::default();
    if body.slug == RESERVED {
        problems.add("slug", "expected another: that one stands for previews in addresses");
    }
    if !is_slug(&body.slug) {
        let expected = "expected 1 to 200 lower-case letters and digits, in parts joined by -";
        problems.add("slug", format!("{expected}, got {:?}", body.slug));
    }
    let patch = TemplatePatch {
        name: Some(body.name.clone()),
        description: body.description.map(Some),
        conditions: body.conditions,
        specificity: body.specificity,
        project_id: body.project_id.map(Some),
    };
    let edit = edit(&mut problems, &patch);
    problems.check()?;
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_template_id());
    let create = verbs::TemplateCreate { ctx, id, slug: body.slug, name: body.name, edit };
    Ok((StatusCode::CREATED, Json(One { data: template(&app.desk.write(create).await?) })))
}

pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    TemplatePath(name): TemplatePath,
) -> Result<Json<One<TemplateDetail>>, ApiError> {
    app.count_prompts().await;
    let view = app.desk.read(TemplateGet { template: name }).await?;
    let active_version = view.active.as_ref().map(version);
    Ok(Json(One { data: TemplateDetail { template: template(&view.template), active_version } }))
}

pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TemplatePath(name): TemplatePath,
    Body(body): Body<TemplatePatch>,
) -> Result<Json<One<Template>>, ApiError> {
    let mut problems = Problems::default();
    let edit = edit(&mut problems, &body);
    problems.check()?;
    let (ctx, epoch) = (app.desk.ctx(caller), app.desk.new_version_id());
    let patched = app.desk.write(verbs::TemplatePatch { ctx, template: name, edit, epoch }).await?;
    Ok(Json(One { data: template(&patched) }))
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TemplatePath(template): TemplatePath,
) -> Result<StatusCode, ApiError> {
    let (ctx, epoch) = (app.desk.ctx(caller), app.desk.new_version_id());
    app.desk.write(TemplateDelete { ctx, template, epoch }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads what a template should be.
fn edit(problems: &mut Problems, body: &TemplatePatch) -> TemplateEdit {
    if let Some(name) = &body.name {
        problems.name("name", name, NAME_CHARS_MAX);
    }
    if let Some(Some(description)) = &body.description {
        problems.description(description);
    }
    if let Some(specificity) = body.specificity
        && !(0..=SPECIFICITY_MAX).contains(&specificity)
    {
        problems.add("specificity", format!("expected 0 to {SPECIFICITY_MAX}, got {specificity}"));
    }
    let asked = body.conditions.as_ref().and_then(|conditions| conditions.project_id.as_deref());
    let condition_project = asked.map(|text| problems.project_ref("conditions.projectId", text));
    let project = body.project_id.as_ref();
    TemplateEdit {
        name: body.name.clone(),
        description: body.description.clone(),
        conditions: body.conditions.as_ref().map(|asked| conditions(problems, asked)),
        condition_project,
        specificity: body.specificity,
        project: project.map(|text| text.as_ref().map(|text| problems.project_ref("projectId", text))),
    }
}

/// Reads what a template asks of an issue; the project is read apart.
fn conditions(problems: &mut Problems, body: &wire::Conditions) -> Conditions {
    if let Some(source) = &body.signal_source {
        problems.name("conditions.signalSource", source, SOURCE_CHARS_MAX);
    }
    if body.labels.len() > CONDITION_LABELS_MAX {
        let message = format!("expected at most {CONDITION_LABELS_MAX} labels, got {}", body.labels.len());
        problems.add("conditions.labels", message);
    }
    for label in &body.labels {
        problems.name("conditions.labels", label, extraboard_core::label::LABEL_CHARS_MAX);
    }
    if let Some(confidence) = body.hypothesis_confidence
        && !(0.0..=1.0).contains(&confidence)
    {
        problems.add("conditions.hypothesisConfidence", format!("expected 0 to 1, got {confidence}"));
    }
    Conditions {
        kind: body.kind.as_deref().and_then(|word| problems.word("conditions.type", word)),
        signal_source: body.signal_source.clone(),
        labels: body.labels.clone(),
        project: None,
        has_failed_sessions: body.has_failed_sessions,
        hypothesis_confidence: body.hypothesis_confidence,
        door: body.door.as_deref().and_then(|word| problems.word("conditions.door", word)),
    }
}
