//! `xb config`

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::config::Shown;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Align, Style, Table};

/// Look at the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print each value and where it comes from
    ///
    /// Flags win over environment variables (`EXTRABOARD_SERVER_LISTEN` for server.listen), those over the
    /// file (--config, `EXTRABOARD_CONFIG`, or extraboard.toml in the data directory), that over the
    /// defaults. A file is TOML, or YAML if its name ends in .yaml or .yml. Profile, limits and poll interval
    /// are what a new database starts with; see `xb profile` for those in force.
    Show,
}

pub(crate) fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match args.command {
        Command::Show => {
            let shown = ctx.load()?.shown();
            ctx.out.show(&as_json(&shown), |style| as_table(&shown, style))
        }
    }
}

fn as_json(shown: &[Shown]) -> BTreeMap<String, Value> {
    let entry = |shown: &Shown| {
        (shown.key.name().into_owned(), json!({"value": shown.value, "origin": shown.origin}))
    };
    shown.iter().map(entry).collect()
}

fn as_table(shown: &[Shown], style: Style) -> String {
    let mut table = Table::new(&[("KEY", Align::Left), ("VALUE", Align::Left), ("ORIGIN", Align::Left)]);
    for Shown { key, value, origin } in shown {
        let value = match value {
            Value::Null => "none".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        table.row([key.name().into_owned(), value, origin.clone()]);
    }
    table.render(style)
}
