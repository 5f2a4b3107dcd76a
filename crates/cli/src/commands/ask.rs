//! `xb ask`

use extraboard_api::dispatch::Ask;

use crate::commands::holder::{show_reply, unclosed_dispatch};
use crate::context::{AgentName, Context};
use crate::error::{CliError, FlagNames};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[("question", "QUESTION")];

/// Ask a person something about a task
///
/// The work on it is over until `xb answer` puts it back in line with the answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// The question
    #[arg(value_name = "QUESTION")]
    question: String,

    /// Ask as this agent, which must hold the task
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let dispatch = unclosed_dispatch(&desk, &args.id).await?;
    let body = Ask { question: Some(args.question.clone()), ..Ask::default() };
    let asked = desk.client.dispatch_ask(&dispatch, &body).await;
    let reply = asked.map_err(|error| CliError::of_request(&error, FLAGS))?;
    show_reply(ctx, &reply)
}
