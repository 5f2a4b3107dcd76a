//! `xb inbox`

use extraboard_api::inbox::{InboxItem, InboxQuery};

use crate::commands::number::whole;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{Align, Table, talk};

const FLAGS: &FlagNames = &[("kind", "--kind"), ("limit", "--limit"), ("id", "ITEM")];

/// Show what waits for a person
///
/// Questions are answered with `xb answer ID TEXT`; what is blocked or was given up goes on with `xb retry ID`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// Only these kinds, for example `question,dead_letter`
    #[arg(long, value_name = "KIND,…")]
    kind: Option<String>,

    /// At most this many
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Put an item away; its task stays as it is
    Dismiss {
        /// The item, by its number in the inbox
        #[arg(value_name = "ITEM")]
        item: i64,
    },
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    if let Some(Command::Dismiss { item }) = args.command {
        client.inbox_dismiss(item).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
        return ctx.out.show(&serde_json::json!({ "dismissed": item }), |_| format!("{item} was put away"));
    }
    let query = InboxQuery { kind: args.kind.clone(), limit: args.limit, offset: None };
    let inbox = client.inbox_list(&query).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&inbox, |style| {
        talk(&format!("{} of {} wait for a person", inbox.data.len(), inbox.total));
        if inbox.data.is_empty() { String::new() } else { table(&inbox.data).render(style) }
    })
}

fn table(items: &[InboxItem]) -> Table {
    let mut table = Table::new(&[
        ("ITEM", Align::Right),
        ("KIND", Align::Left),
        ("TASK", Align::Right),
        ("TITLE", Align::Left),
        ("WHAT", Align::Left),
    ]);
    for item in items {
        table.row([
            item.id.to_string(),
            item.kind.clone(),
            format!("#{}", item.number),
            item.title.clone(),
            item.text.clone().unwrap_or_default(),
        ]);
    }
    table
}
