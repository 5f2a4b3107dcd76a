//! Reporting on a task by its number: the dispatch is looked up first.

use extraboard_api::dispatch::ReportReply;
use extraboard_api::issue::Issue;

use crate::context::{Context, Desk};
use crate::error::{CliError, Kind};
use crate::output::{clean_line, issue_line};
use crate::task_ref::TaskRef;

/// Returns the id of the task's dispatch that is not closed.
pub(crate) async fn unclosed_dispatch(desk: &Desk, task: &TaskRef) -> Result<String, CliError> {
    let detail =
        desk.client.issue_get(&task.route()).await.map_err(|error| CliError::of_task(&error, task))?;
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
    ctx.out.show(reply, |_| line(&reply.issue))
}

/// Returns where the task is now, or what it waits for: a holder that works is told to stop, not robbed.
fn line(issue: &Issue) -> String {
    match &issue.dispatch {
        Some(dispatch) if dispatch.phase == "ending" => format!(
            "{} was told to stop: #{} moves when it has stopped, or when its lease ends",
            clean_line(&dispatch.holder),
            issue.number
        ),
        Some(_) | None => issue_line(issue),
    }
}
