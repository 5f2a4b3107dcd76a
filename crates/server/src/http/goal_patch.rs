//! `PATCH /api/goals/:id`: edit a goal.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::goal::{Goal, GoalPatch};
use extraboard_core::project::NAME_CHARS_MAX;
use extraboard_store::verbs::{self, GoalEdit};

use crate::app::App;
use crate::convert;
use crate::convert::goal::value_text;
use crate::error::ApiError;
use crate::extract::{Body, By, GoalPath, Nothing, Params};
use crate::validate::Problems;

/// The longest name of a metric or a unit, in characters.
const METRIC_CHARS_MAX: usize = 200;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    GoalPath(goal): GoalPath,
    Body(body): Body<GoalPatch>,
) -> Result<Json<One<Goal>>, ApiError> {
    let edit = edit(&body)?;
    let goal = app.desk.write(verbs::GoalPatch { ctx: app.desk.ctx(caller), goal, edit }).await?;
    app.desk.nudge();
    Ok(Json(One { data: convert::goal::goal(&app, goal).await? }))
}

/// Reads what a goal should be.
pub(super) fn edit(body: &GoalPatch) -> Result<GoalEdit, ApiError> {
    let mut problems = Problems::default();
    if let Some(title) = &body.title {
        problems.name("title", title, NAME_CHARS_MAX);
    }
    if let Some(Some(description)) = &body.description {
        problems.description(description);
    }
    for (field, text) in [("metric", &body.metric), ("unit", &body.unit)] {
        if let Some(Some(text)) = text {
            problems.text(field, text, METRIC_CHARS_MAX);
        }
    }
    let project = body.project_id.as_ref();
    let edit = GoalEdit {
        title: body.title.clone(),
        description: body.description.clone(),
        metric: body.metric.clone(),
        target_value: body.target_value.map(|value| value.map(value_text)),
        current_value: body.current_value.map(|value| value.map(value_text)),
        unit: body.unit.clone(),
        status: body.status.as_deref().and_then(|word| problems.word("status", word)),
        project: project.map(|text| text.as_ref().map(|text| problems.project_ref("projectId", text))),
    };
    problems.check()?;
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use extraboard_core::project::GoalStatus;
    use serde_json::{Value, json};

    use super::*;

    fn read(body: Value) -> Result<GoalEdit, String> {
        edit(&serde_json::from_value(body).unwrap()).map_err(|error| match error {
            ApiError::Invalid(fields) => {
                fields.into_iter().map(|field| field.field).collect::<Vec<_>>().join(",")
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_goal_keeps_its_values_as_json_numbers() {
        let edit = read(json!({
            "title": "land", "targetValue": 3, "currentValue": 0.1, "status": "achieved", "unit": null
        }))
        .unwrap();
        assert_eq!(edit.target_value, Some(Some("3.0".to_owned())));
        assert_eq!(edit.current_value, Some(Some("0.1".to_owned())));
        assert_eq!((edit.status, edit.unit, edit.metric), (Some(GoalStatus::Achieved), Some(None), None));
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let long = "x".repeat(201);
        let body = json!({"title": " ", "metric": long, "unit": long, "status": "done", "projectId": ""});
        assert_eq!(read(body).unwrap_err(), "title,metric,unit,status,projectId");
    }
}
