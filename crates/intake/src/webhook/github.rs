//! GitHub's webhooks: the event stands in a header, who and where in the body.

use serde_json::Value;

use super::field::text;
use super::{Reading, Severity};

/// Says what a delivery is about; nothing for a ping.
pub(super) fn read(event: Option<&str>, payload: &Value) -> Option<Reading> {
    let event = event.unwrap_or("unknown");
    if event == "ping" {
        return None;
    }
    let places = ["repository.full_name", "organization.login", "enterprise.slug"];
    let place = text(payload, &places).unwrap_or("an unknown repository");
    let actor = text(payload, &["sender.login", "pusher.name"]).unwrap_or("somebody");
    let source_id = match text(payload, &["action"]) {
        Some(action) => format!("{event}.{action}"),
        None => event.to_owned(),
    };
    Some(Reading {
        source_id: Some(source_id),
        signal_type: event.to_owned(),
        severity: severity(event),
        title: format!("GitHub: {event} on {place} by {actor}"),
    })
}

fn severity(event: &str) -> Severity {
    match event {
        "security_advisory" | "code_scanning_alert" => Severity::Critical,
        "dependabot_alert" => Severity::High,
        "pull_request" | "push" | "issue_comment" => Severity::Low,
        _ => Severity::Medium,
    }
}
