//! `PostHog`'s webhooks: the operator writes the body there, so several usual names of each field are tried.

use serde_json::Value;

use super::field::{id, number, show, text};
use super::{Reading, Severity};

const METRICS: &[&str] = &[
    "metric",
    "metric_name",
    "event.name",
    "insight_name",
    "insight.name",
    "alert_name",
    "alert.name",
    "name",
    "event.event",
    "event",
    "hook.event",
];
const CHANGES: &[&str] = &[
    "change",
    "change_percent",
    "changePercent",
    "percent_change",
    "percentage",
    "value",
    "event.properties.change",
    "event.properties.change_percent",
    "event.properties.value",
];
const TIMEFRAMES: &[&str] = &["timeframe", "time_frame", "period", "interval", "event.properties.timeframe"];
const IDS: &[&str] = &["alert_id", "insight_id", "alert.id", "insight.id", "id", "event.uuid"];

/// Says what a delivery is about.
pub(super) fn read(payload: &Value) -> Reading {
    let metric = text(payload, METRICS).unwrap_or("an unknown metric");
    let timeframe = text(payload, TIMEFRAMES).unwrap_or("recent");
    let change = number(payload, CHANGES);
    // A change nobody measured must not read as one of zero percent.
    let moved = change.map_or_else(|| "changed".to_owned(), |change| format!("{}%", show(change)));
    Reading {
        source_id: id(payload, IDS),
        signal_type: "metric_change".to_owned(),
        severity: severity(change.unwrap_or(0.0)),
        title: format!("PostHog: {metric} {moved} ({timeframe})"),
    }
}

fn severity(change: f64) -> Severity {
    match change.abs() {
        change if change >= 50.0 => Severity::Critical,
        change if change >= 25.0 => Severity::High,
        change if change >= 10.0 => Severity::Medium,
        _ => Severity::Low,
    }
}
