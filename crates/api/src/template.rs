//! Templates: what prompts are made by, their versions, and what an issue's prompt would be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::{nullable, object, present};

/// One template as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    pub id: String,
    pub slug: String,
    pub name: String,
    pub description: Option<String>,
    pub conditions: Conditions,
    /// How particular it is: of two that match, the more particular one is used.
    pub specificity: i64,
    /// The only project it is for.
    pub project_id: Option<String>,
    pub active_version_id: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// One template with the version in use, as `GET /api/templates/:id` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateDetail {
    #[serde(flatten)]
    pub template: Template,
    pub active_version: Option<Version>,
}

/// What a template asks of an issue: all of it, and nothing where there is nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Conditions {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_source: Option<String>,
    /// Names; the issue has all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// By uuid or name; shown as uuid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Whether an earlier attempt at it or at one of its siblings failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_failed_sessions: Option<bool>,
    /// The least confidence of its hypothesis, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis_confidence: Option<f64>,
    /// `pull`, `push` or `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
}

/// The body of `POST /api/templates`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateCreate {
    pub slug: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specificity: Option<i64>,
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// The body of `PATCH /api/templates/:id`; absent and null differ as in [`crate::issue::IssuePatch`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TemplatePatch {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    /// The whole new conditions.
    #[serde(deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub specificity: Option<i64>,
    /// By uuid or name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Option<String>>,
}

/// One text of a template, and how it does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    pub id: String,
    pub template_id: String,
    /// Counts up from 1 within its template.
    pub version: i64,
    pub content: String,
    pub changelog: Option<String>,
    /// `human` or `agent`.
    pub author_type: String,
    pub author_name: Option<String>,
    /// `draft`, `active` or `retired`.
    pub status: String,
    /// How many prompts were made by it.
    pub usage_count: i64,
    /// The share of its prompts that ended in work that was done, 0 to 1.
    pub completion_rate: Option<f64>,
    /// The share of that work that had to be done again, 0 to 1.
    pub rework_rate: Option<f64>,
    pub avg_duration_ms: Option<i64>,
    /// The moving average of its reviews, 1 to 5.
    pub review_score: Option<f64>,
    pub review_count: i64,
    /// The issue that asks for a better version.
    pub improvement_issue_id: Option<String>,
    pub created_at: String,
}

/// The body of `POST /api/templates/:id/versions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionCreate {
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changelog: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_type: Option<String>,
    /// The caller's own name unless it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
}

/// The query of `GET /api/templates/preview/:issueId`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PreviewQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    /// Any version, also a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
}

/// What `GET /api/templates/preview/:issueId` answers, not wrapped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplatePreview {
    pub issue: PreviewIssue,
    /// The template that was chosen; null where none matches.
    pub template: Option<PreviewTemplate>,
    pub version: Option<PreviewVersion>,
    pub prompt: Option<String>,
    /// Why there is no prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The issue a preview is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewIssue {
    pub id: String,
    pub number: i64,
    pub title: String,
    #[serde(rename = "type")]
    pub kind: String,
}

/// The template a preview was made by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewTemplate {
    pub id: String,
    pub slug: String,
    pub name: String,
    pub conditions: Conditions,
    pub specificity: i64,
}

/// The version a preview was made by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewVersion {
    pub id: String,
    pub version: i64,
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns a template as every route shows it.
    pub(crate) fn template_json() -> Value {
        json!({
            "id": "0199t", "slug": "signal-triage", "name": "Triage", "description": null,
            "conditions": {"type": "signal", "labels": ["bug"], "hasFailedSessions": true},
            "specificity": 10, "projectId": null, "activeVersionId": "0199v",
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
        })
    }

    /// Returns a version as every route shows it.
    pub(crate) fn version_json() -> Value {
        json!({
            "id": "0199v", "templateId": "0199t", "version": 2, "content": "Do {{issue.title}}.",
            "changelog": null, "authorType": "human", "authorName": "ann", "status": "active",
            "usageCount": 4, "completionRate": 0.75, "reworkRate": null, "avgDurationMs": 1200,
            "reviewScore": 3.4, "reviewCount": 2, "improvementIssueId": null,
            "createdAt": "2026-01-01T00:00:00Z"
        })
    }

    #[test]
    fn a_template_reads_and_writes_as_documented() {
        let mut wire = template_json();
        let template: Template = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&template).unwrap(), wire);
        wire["activeVersion"] = version_json();
        let detail: TemplateDetail = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&detail).unwrap(), wire);
    }

    #[test]
    fn conditions_read_and_write_as_documented() {
        let wire = json!({
            "type": "signal", "signalSource": "sentry", "labels": ["bug"], "projectId": "apollo",
            "hasFailedSessions": false, "hypothesisConfidence": 0.5, "door": "run"
        });
        let conditions: Conditions = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&conditions).unwrap(), wire);
        assert_eq!(serde_json::to_value(Conditions::default()).unwrap(), json!({}));
    }

    #[test]
    fn requests_refuse_unknown_fields() {
        serde_json::from_str::<Conditions>(r#"{"kind": "task"}"#).unwrap_err();
        for list in [r#"["task"]"#, "[]", "null"] {
            let body = format!(r#"{{"slug": "a", "name": "a", "conditions": {list}}}"#);
            serde_json::from_str::<TemplateCreate>(&body).unwrap_err();
        }
        serde_json::from_str::<TemplateCreate>(r#"{"slug": "a", "name": "a", "conditions": {"label": "a"}}"#)
            .unwrap_err();
        serde_json::from_str::<TemplatePatch>(r#"{"slug": "b"}"#).unwrap_err();
        serde_json::from_str::<VersionCreate>(r#"{"content": "a", "status": "active"}"#).unwrap_err();
        serde_json::from_str::<PreviewQuery>(r#"{"version": "1"}"#).unwrap_err();
    }

    #[test]
    fn a_patch_clears_what_can_be_cleared() {
        let wire = json!({"description": null, "projectId": null});
        let patch: TemplatePatch = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!((&patch.description, &patch.project_id), (&Some(None), &Some(None)));
        assert_eq!(serde_json::to_value(&patch).unwrap(), wire);
        for field in ["name", "conditions", "specificity"] {
            let body = format!(r#"{{"{field}": null}}"#);
            assert!(serde_json::from_str::<TemplatePatch>(&body).is_err(), "{field}");
        }
    }

    #[test]
    fn a_preview_says_what_was_chosen_or_why_nothing_was() {
        let issue = json!({"id": "0199i", "number": 7, "title": "t", "type": "task"});
        let made = json!({
            "issue": issue,
            "template": {
                "id": "0199t", "slug": "any", "name": "Any", "conditions": {}, "specificity": 0
            },
            "version": {"id": "0199v", "version": 1}, "prompt": "Do t."
        });
        let none = json!({
            "issue": issue, "template": null, "version": null, "prompt": null, "message": "no template matches"
        });
        for wire in [made, none] {
            let preview: TemplatePreview = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&preview).unwrap(), wire);
        }
    }
}
