//! `xb next`

use extraboard_api::dispatch::QueueQuery;

use crate::commands::claimer::{FLAGS, Wants};
use crate::commands::queue::{Columns, render};
use crate::context::Context;
use crate::error::{CliError, Kind};

/// Show which task would be handed out next, without taking it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    wants: Wants,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let query = QueueQuery { limit: Some(1), ..QueueQuery::from(args.wants.query()) };
    let queue = client.queue(&query).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    if queue.data.is_empty() {
        return Err(CliError::new(Kind::NotFound, "nothing is in line"));
    }
    ctx.out.show(&queue, |style| render(&queue, &Columns::default(), style))
}
