//! Sentry's webhooks: the resource stands in a header, and under `data` whatever it is about.
//!
//! Issues come under `data.issue`, issue alerts under `data.event`, errors under `data.error`, metric alerts
//! under `data.metric_alert` with a title of their own, and project hooks put the event at the top.

use serde_json::Value;

use super::field::{id, number, show, text};
use super::{Reading, Severity};

const TITLES: &[&str] = &[
    "data.issue.title",
    "data.error.title",
    "data.event.title",
    "data.description_title",
    "data.metric_alert.title",
    "event.title",
    "message",
    "data.comment",
];
const LEVELS: &[&str] = &["data.issue.level", "data.error.level", "data.event.level", "level", "event.level"];
const COUNTS: &[&str] = &["data.issue.count", "data.error.count", "data.event.count", "count"];
const IDS: &[&str] = &[
    "data.issue.id",
    "data.error.issue_id",
    "data.event.issue_id",
    "data.issue_id",
    "data.metric_alert.id",
    "event.issue_id",
    "id",
];

/// From how many events on an error is critical.
const CRITICAL_COUNT_MIN: f64 = 100.0;

/// Says what a delivery is about; nothing where an integration is merely installed or removed.
pub(super) fn read(resource: Option<&str>, payload: &Value) -> Option<Reading> {
    if resource == Some("installation") {
        return None;
    }
    let action = text(payload, &["action"]);
    let count = number(payload, COUNTS).unwrap_or(1.0);
    let title = text(payload, TITLES).unwrap_or("Unknown error");
    Some(Reading {
        source_id: id(payload, IDS),
        signal_type: match (resource, action) {
            (Some(resource), Some(action)) => format!("{resource}.{action}"),
            (Some(word), None) | (None, Some(word)) => word.to_owned(),
            (None, None) => "event".to_owned(),
        },
        severity: severity(text(payload, LEVELS), action, count),
        title: format!("Sentry: {title} ({} events)", show(count)),
    })
}

/// Metric alerts have no level; their action says how bad it is.
fn severity(level: Option<&str>, action: Option<&str>, count: f64) -> Severity {
    match (level, action) {
        (Some("fatal"), _) => Severity::Critical,
        (None, Some("critical")) => Severity::Critical,
        (None, Some("warning")) => Severity::Medium,
        (Some("error"), _) if count >= CRITICAL_COUNT_MIN => Severity::Critical,
        (Some("error"), _) => Severity::High,
        (Some("warning"), _) => Severity::Medium,
        (Some(_) | None, _) => Severity::Low,
    }
}
