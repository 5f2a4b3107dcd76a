//! `xb claim`

use extraboard_api::client::Claim;
use extraboard_api::dispatch::Next;

use crate::context::{AgentName, Context};
use crate::error::{CliError, Kind};
use crate::output::{clean_line, clean_text};

/// Take the first task in line
///
/// Prints the task, its dispatch and its prompt; --json also prints the token that speaks for the dispatch.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Claim as this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    /// Answer the same open dispatch again if this key was used before
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    match client.claim(args.key.as_deref()).await? {
        Claim::Work(next) => ctx.out.show(&next, |_| page(&next)),
        Claim::Nothing { reason } => Err(CliError::new(Kind::NotFound, nothing(&reason))),
    }
}

fn nothing(reason: &str) -> String {
    match reason {
        "empty" => "nothing to claim: nothing is in line".to_owned(),
        "not_before" => "nothing to claim: what is queued waits for its time".to_owned(),
        "no_match" => "nothing to claim: what is in line is not for agents that pull".to_owned(),
        other => format!("nothing to claim: {other}"),
    }
}

fn page(next: &Next) -> String {
    let dispatch = &next.dispatch;
    let head = format!(
        "#{} {}\n  dispatch  {}\n  attempt   {}, fence {}\n  lease     {} s\n",
        next.issue.number,
        clean_line(&next.issue.title),
        clean_line(&dispatch.id),
        dispatch.attempt,
        dispatch.fence,
        dispatch.lease_seconds
    );
    match &next.prompt {
        Some(prompt) => format!("{head}\n{}\n", clean_text(prompt.trim_end())),
        None => head,
    }
}
