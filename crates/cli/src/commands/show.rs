//! `xb show`

use extraboard_api::envelope::One;

use crate::context::Context;
use crate::error::CliError;
use crate::output::issue_page;
use crate::task_ref::TaskRef;

/// Show one task
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let detail =
        client.issue_get(&args.id.route()).await.map_err(|error| CliError::of_task(error, &args.id))?;
    ctx.out.show(&One { data: &detail }, |_| issue_page(&detail))
}
