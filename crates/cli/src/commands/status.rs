//! `xb status`

use std::fmt::Write as _;

use extraboard_api::status::DeskStatus;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::context::{Context, Desk};
use crate::error::{CliError, Kind};
use crate::output::clean_line;

/// Show where the desk runs and how it is doing
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// What `--json` prints: the API's answer, and where it came from.
#[derive(Debug, Serialize)]
struct Found<'a> {
    url: &'a str,
    data: &'a DeskStatus,
}

pub(crate) async fn run(_args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk()?;
    let status = desk.client.status().await.map_err(|error| {
        let refused = error.is_refused();
        let error = CliError::from(error);
        if refused { none(&desk) } else { error }
    })?;
    ctx.out.show(&Found { url: &desk.url, data: &status }, |_| page(&desk, &status, ctx.now))
}

fn none(desk: &Desk) -> CliError {
    CliError::new(Kind::NoDesk, format!("no desk is running at {}", desk.url))
}

fn page(desk: &Desk, status: &DeskStatus, now: Timestamp) -> String {
    let counts: Vec<String> = status.states.iter().map(|(state, count)| format!("{state} {count}")).collect();
    let facts = [
        ("url", desk.url.clone()),
        (
            "metrics",
            desk.file.as_ref().map_or_else(String::new, |file| format!("{}/metrics", file.metrics_url)),
        ),
        ("pid", status.pid.to_string()),
        ("version", status.version.clone()),
        ("database", status.database.clone()),
        ("uptime", uptime(&status.started_at, now).unwrap_or_default()),
        ("line", format!("{} waiting", status.line)),
        ("dispatches", format!("{} not closed", status.unclosed)),
        ("tasks", if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }),
    ];
    facts.iter().filter(|(_, value)| !value.is_empty()).fold(String::new(), |mut page, (name, value)| {
        let _ = writeln!(page, "{name:<10}  {}", clean_line(value));
        page
    })
}

fn uptime(started_at: &str, now: Timestamp) -> Option<String> {
    let started: Timestamp = started_at.parse().ok()?;
    // The desk's clock may be ahead of ours.
    let seconds = now.duration_since(started).as_secs().max(0);
    Some(format!("{:#}", SignedDuration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_told_in_hours_and_never_negative() {
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(uptime("2026-01-01T00:00:00Z", now).unwrap(), "27h 4m 5s");
        assert_eq!(uptime("2026-01-03T00:00:00Z", now).unwrap(), "0s");
        assert_eq!(uptime("yesterday", now), None);
    }
}
