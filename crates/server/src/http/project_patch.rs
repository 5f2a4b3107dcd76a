//! `PATCH /api/projects/:id`: edit a project.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::project::{Project, ProjectPatch};
use extraboard_api::settings::ProjectSettings;
use extraboard_core::id::GoalId;
use extraboard_core::project::NAME_CHARS_MAX;
use extraboard_store::verbs::{self, ProjectEdit, ProjectRef};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, ProjectPath};
use crate::validate::Problems;

/// The longest path of a workspace, in characters.
const WORKSPACE_CHARS_MAX: usize = 4_000;
/// The most issues of a project that may be handed out at once, where that is limited.
const RUN_LIMIT_MAX: i64 = 100_000;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    ProjectPath(project): ProjectPath,
    Body(body): Body<ProjectPatch>,
) -> Result<Json<One<Project>>, ApiError> {
    let edit = edit(&body)?;
    let view = app.desk.write(verbs::ProjectPatch { ctx: app.desk.ctx(caller), project, edit }).await?;
    app.desk.nudge();
    Ok(Json(One { data: convert::project::project(view) }))
}

/// Reads what a project should be.
pub(super) fn edit(body: &ProjectPatch) -> Result<ProjectEdit, ApiError> {
    let mut problems = Problems::default();
    if let Some(name) = &body.name {
        check_name(&mut problems, name);
    }
    if let Some(Some(description)) = &body.description {
        problems.description(description);
    }
    if let Some(Some(workspace)) = &body.workspace {
        check_workspace(&mut problems, workspace);
    }
    if let Some(Some(limit)) = body.run_limit {
        problems.range("runLimit", limit, 0..=RUN_LIMIT_MAX);
    }
    let goal = body.goal_id.as_ref();
    let edit = ProjectEdit {
        name: body.name.clone(),
        description: body.description.clone(),
        status: body.status.as_deref().and_then(|word| problems.word("status", word)),
        health: body.health.as_deref().and_then(|word| problems.word("health", word)),
        goal: goal.map(|text| text.as_ref().and_then(|text| goal_ref(&mut problems, text))),
        workspace: body.workspace.clone(),
        run_limit: body.run_limit,
        settings: body.settings.as_ref().map(|settings| settings_text(&mut problems, settings)),
    };
    // Where a value could not be read the edit leaves or clears something; it goes no further.
    problems.check()?;
    Ok(edit)
}

/// Returns settings as they are stored; none are stored as nothing.
fn settings_text(problems: &mut Problems, settings: &ProjectSettings) -> Option<String> {
    for problem in settings.problems() {
        problems.add(&format!("settings.{}", problem.field), problem.message);
    }
    let text = serde_json::to_string(settings).unwrap_or_default();
    (*settings != ProjectSettings::default()).then_some(text)
}

/// Checks that a project can be told by its name, also in a path.
fn check_name(problems: &mut Problems, name: &str) {
    problems.path_name("name", name, NAME_CHARS_MAX);
    if matches!(ProjectRef::new(name), ProjectRef::Id(_)) {
        problems.add("name", format!("expected a name that is not a uuid, got {name:?}"));
    }
}

fn check_workspace(problems: &mut Problems, workspace: &str) {
    problems.name("workspace", workspace, WORKSPACE_CHARS_MAX);
    if !Path::new(workspace).is_absolute() {
        problems.add("workspace", format!("expected an absolute path, got {workspace:?}"));
    }
}

fn goal_ref(problems: &mut Problems, text: &str) -> Option<GoalId> {
    let goal = text.parse().ok();
    if goal.is_none() {
        problems.add("goalId", format!("expected a goal's uuid, got {text:?}"));
    }
    goal
}

#[cfg(test)]
mod tests {
    use extraboard_core::project::{Health, ProjectStatus};
    use serde_json::{Value, json};

    use super::*;

    fn read(body: Value) -> Result<ProjectEdit, String> {
        edit(&serde_json::from_value(body).unwrap()).map_err(|error| match error {
            ApiError::Invalid(fields) => {
                fields.into_iter().map(|field| field.field).collect::<Vec<_>>().join(",")
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_project_is_read_as_documented() {
        let edit = read(json!({
            "name": "apollo 11/b", "status": "paused", "health": "at_risk", "workspace": "/srv/apollo",
            "runLimit": 0, "goalId": null
        }))
        .unwrap();
        assert_eq!(edit.name.as_deref(), Some("apollo 11/b"));
        assert_eq!((edit.status, edit.health), (Some(ProjectStatus::Paused), Some(Health::AtRisk)));
        assert_eq!((edit.run_limit, edit.goal, edit.description), (Some(Some(0)), Some(None), None));
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let body = json!({
            "name": "", "status": "open", "health": "fine", "workspace": "srv", "runLimit": 100_001,
            "goalId": "g", "description": "a\0b"
        });
        assert_eq!(read(body).unwrap_err(), "name,description,workspace,runLimit,status,health,goalId");
        assert_eq!(read(json!({"runLimit": -1})).unwrap_err(), "runLimit");
    }

    #[test]
    fn a_name_can_be_told_from_a_uuid_and_a_directory() {
        let uuid = "01990000-0000-7000-8000-000000000001";
        let simple = "01990000000070008000000000000001";
        for bad in [".", "..", uuid, simple, &"x".repeat(201), "a\nb", "  "] {
            assert_eq!(read(json!({ "name": bad })).unwrap_err(), "name", "{bad:?}");
        }
        for good in ["...", "42", "-", &"é".repeat(200)] {
            assert!(read(json!({ "name": good })).is_ok(), "{good:?}");
        }
    }
}
