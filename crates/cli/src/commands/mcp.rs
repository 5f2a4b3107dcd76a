//! `xb mcp`

use extraboard_api::claimer::ClaimerQuery;
use extraboard_mcp::{Settings, serve_stdio};

use crate::commands::claimer::{Wants, WorksOn};
use crate::context::{AgentName, Context};
use crate::error::{CliError, Kind};
use crate::logging;
use crate::signals::Signals;

/// Speak MCP on standard input and output, for an agent to take work and report on it
///
/// To be started by an agent's own configuration: see `xb connect`. While its session lives it renews the
/// leases of what the agent holds; when its standard input closes it gives that back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Work as this agent
    #[arg(long, value_name = "NAME", default_value = "mcp")]
    agent: AgentName,

    /// What the agent is run by
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,

    /// Only tasks of this project, by name or uuid
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    logging::init(&ctx.load()?.config.log, ctx.log_style());
    let stop = Signals::catch()?;
    let desk = ctx.desk_as(Some(&args.agent))?;
    let query = args.works_on.add_to(args.wants.query(args.project.clone()));
    let settings = Settings {
        client: desk.client,
        url: desk.url,
        agent: args.agent.as_str().to_owned(),
        claimer: ClaimerQuery { adapter: args.adapter.clone(), ..query },
    };
    match serve_stdio(settings, stop.wait()).await {
        // A read of standard input that nobody can take back would hold the program up.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Err(CliError::new(Kind::Failed, format!("{error}{cause}")))
        }
    }
}
