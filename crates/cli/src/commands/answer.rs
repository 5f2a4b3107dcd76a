//! `xb answer`

use extraboard_api::envelope::One;
use extraboard_api::inbox::Answer;

use crate::context::Context;
use crate::error::CliError;
use crate::output::issue_line;
use crate::task_ref::TaskRef;

/// Answer what a task's agent asked
///
/// The task goes back in line, and its next prompt holds question and answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// The answer
    #[arg(value_name = "TEXT")]
    answer: String,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let said = Answer { answer: args.answer.clone() };
    let answered = client.issue_answer(&args.id.route(), &said).await;
    let issue = answered.map_err(|error| CliError::of_task(&error, &args.id))?;
    ctx.out.show(&One { data: &issue }, |_| issue_line(&issue))
}
