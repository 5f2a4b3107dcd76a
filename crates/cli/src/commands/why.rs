//! `xb why`

use extraboard_api::envelope::One;
use extraboard_api::why::WhyQuery;

use crate::commands::claimer::{FLAGS, Wants, WorksOn};
use crate::context::{AgentName, Context};
use crate::error::CliError;
use crate::output::why_page;
use crate::task_ref::TaskRef;

/// Show why a task runs, waits or never will, and what would start it
///
/// For anyone, unless flags say for whom: then for that claimer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// For this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    /// Only tasks of this project, by name or uuid
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let claimer = args.works_on.add_to(args.wants.query(args.project.clone()));
    let agent = args.agent.as_ref().map(|name| name.as_str().to_owned());
    let query = WhyQuery { agent, ..WhyQuery::from(claimer) };
    let asked = client.issue_why(&args.id.route(), &query).await;
    let why = asked.map_err(|error| CliError::of_named(&error, &format!("task {}", args.id), FLAGS))?;
    ctx.out.show(&One { data: &why }, |_| why_page(&why))
}
