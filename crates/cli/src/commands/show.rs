//! `xb show`

use extraboard_api::client::{Client, ClientError};
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
        client.issue_get(&args.id.route()).await.map_err(|error| CliError::of_task(&error, &args.id))?;
    let project = match &detail.issue.project_id {
        Some(id) => Some(project_name(&client, id).await?),
        None => None,
    };
    ctx.out.show(&One { data: &detail }, |_| issue_page(&detail, project.as_deref()))
}

/// Returns what people call a project; one that was deleted has only its id left.
async fn project_name(client: &Client, id: &str) -> Result<String, CliError> {
    match client.project_get(id).await {
        Ok(project) => Ok(project.name),
        Err(ClientError::Api { status: 404, .. }) => Ok(format!("{id} (deleted)")),
        Err(error) => Err(error.into()),
    }
}
