//! `xb token`

use extraboard_api::envelope::One;
use extraboard_api::token::{Token, TokenCreate};

use crate::context::{AgentName, Context};
use crate::error::{CliError, FlagNames, Kind};
use crate::moment::Moment;
use crate::output::{Align, Table, clean_line, talk};

const FLAGS: &FlagNames = &[
    ("scope", "--scope"),
    ("agent", "--agent"),
    ("name", "--name"),
    ("expiresAt", "--expires"),
    ("id", "ID"),
];

/// Make, list and revoke tokens
///
/// A desk that is not bound to loopback asks everybody for one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(CreateArgs),
    /// List all tokens, without their secrets
    List,
    /// Take a token back
    Revoke {
        /// The token, by its id in the list
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// Make a token and print its secret, which is told only now
#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// What it is good for: `admin`, `agent`, `node` or `viewer`
    #[arg(long, value_name = "SCOPE")]
    scope: String,

    /// The one agent that may use it; without, agents give their names in X-Agent-ID
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// When it ends, for example `30d` or 2027-01-01T00:00:00Z; never by default
    #[arg(long, value_name = "WHEN")]
    expires: Option<Moment>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let refused = |error| CliError::of_request(&error, FLAGS);
    match &args.command {
        Command::Create(args) => {
            let created = client.token_create(&create(args, ctx)?).await.map_err(refused)?;
            ctx.out.show(&One { data: &created }, |_| {
                talk(&format!("token {} for {}", created.token.id, created.token.name));
                clean_line(&created.secret)
            })
        }
        Command::List => {
            let tokens = client.token_list().await.map_err(refused)?;
            ctx.out.show(&tokens, |style| table(&tokens.data).render(style))
        }
        Command::Revoke { id } => {
            client.token_revoke(id).await.map_err(refused)?;
            ctx.out.show(&serde_json::json!({ "revoked": id }), |_| format!("token {id} was revoked"))
        }
    }
}

fn create(args: &CreateArgs, ctx: &Context) -> Result<TokenCreate, CliError> {
    let too_late = || CliError::new(Kind::Usage, "--expires: expected a moment before the end of time");
    let expires_at = match args.expires {
        Some(moment) => Some(moment.resolve(ctx.now).ok_or_else(too_late)?.to_string()),
        None => None,
    };
    Ok(TokenCreate {
        scope: args.scope.clone(),
        name: args.name.clone(),
        agent: args.agent.as_ref().map(|name| name.as_str().to_owned()),
        expires_at,
    })
}

fn table(tokens: &[Token]) -> Table {
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("SCOPE", Align::Left),
        ("NAME", Align::Left),
        ("AGENT", Align::Left),
        ("CREATED", Align::Left),
        ("EXPIRES", Align::Left),
    ]);
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for token in tokens {
        table.row([
            token.id.clone(),
            token.scope.clone(),
            token.name.clone(),
            or_dash(&token.agent),
            token.created_at.clone(),
            or_dash(&token.expires_at),
        ]);
    }
    table
}
