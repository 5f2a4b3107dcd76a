//! `xb release`

use extraboard_api::dispatch::Release;

use crate::commands::holder::{show_reply, unclosed_dispatch};
use crate::context::{AgentName, Context};
use crate::error::CliError;
use crate::task_ref::TaskRef;

/// Give a task back undone; nothing is counted against it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// Report as this agent, which must hold the task
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let dispatch = unclosed_dispatch(&desk, &args.id).await?;
    let reply = desk.client.dispatch_release(&dispatch, &Release::default()).await?;
    show_reply(ctx, &reply)
}
