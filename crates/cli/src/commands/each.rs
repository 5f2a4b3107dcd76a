//! Doing one thing to several tasks: each is tried, each failure is told.

use extraboard_api::client::ClientError;
use extraboard_api::envelope::One;
use extraboard_api::issue::Issue;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::output::{Output, issue_line};
use crate::task_ref::TaskRef;

/// Runs `act` on each task and prints the task as it is then.
pub(crate) async fn each_issue(
    ctx: &Context,
    tasks: &[TaskRef],
    act: impl AsyncFn(&str) -> Result<Issue, ClientError>,
) -> Result<(), CliError> {
    each(ctx.out, tasks, async |task| {
        let issue = act(&task.route()).await.map_err(|error| CliError::of_task(&error, task))?;
        ctx.out.show(&One { data: &issue }, |_| issue_line(&issue))
    })
    .await
}

/// Runs `act` on each task; the outcome is that of the first failure.
async fn each(
    out: Output,
    tasks: &[TaskRef],
    act: impl AsyncFn(&TaskRef) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut first: Option<Kind> = None;
    for task in tasks {
        let Err(error) = act(task).await else { continue };
        // Without a desk or a reader the others would fare no better.
        if tasks.len() == 1 || matches!(error.kind(), Kind::NoDesk | Kind::BrokenPipe) {
            return Err(error);
        }
        out.tell(&error);
        first.get_or_insert(error.kind());
    }
    first.map_or(Ok(()), |kind| Err(CliError::told(kind)))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::output::{Form, Style};

    async fn check(tasks: &[i64], fails: &[(i64, Kind)], tried: &[i64], outcome: Option<Kind>) {
        let seen = RefCell::new(Vec::new());
        let tasks: Vec<TaskRef> = tasks.iter().copied().map(TaskRef::Number).collect();
        let result = each(Output::new(Form::Text, Style::Plain), &tasks, async |task| {
            let TaskRef::Number(number) = *task else { unreachable!("only numbers here") };
            seen.borrow_mut().push(number);
            let failure = fails.iter().find(|(failing, _)| *failing == number);
            failure.map_or(Ok(()), |(_, kind)| Err(CliError::told(*kind)))
        })
        .await;
        assert_eq!(*seen.borrow(), tried);
        assert_eq!(result.err().map(|error| error.kind()), outcome);
    }

    #[tokio::test]
    async fn every_task_is_tried_and_the_first_failure_counts() {
        check(&[1, 2, 3], &[], &[1, 2, 3], None).await;
        check(&[1, 2, 3], &[(2, Kind::Conflict), (3, Kind::NotFound)], &[1, 2, 3], Some(Kind::Conflict))
            .await;
    }

    #[tokio::test]
    async fn without_a_desk_the_rest_is_not_tried() {
        check(&[1, 2], &[(1, Kind::NoDesk)], &[1], Some(Kind::NoDesk)).await;
    }
}
