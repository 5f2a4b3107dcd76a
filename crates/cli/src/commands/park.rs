//! `xb park`

use crate::commands::each::each_issue;
use crate::context::Context;
use crate::error::CliError;
use crate::task_ref::TaskRef;

/// Take tasks out of the line, back to the backlog
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskRef>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    each_issue(ctx, &args.ids, async |id| client.issue_park(id).await).await
}
