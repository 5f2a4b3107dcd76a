//! Projects, as surfaces show them.

use std::collections::BTreeMap;

use extraboard_api::project::{Project, ProjectGoal};
use extraboard_core::state::State;
use extraboard_core::status::Status;
use extraboard_store::verbs::ProjectView;

use super::time;

/// Shows a project without counting its issues.
pub(crate) fn project(view: ProjectView) -> Project {
    let ProjectView { project, goal, has_active_goal, states: _ } = view;
    Project {
        id: project.id.to_string(),
        name: project.name,
        description: project.description,
        status: project.status.as_str().to_owned(),
        health: project.health.as_str().to_owned(),
        goal_id: project.goal.map(|goal| goal.to_string()),
        goal: goal.map(|goal| ProjectGoal {
            id: goal.id.to_string(),
            title: goal.title,
            status: goal.status.as_str().to_owned(),
        }),
        has_active_goal,
        workspace: project.workspace,
        run_limit: project.run_limit,
        settings: project.settings.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        issue_counts: None,
        created_at: time(project.created_at),
        updated_at: time(project.updated_at),
    }
}

/// Counts issues by status; several states may go by one.
pub(crate) fn issue_counts(states: &[(State, i64)]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for (state, tasks) in states {
        *counts.entry(Status::of(*state).as_str().to_owned()).or_default() += tasks;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_one_status_are_counted_together() {
        let counts = issue_counts(&[(State::Failed, 1), (State::Queued, 4), (State::TimedOut, 2)]);
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [("failed".to_owned(), 3), ("todo".to_owned(), 4)]
        );
    }
}
