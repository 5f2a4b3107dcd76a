//! `xb resume`

use extraboard_api::envelope::One;

use crate::commands::projects::{FLAGS, project_line};
use crate::context::Context;
use crate::error::CliError;

/// Hand out a project's tasks again
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project, by name or uuid
    #[arg(value_name = "PROJECT")]
    project: String,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let resumed = client.project_resume(&args.project).await;
    let project =
        resumed.map_err(|error| CliError::of_named(&error, &format!("project {}", args.project), FLAGS))?;
    ctx.out.show(&One { data: &project }, |_| project_line(&project))
}
