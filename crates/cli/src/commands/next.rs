//! `xb next`

use extraboard_api::dispatch::QueueQuery;

use crate::commands::claimer::{FLAGS, Wants, WorksOn};
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
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let claimer = args.works_on.add_to(args.wants.query());
    let query = QueueQuery { limit: Some(1), ..QueueQuery::from(claimer) };
    let queue = client.queue(&query).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    if queue.data.is_empty() {
        return Err(CliError::new(Kind::NotFound, "nothing is in line"));
    }
    ctx.out.show(&queue, |style| render(&queue, &Columns::default(), style))
}
