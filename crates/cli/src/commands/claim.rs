//! `xb claim`

use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::client::{Claim, Client, Credentials};
use extraboard_api::dispatch::{Next, Release};

use crate::context::{AgentName, Context};
use crate::error::{CliError, FlagNames, Kind};
use crate::output::{clean_line, clean_text};

const FLAGS: &FlagNames = &[("Idempotency-Key", "--key")];

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
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let claimed = desk.client.claim(&ClaimerQuery::default(), args.key.as_deref()).await;
    let next = match claimed.map_err(|error| CliError::of_request(&error, FLAGS))? {
        Claim::Work(next) => next,
        Claim::Nothing { reason, .. } => return Err(CliError::new(Kind::NotFound, nothing(&reason))),
    };
    match ctx.out.show(&next, |_| page(&next)) {
        // With a key the same claim can be made again; without one nobody would ever know of it.
        Err(error) if args.key.is_none() => Err(give_back(&desk.url, &next, &error).await),
        shown => shown,
    }
}

/// Releases what was claimed and could not be told, even if whoever reads has merely closed the pipe: half an
/// answer is no claim.
async fn give_back(url: &str, next: &Next, unwritten: &CliError) -> CliError {
    let token = Credentials::Bearer(next.dispatch.token.clone());
    let released = match Client::new(url, &token) {
        Ok(holder) => holder.dispatch_release(&next.dispatch.id, &Release::default()).await.map(drop),
        Err(error) => Err(error),
    };
    let (unwritten, number) = (unwritten.message(), next.issue.number);
    let message = match released {
        Ok(()) => format!("{unwritten}; #{number} was claimed and given back"),
        Err(error) => format!(
            "{unwritten}; #{number} is claimed until its lease ends, for it could not be given back: {error}"
        ),
    };
    CliError::new(Kind::Failed, message)
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
