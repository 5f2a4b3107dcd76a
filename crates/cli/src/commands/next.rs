//! `xb next`

use extraboard_api::dispatch::QueueQuery;

use crate::commands::claimer::{FLAGS, Wants, WorksOn};
use crate::commands::of_project::{self, OfProject};
use crate::commands::queue::{Columns, render};
use crate::context::{AgentName, Context};
use crate::error::{CliError, Kind};

/// Show which task would be handed out next, without taking it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What this agent would get
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    #[command(flatten)]
    of_project: OfProject,

    #[command(flatten)]
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let project = args.of_project.meant(ctx)?;
    let claimer = args.works_on.add_to(args.wants.query(of_project::name(project.as_ref())));
    let query = QueueQuery { limit: Some(1), ..QueueQuery::from(claimer) };
    let queue = match client.queue(&query).await {
        Ok(queue) => queue,
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&client, project.as_ref(), error).await);
        }
    };
    if queue.data.is_empty() {
        return Err(CliError::new(Kind::NotFound, "nothing is in line"));
    }
    ctx.out.show(&queue, |style| render(&queue, &Columns::default(), style))
}
