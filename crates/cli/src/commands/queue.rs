//! `xb queue`

use extraboard_api::dispatch::{Queue, QueueQuery};

use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{Align, Style, Table, talk};

const FLAGS: &FlagNames = &[("limit", "--limit"), ("offset", "--offset")];

/// List what would be handed out, in that order
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N")]
    offset: Option<i64>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let query = QueueQuery { limit: args.limit, offset: args.offset, ..QueueQuery::default() };
    let queue = client.queue(&query).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&queue, |style| {
        let more = if queue.total_capped { "+" } else { "" };
        talk(&format!("{} of {}{more} in line", queue.data.len(), queue.total));
        if queue.data.is_empty() { String::new() } else { render(&queue, style) }
    })
}

/// Returns the line as a table.
pub(crate) fn render(queue: &Queue, style: Style) -> String {
    let mut table = Table::new(&[
        ("ID", Align::Right),
        ("SCORE", Align::Right),
        ("PRIO", Align::Right),
        ("AGE", Align::Right),
        ("KIND", Align::Left),
        ("TITLE", Align::Left),
    ]);
    for entry in &queue.data {
        table.row([
            format!("#{}", entry.issue.number),
            entry.score.to_string(),
            entry.breakdown.priority_weight.to_string(),
            entry.breakdown.age_bonus.to_string(),
            entry.issue.kind.clone(),
            entry.issue.title.clone(),
        ]);
    }
    table.render(style)
}
