//! `xb list`

use extraboard_api::issue::{IssueList, IssueQuery};

use crate::commands::number::whole;
use crate::commands::of_project::{self, OfProject};
use crate::commands::priority::Priority;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{issue_table, talk};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[
    ("status", "--status"),
    ("type", "--kind"),
    ("projectId", "--project"),
    ("parentId", "--parent"),
    ("labelId", "--label"),
    ("externalKey", "--external-key"),
    ("limit", "--limit"),
    ("offset", "--offset"),
    ("cursor", "--cursor"),
];

/// List tasks, oldest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these statuses, for example `todo,in_progress`
    #[arg(long, value_name = "STATUS,…")]
    status: Option<String>,

    /// Only these kinds, for example `task,signal`
    #[arg(long, value_name = "KIND,…")]
    kind: Option<String>,

    /// Only this priority
    #[arg(long, value_name = "LEVEL")]
    priority: Option<Priority>,

    #[command(flatten)]
    pub(crate) of_project: OfProject,

    /// Only children of this task
    #[arg(long, value_name = "ID")]
    parent: Option<TaskRef>,

    /// Only tasks with this label, by name or uuid
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,

    /// Only the task that came from elsewhere with this key
    #[arg(long, value_name = "KEY")]
    external_key: Option<String>,

    /// At most this many, 1 to 200; 50 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,

    /// Go on where another page ended
    #[arg(long, value_name = "CURSOR", conflicts_with = "offset")]
    cursor: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let project = args.of_project.meant(ctx)?;
    let query = IssueQuery {
        status: args.status.clone(),
        kind: args.kind.clone(),
        priority: args.priority.map(Priority::level),
        limit: args.limit,
        offset: args.offset,
        cursor: args.cursor.clone(),
        project_id: of_project::name(project.as_ref()),
        parent_id: args.parent.as_ref().map(TaskRef::route),
        label_id: args.label.clone(),
        external_key: args.external_key.clone(),
    };
    let list = match client.issue_list(&query).await {
        Ok(list) => list,
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&client, project.as_ref(), error).await);
        }
    };
    ctx.out.show(&list, |style| {
        talk(&summary(&list));
        if list.data.is_empty() { String::new() } else { issue_table(&list.data).render(style) }
    })
}

fn summary(list: &IssueList) -> String {
    let more = if list.total_capped { "+" } else { "" };
    let shown = format!("{} of {}{more} tasks", list.data.len(), list.total);
    match &list.next_cursor {
        Some(cursor) => format!("{shown}; more with --cursor {cursor}"),
        None => shown,
    }
}
