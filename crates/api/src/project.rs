//! Projects: what issues belong to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::{nullable, object, present};
use crate::settings::{self, ProjectSettings};

/// One project as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// `backlog`, `planned`, `active`, `paused`, `completed` or `canceled`.
    pub status: String,
    /// `on_track`, `at_risk` or `off_track`.
    pub health: String,
    pub goal_id: Option<String>,
    pub goal: Option<ProjectGoal>,
    /// Whether the goal it names, or one that names it, is active.
    #[serde(default)]
    pub has_active_goal: bool,
    /// The directory its artifacts are looked for in.
    pub workspace: Option<String>,
    /// How many of its issues may be handed out at once.
    pub run_limit: Option<i64>,
    /// How its issues are worked on; empty where nothing is set.
    #[serde(default, deserialize_with = "settings::readable")]
    pub settings: ProjectSettings,
    /// How many issues it has in each status; only where one project is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_counts: Option<BTreeMap<String, i64>>,
    pub created_at: String,
    pub updated_at: String,
}

/// The goal a project names, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectGoal {
    pub id: String,
    pub title: String,
    pub status: String,
}

/// The body of `POST /api/projects`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProjectCreate {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_limit: Option<i64>,
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub settings: Option<ProjectSettings>,
}

/// The body of `PATCH /api/projects/:id`; absent and null differ as in [`crate::issue::IssuePatch`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProjectPatch {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub run_limit: Option<Option<i64>>,
    /// The whole new settings.
    #[serde(deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub settings: Option<ProjectSettings>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::tests::settings_json;

    fn project_json() -> Value {
        json!({
            "id": "0199p", "name": "apollo", "description": null, "status": "active", "health": "on_track",
            "goalId": "0199g", "goal": {"id": "0199g", "title": "land", "status": "active"},
            "hasActiveGoal": true, "workspace": "/srv/apollo", "runLimit": null,
            "settings": {"base": "main", "signals": {"status": "todo"}},
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
        })
    }

    #[test]
    fn a_project_reads_and_writes_as_documented() {
        let mut wire = project_json();
        let project: Project = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&project).unwrap(), wire);

        wire["issueCounts"] = json!({"todo": 2, "done": 1});
        let project: Project = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&project).unwrap(), wire);
    }

    #[test]
    fn a_project_with_fields_of_a_newer_server_still_reads() {
        let mut newer = project_json();
        newer["repository"] = json!("https://example.org");
        assert_eq!(serde_json::from_value::<Project>(newer).unwrap().name, "apollo");
    }

    #[test]
    fn a_project_with_settings_of_another_server_still_reads() {
        let settings = |wire: Value| {
            let mut other = project_json();
            other["settings"] = wire;
            serde_json::from_value::<Project>(other).unwrap().settings
        };
        assert_eq!(settings(settings_json()).base.as_deref(), Some("main"));
        assert_eq!(settings(json!({"base": "main", "sandbox": "vm"})), ProjectSettings::default());
        let mut older = project_json();
        older.as_object_mut().unwrap().remove("settings").unwrap();
        assert_eq!(serde_json::from_value::<Project>(older).unwrap().settings, ProjectSettings::default());
    }

    #[test]
    fn a_patch_clears_what_can_be_cleared() {
        let wire = json!({"description": null, "goalId": null, "workspace": null, "runLimit": null});
        let patch: ProjectPatch = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(patch.run_limit, Some(None));
        assert_eq!(serde_json::to_value(&patch).unwrap(), wire);
        for field in ["name", "status", "health", "settings"] {
            let body = format!(r#"{{"{field}": null}}"#);
            assert!(serde_json::from_str::<ProjectPatch>(&body).is_err(), "{field}");
        }
    }

    #[test]
    fn requests_refuse_unknown_fields() {
        serde_json::from_str::<ProjectCreate>(r#"{"name": "a", "title": "b"}"#).unwrap_err();
        serde_json::from_str::<ProjectPatch>(r#"{"hasActiveGoal": true}"#).unwrap_err();
        serde_json::from_str::<ProjectPatch>(r#"{"settings": {"runLimit": 4}}"#).unwrap_err();
    }
}
