//! Signals: what the world says, and the issue that is made of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::issue::Issue;

/// One signal as every route shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    pub id: String,
    /// Who said it.
    pub source: String,
    /// What it is called there.
    pub source_id: Option<String>,
    /// What sort of thing was said.
    #[serde(rename = "type")]
    pub kind: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: String,
    pub payload: Value,
    /// The issue that was made of it.
    pub issue_id: String,
    pub created_at: String,
}

/// The body of `POST /api/signals`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignalCreate {
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub severity: String,
    /// Any JSON.
    pub payload: Value,
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// The query of a provider's webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WebhookQuery {
    /// By uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// What `POST /api/signals` answers under `data`: both or neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalCreated {
    pub signal: Signal,
    pub issue: Issue,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::issue::tests::issue_json;

    #[test]
    fn a_signal_and_its_issue_read_and_write_as_documented() {
        let wire = json!({
            "signal": {
                "id": "0199s", "source": "ci", "sourceId": null, "type": "build.failed", "severity": "high",
                "payload": {"message": "red"}, "issueId": "0199i", "createdAt": "2026-01-01T00:00:00Z"
            },
            "issue": issue_json()
        });
        let created: SignalCreated = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(created.signal.kind, "build.failed");
        assert_eq!(serde_json::to_value(&created).unwrap(), wire);
    }

    #[test]
    fn a_new_signal_takes_any_payload_but_none() {
        let signal = |payload: &str| {
            let body =
                format!(r#"{{"source": "ci", "type": "build", "severity": "low", "payload": {payload}}}"#);
            serde_json::from_str::<SignalCreate>(&body).unwrap().payload
        };
        assert_eq!(signal("3"), json!(3));
        assert_eq!(signal("null"), Value::Null);
        serde_json::from_str::<SignalCreate>(r#"{"source": "ci", "type": "build", "severity": "low"}"#)
            .unwrap_err();
    }

    #[test]
    fn a_new_signal_uses_the_documented_names() {
        let create = SignalCreate {
            source: "ci".to_owned(),
            source_id: Some("17".to_owned()),
            kind: "build".to_owned(),
            severity: "low".to_owned(),
            payload: json!({}),
            project_id: Some("apollo".to_owned()),
        };
        let wire = json!({
            "source": "ci", "sourceId": "17", "type": "build", "severity": "low", "payload": {},
            "projectId": "apollo"
        });
        assert_eq!(serde_json::to_value(&create).unwrap(), wire);
        assert_eq!(serde_json::from_value::<SignalCreate>(wire).unwrap(), create);
    }
}
