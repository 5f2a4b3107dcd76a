//! `xb next`

use extraboard_api::dispatch::QueueQuery;

use crate::commands::queue::render;
use crate::context::Context;
use crate::error::{CliError, Kind};

/// Show which task would be handed out next, without taking it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) async fn run(_args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let queue = client.queue(&QueueQuery { limit: Some(1), ..QueueQuery::default() }).await?;
    if queue.data.is_empty() {
        return Err(CliError::new(Kind::NotFound, "nothing is in line"));
    }
    ctx.out.show(&queue, |style| render(&queue, style))
}
