//! `xb events`

use std::time::Duration;

use extraboard_api::client::{Client, ClientError, Told};
use extraboard_api::event::{Event, EventsQuery};
use serde_json::Value;

use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{clean_line, talk};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames =
    &[("after", "--after"), ("task", "--task"), ("project", "--project"), ("type", "--type")];
/// The pause before a stream that broke off is taken up again.
const PAUSE: Duration = Duration::from_secs(1);

/// Show what happened
///
/// All that is kept, unless --after says from where on. With --follow also what happens from then on; alone
/// it shows what happens from now on. With --json one event a line.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Go on with what happens, until interrupted
    #[arg(short, long)]
    follow: bool,

    /// Only what came after this position; 0 is before the oldest that is kept
    #[arg(long, value_name = "POS")]
    after: Option<i64>,

    /// Only what happened to this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskRef>,

    /// Only what happened in this project, by name or uuid
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Only events of these types, for example `task.created,dispatch.closed`
    #[arg(long = "type", value_name = "TYPE,…")]
    event_type: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let mut query = EventsQuery {
        after: args.after.or((!args.follow).then_some(0)),
        task: args.task.as_ref().map(TaskRef::route),
        project: args.project.clone(),
        event_type: args.event_type.clone(),
        follow: (!args.follow).then_some(false),
    };
    loop {
        match read(&client, &mut query, ctx).await {
            Ok(()) if !args.follow => return Ok(()),
            Ok(()) => talk("the desk ended the stream"),
            Err(Broken::Output(error)) => return Err(error),
            // A desk that never answered will not do so by itself.
            Err(Broken::Stream(error)) if !args.follow || query.after.is_none() => {
                return Err(CliError::of_request(&error, FLAGS));
            }
            Err(Broken::Stream(error @ ClientError::Api { .. })) => {
                return Err(CliError::of_request(&error, FLAGS));
            }
            Err(Broken::Stream(error)) => talk(&format!("the stream broke off: {error}")),
        }
        pause().await;
    }
}

/// Why a stream was not read to its end.
enum Broken {
    Stream(ClientError),
    Output(CliError),
}

/// Shows events until the stream ends, and remembers how far it came.
async fn read(client: &Client, query: &mut EventsQuery, ctx: &Context) -> Result<(), Broken> {
    let mut stream = client.events(query).await.map_err(Broken::Stream)?;
    loop {
        let told = stream.next().await;
        query.after = stream.pos().or(query.after);
        match told.map_err(Broken::Stream)? {
            Some(Told::Event(event)) => {
                ctx.out.show_line(&event, |_| line(&event)).map_err(Broken::Output)?;
            }
            Some(Told::Reset(reset)) => talk(&format!(
                "events were missed: the oldest that is kept is {}, going on after {}",
                reset.oldest, reset.pos
            )),
            None => return Ok(()),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a desk that restarts needs time, and does not say when it is back"
)]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

/// Returns an event in one line.
fn line(event: &Event) -> String {
    let task = event.number.map_or_else(String::new, |number| format!("#{number} "));
    let data: Vec<_> = event
        .data
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
        .collect();
    let line =
        format!("{} {} {} {task}{} {}", event.pos, event.at, event.event_type, event.actor, data.join(" "));
    clean_line(line.trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let event = json!({
            "pos": 7, "type": "dispatch.closed", "taskId": null, "number": 42, "dispatchId": null,
            "actor": "agent:a", "at": "2026-01-01T00:00:00Z", "outcome": "done\n", "reason": null
        });
        let event: Event = serde_json::from_value(event).unwrap();
        let told = line(&event);
        assert!(
            told.starts_with("7 2026-01-01T00:00:00Z dispatch.closed #42 agent:a outcome=done"),
            "{told}"
        );
        assert!(!told.contains('\n') && !told.contains("reason"), "{told}");
    }
}
