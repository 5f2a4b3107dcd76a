//! Goals: what projects are for, and how far they got.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::{nullable, present};

/// One goal as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    /// What is measured.
    pub metric: Option<String>,
    pub target_value: Option<f64>,
    pub current_value: Option<f64>,
    pub unit: Option<String>,
    /// `active`, `achieved` or `abandoned`.
    pub status: String,
    /// The project it is a goal of.
    pub project_id: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// The body of `POST /api/goals`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoalCreate {
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// The body of `PATCH /api/goals/:id`; absent and null differ as in [`crate::issue::IssuePatch`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GoalPatch {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub metric: Option<Option<String>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub target_value: Option<Option<f64>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub current_value: Option<Option<f64>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub unit: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Option<String>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_goal_reads_and_writes_as_documented() {
        let wire = json!({
            "id": "0199g", "title": "land", "description": null, "metric": "crew on the moon",
            "targetValue": 2.5, "currentValue": null, "unit": "people", "status": "active",
            "projectId": null, "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
        });
        let goal: Goal = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&goal).unwrap(), wire);
    }

    #[test]
    fn a_value_may_be_written_as_a_whole_number() {
        let create: GoalCreate = serde_json::from_str(r#"{"title": "land", "targetValue": 3}"#).unwrap();
        assert_eq!(create.target_value, Some(3.0));
    }

    #[test]
    fn a_patch_clears_what_can_be_cleared() {
        let wire = json!({
            "description": null, "metric": null, "targetValue": null, "currentValue": null, "unit": null,
            "projectId": null
        });
        let patch: GoalPatch = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(patch.target_value, Some(None));
        assert_eq!(serde_json::to_value(&patch).unwrap(), wire);
        for field in ["title", "status"] {
            let body = format!(r#"{{"{field}": null}}"#);
            assert!(serde_json::from_str::<GoalPatch>(&body).is_err(), "{field}");
        }
    }

    #[test]
    fn requests_refuse_unknown_fields() {
        serde_json::from_str::<GoalCreate>(r#"{"title": "a", "target": 1}"#).unwrap_err();
        serde_json::from_str::<GoalPatch>(r#"{"name": "a"}"#).unwrap_err();
    }
}
