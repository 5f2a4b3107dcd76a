//! `xb move`

use extraboard_api::issue_ref::IssueRef;
use extraboard_api::order::{IssueMove, IssueMoved};

use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{clean_line, position_text};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[("before", "--before"), ("after", "--after")];

/// Move a task before or after another one in line
///
/// Its boost changes by the least that puts it there, so it may pass others, too, and others may stand between
/// the two. Nothing changes if it stands there already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Somewhere before this task
    #[arg(long, value_name = "ID")]
    before: Option<TaskRef>,

    /// Somewhere after this task
    #[arg(long, value_name = "ID")]
    after: Option<TaskRef>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let other = |task: &TaskRef| IssueRef::from(task.route());
    let body = match (&args.place.before, &args.place.after) {
        (Some(before), _) => IssueMove::Before(other(before)),
        (None, Some(after)) => IssueMove::After(other(after)),
        (None, None) => unreachable!("clap asks for one of them"),
    };
    let client = ctx.desk()?.client;
    let moved = client.issue_move(&args.id.route(), &body).await;
    let moved = moved.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&moved, |_| line(&moved))
}

fn line(moved: &IssueMoved) -> String {
    let IssueMoved { data: issue, position, position_capped } = moved;
    let place = match position {
        Some(position) => format!("is at position {}", position_text(*position, *position_capped)),
        None => "is not in line any more".to_owned(),
    };
    format!("#{} {place} with boost {}: {}", issue.number, issue.boost, clean_line(&issue.title))
}
