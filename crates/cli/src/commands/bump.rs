//! `xb bump`

use extraboard_api::envelope::One;
use extraboard_api::order::IssueBump;

use crate::commands::number::whole;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::clean_line;
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[("by", "--by")];

/// Raise a task's score by a boost of its own
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// By so many points; fewer than none lower it
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    by: i64,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let bumped = client.issue_bump(&args.id.route(), &IssueBump { by: Some(args.by) }).await;
    let issue = bumped.map_err(|error| CliError::of_named(&error, &format!("task {}", args.id), FLAGS))?;
    ctx.out.show(&One { data: &issue }, |_| {
        format!("#{} has boost {}: {}", issue.number, issue.boost, clean_line(&issue.title))
    })
}
