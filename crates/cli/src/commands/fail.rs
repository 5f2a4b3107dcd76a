//! `xb fail`

use extraboard_api::dispatch::Fail;

use crate::commands::holder::{show_reply, unclosed_dispatch};
use crate::context::{AgentName, Context};
use crate::error::{CliError, FlagNames};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[("error", "--error"), ("class", "--class")];

/// Report that the work on a task failed
///
/// The task goes back in line after a while, unless its retries are used up or --no-retry is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// Say what went wrong
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,

    /// Say what kind of failure it was: `execution_failed`, `attempt_timeout`, `crash`, `agent_unavailable`,
    /// `setup` or `rate_limited`
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,

    /// Do not try again
    #[arg(long)]
    no_retry: bool,

    /// Report as this agent, which must hold the task
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let dispatch = unclosed_dispatch(&desk, &args.id).await?;
    let body = Fail {
        error: args.error.clone(),
        class: args.class.clone(),
        retryable: args.no_retry.then_some(false),
        ..Fail::default()
    };
    let failed = desk.client.dispatch_fail(&dispatch, &body).await;
    let reply = failed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    show_reply(ctx, &reply)
}
