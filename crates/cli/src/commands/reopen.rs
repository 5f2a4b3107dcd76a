//! `xb reopen`

use crate::commands::each::each_issue;
use crate::context::Context;
use crate::error::CliError;
use crate::task_ref::TaskRef;

/// Put done or canceled tasks in line again
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskRef>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    each_issue(ctx, &args.ids, async |id| client.issue_reopen(id).await).await
}
