//! `xb done`

use extraboard_api::issue::IssuePatch;

use crate::commands::each::each_issue;
use crate::context::{AgentName, Context};
use crate::error::CliError;
use crate::task_ref::TaskRef;

/// Report tasks as done
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskRef>,

    /// Say what was done
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,

    /// Report as this agent, which must hold the task
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let patch = IssuePatch {
        status: Some("done".to_owned()),
        agent_summary: args.summary.clone().map(Some),
        ..IssuePatch::default()
    };
    each_issue(ctx, &args.ids, async |id| Ok(client.issue_patch(id, &patch).await?.data)).await
}
