//! Goals, as surfaces show them.

use extraboard_api::goal::Goal;
use extraboard_core::id::{ProjectId, ProjectNumber};
use extraboard_core::project;
use extraboard_store::verbs::ProjectIds;

use super::time;
use crate::app::App;
use crate::error::ApiError;

/// Shows goals.
pub(crate) async fn goals(app: &App, goals: Vec<project::Goal>) -> Result<Vec<Goal>, ApiError> {
    let ids = project_ids(app, &goals).await?;
    Ok(goals.into_iter().map(|goal| shown(goal, &ids)).collect())
}

/// Shows one goal.
pub(crate) async fn goal(app: &App, goal: project::Goal) -> Result<Goal, ApiError> {
    let ids = project_ids(app, std::slice::from_ref(&goal)).await?;
    Ok(shown(goal, &ids))
}

/// Looks up the projects of goals, which know their numbers only.
async fn project_ids(
    app: &App,
    goals: &[project::Goal],
) -> Result<Vec<(ProjectNumber, ProjectId)>, ApiError> {
    let mut projects: Vec<_> = goals.iter().filter_map(|goal| goal.project).collect();
    projects.sort_unstable();
    projects.dedup();
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    Ok(app.desk.read(ProjectIds { projects }).await?)
}

fn shown(goal: project::Goal, ids: &[(ProjectNumber, ProjectId)]) -> Goal {
    let project = ids.iter().find(|(number, _)| Some(*number) == goal.project);
    Goal {
        id: goal.id.to_string(),
        title: goal.title,
        description: goal.description,
        metric: goal.metric,
        target_value: goal.target_value.as_deref().and_then(value),
        current_value: goal.current_value.as_deref().and_then(value),
        unit: goal.unit,
        status: goal.status.as_str().to_owned(),
        project_id: project.map(|(_, id)| id.to_string()),
        created_at: time(goal.created_at),
        updated_at: time(goal.updated_at),
    }
}

/// Reads a number that was written by [`value_text`].
fn value(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Writes a number as JSON does; so it comes back as it was.
pub(crate) fn value_text(value: f64) -> String {
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_as_it_was_written() {
        for number in [0.0, -0.0, 3.0, 0.1, -2.5e-7, 1e300, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(value(&value_text(number)), Some(number), "{number}");
        }
    }
}
