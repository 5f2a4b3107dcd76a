//! `xb gates`

use extraboard_api::envelope::One;
use extraboard_api::gate::{AccountGate, GatePath};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{Align, Style, Table, clean_line, talk};

const FLAGS: &FlagNames = &[("provider", "PROVIDER"), ("account", "ACCOUNT")];

/// List the provider accounts that refused work, or open the gate of one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Open(OpenArgs),
}

/// Hand out work on an account again, before its time
#[derive(Debug, clap::Args)]
struct OpenArgs {
    /// Whose account it is
    #[arg(value_name = "PROVIDER")]
    provider: String,

    /// Which account, if it has a name
    #[arg(value_name = "ACCOUNT", default_value = "", hide_default_value = true)]
    account: String,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match &args.command {
        None => list(ctx).await,
        Some(Command::Open(args)) => open(args, ctx).await,
    }
}

async fn list(ctx: &Context) -> Result<(), CliError> {
    let gates = ctx.desk()?.client.gate_list().await?;
    ctx.out.show(&One { data: &gates }, |style| {
        if gates.is_empty() {
            talk("no provider account refuses work");
            return String::new();
        }
        table(&gates, style)
    })
}

async fn open(args: &OpenArgs, ctx: &Context) -> Result<(), CliError> {
    let OpenArgs { provider, account } = args;
    let name = if account.is_empty() { provider.clone() } else { format!("{provider}/{account}") };
    let opened = ctx.desk()?.client.gate_delete(GatePath { provider, account }).await;
    opened.map_err(|error| CliError::of_named(&error, &format!("gate of {name}"), FLAGS))?;
    let told = json!({"opened": {"provider": provider, "account": account}});
    ctx.out.show(&told, |_| format!("work is handed out on {} again", clean_line(&name)))
}

fn table(gates: &[AccountGate], style: Style) -> String {
    let mut table = Table::new(&[
        ("PROVIDER", Align::Left),
        ("ACCOUNT", Align::Left),
        ("REFUSALS", Align::Right),
        ("CLOSED UNTIL", Align::Left),
    ]);
    let or_dash = |text: &str| if text.is_empty() { "-" } else { text }.to_owned();
    for gate in gates {
        table.row([
            gate.provider.clone(),
            or_dash(&gate.account),
            gate.hits.to_string(),
            or_dash(gate.until.as_deref().unwrap_or_default()),
        ]);
    }
    table.render(style)
}
