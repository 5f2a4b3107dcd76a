//! `GET /api/templates/preview/:issueId`: the prompt an issue would get.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::template::{
    PreviewIssue, PreviewQuery, PreviewTemplate, PreviewVersion, TemplatePreview,
};
use extraboard_core::doors::Door;
use extraboard_store::verbs::TaskPreview;

use crate::app::App;
use crate::convert::template::conditions;
use crate::error::ApiError;
use crate::extract::{Params, TaskPath};
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(query): Params<PreviewQuery>,
    TaskPath(task): TaskPath,
) -> Result<Json<TemplatePreview>, ApiError> {
    let mut problems = Problems::default();
    let door = query.door.as_deref().map_or(Some(Door::Pull), |word| problems.word("door", word));
    let version = query.version_id.as_deref().and_then(|text| {
        let version = text.parse().ok();
        if version.is_none() {
            problems.add("versionId", format!("expected a version's uuid, got {text:?}"));
        }
        version
    });
    problems.check()?;
    let (door, render) = (door.unwrap_or(Door::Pull), app.desk.render());
    let preview = app.desk.read(TaskPreview { task, door, version, render }).await?;
    let message = match (&preview.source, &preview.prompt) {
        (None, _) => Some("no template matches this issue".to_owned()),
        (Some(_), Err(why)) => Some(why.clone()),
        (Some(_), Ok(_)) => None,
    };
    Ok(Json(TemplatePreview {
        issue: PreviewIssue {
            id: preview.task.id.to_string(),
            number: preview.task.number.0,
            title: preview.task.title,
            kind: preview.task.kind.as_str().to_owned(),
        },
        template: preview.source.as_ref().map(|(template, _)| PreviewTemplate {
            id: template.id.to_string(),
            slug: template.slug.clone(),
            name: template.name.clone(),
            conditions: conditions(&template.conditions),
            specificity: template.specificity,
        }),
        version: preview
            .source
            .as_ref()
            .map(|(_, version)| PreviewVersion { id: version.id.to_string(), version: version.number }),
        prompt: preview.prompt.ok().flatten(),
        message,
    }))
}
