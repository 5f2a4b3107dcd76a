//! `xb pause`

use extraboard_api::envelope::One;

use crate::commands::projects::{FLAGS, project_line};
use crate::context::Context;
use crate::error::CliError;

/// Stop handing out a project's tasks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project, by name or uuid
    #[arg(value_name = "PROJECT")]
    project: String,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let paused = client.project_pause(&args.project).await;
    let project =
        paused.map_err(|error| CliError::of_named(&error, &format!("project {}", args.project), FLAGS))?;
    ctx.out.show(&One { data: &project }, |_| project_line(&project))
}
