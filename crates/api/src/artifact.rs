//! Artifacts: what one issue provides and others wait for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of `POST /api/issues/:id/artifacts`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArtifactCreate {
    pub path: String,
    /// Absent where the artifact lies in the workspace and only its presence is news.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What `POST /api/issues/:id/artifacts` answers under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStored {
    pub id: String,
    pub path: String,
    /// The project it is stored under.
    pub project_id: Option<String>,
    /// The issue that provided it.
    pub issue_id: String,
    /// Bytes.
    pub size: i64,
    pub created_at: String,
    /// The numbers of the issues that waited for it.
    #[serde(default)]
    pub freed: Vec<i64>,
}

/// One artifact among those an issue provided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub id: String,
    pub path: String,
    /// Bytes.
    pub size: i64,
    pub created_at: String,
    pub content: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stored_artifact_names_what_it_freed() {
        let wire = json!({
            "id": "0199a", "path": "out/plan.md", "projectId": null, "issueId": "0199i", "size": 5,
            "createdAt": "2026-01-01T00:00:00Z", "freed": [3, 4]
        });
        let stored: ArtifactStored = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(stored.freed, [3, 4]);
        assert_eq!(serde_json::to_value(&stored).unwrap(), wire);
    }

    #[test]
    fn an_artifact_without_content_still_reads() {
        let wire = json!({
            "id": "0199a", "path": "out/plan.md", "size": 0, "createdAt": "2026-01-01T00:00:00Z", "content": null
        });
        let artifact: Artifact = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(artifact.content, None);
        assert_eq!(serde_json::to_value(&artifact).unwrap(), wire);
    }

    #[test]
    fn a_new_artifact_needs_a_path_and_refuses_unknown_fields() {
        let create: ArtifactCreate = serde_json::from_str(r#"{"path": "a"}"#).unwrap();
        assert_eq!(serde_json::to_value(&create).unwrap(), json!({"path": "a"}));
        serde_json::from_str::<ArtifactCreate>(r#"{"content": "x"}"#).unwrap_err();
        serde_json::from_str::<ArtifactCreate>(r#"{"path": "a", "text": "x"}"#).unwrap_err();
    }
}
