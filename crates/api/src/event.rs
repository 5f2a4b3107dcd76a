//! Events: what happened, in the order it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The type of the frame that says the reader has missed events, and has to look afresh.
pub const RESET: &str = "reset";

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its place in the log; what comes later has a greater one.
    pub pos: i64,
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The uuid of the issue it happened to.
    pub task_id: Option<String>,
    /// The number of that issue.
    pub number: Option<i64>,
    pub dispatch_id: Option<String>,
    /// Who did it.
    pub actor: String,
    pub at: String,
    /// What else there is to tell.
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

/// Says that the place a reader wanted to go on from is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reset {
    /// Where the stream goes on: what was before is to be read from the issues.
    pub pos: i64,
    /// The oldest event that is kept.
    pub oldest: i64,
}

/// The query of `GET /api/events`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EventsQuery {
    /// The last position the reader has seen; 0 is before the oldest that is kept. `Last-Event-ID`
    /// goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// The only issue to tell of, by uuid or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The only project to tell of, by uuid or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The only types to tell of: a comma list.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// Whether the stream goes on with what happens later; it does unless this is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_reads_and_writes_as_documented() {
        let wire = json!({
            "pos": 7, "type": "dispatch.opened", "taskId": "01990000-0000-7000-8000-000000000000",
            "number": 42, "dispatchId": null, "actor": "agent:a", "at": "2026-01-01T00:00:00Z",
            "attempt": 1, "holder": "agent:a"
        });
        let event: Event = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(event.data["attempt"], 1);
        assert_eq!(serde_json::to_value(&event).unwrap(), wire);
    }

    #[test]
    fn a_query_refuses_what_it_does_not_know() {
        serde_json::from_str::<EventsQuery>(r#"{"since": 1}"#).unwrap_err();
        let query: EventsQuery = serde_json::from_str(r#"{"after": 1, "type": "task.created"}"#).unwrap();
        assert_eq!((query.after, query.event_type.as_deref()), (Some(1), Some("task.created")));
    }
}
