//! Reporting on a task by its number: the dispatch is looked up first.

use extraboard_api::dispatch::ReportReply;

use crate::context::{Context, Desk};
use crate::error::{CliError, Kind};
use crate::output::issue_line;
use crate::task_ref::TaskRef;

/// Returns the id of the task's dispatch that is not closed.
pub(crate) async fn unclosed_dispatch(desk: &Desk, task: &TaskRef) -> Result<String, CliError> {
    let detail =
        desk.client.issue_get(&task.route()).await.map_err(|error| CliError::of_task(error, task))?;
    match detail.issue.dispatch {
        Some(dispatch) => Ok(dispatch.id),
        None => Err(CliError::new(
            Kind::Conflict,
            format!("task {task} is {}: nobody holds it", detail.issue.state),
        )),
    }
}

/// Prints what a report was answered.
pub(crate) fn show_reply(ctx: &Context, reply: &ReportReply) -> Result<(), CliError> {
    ctx.out.show(reply, |_| issue_line(&reply.issue))
}
