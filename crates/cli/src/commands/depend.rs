//! `xb depend`

use extraboard_api::client::{Client, ClientError};
use extraboard_api::envelope::Many;
use extraboard_api::issue_ref::IssueRef;
use extraboard_api::relation::{Relation, RelationCreate};

use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::task_ref::TaskRef;

/// What a task that waits for another one is to it.
const BLOCKED_BY: &str = "blocked_by";

const FLAGS: &FlagNames = &[("relatedIssueId", "--on")];

/// Make a task wait until others are done
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task that waits
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// The tasks that come first
    #[arg(long, required = true, value_name = "ID,…", value_delimiter = ',')]
    on: Vec<TaskRef>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let known = dependencies(&client, &args.id).await?;
    // Looked up before anything is said, so that a wrong number changes nothing.
    for on in &args.on {
        client.issue_get(&on.route()).await.map_err(|error| unknown(&error, on))?;
    }
    let (mut relations, mut lines) = (Vec::new(), Vec::new());
    let mut failed = Ok(());
    for on in &args.on {
        let create =
            RelationCreate { kind: BLOCKED_BY.to_owned(), related_issue_id: IssueRef::from(on.route()) };
        match client.relation_create(&args.id.route(), &create).await {
            Ok(relation) => {
                let is_known = known.iter().any(|known| known.id == relation.id);
                let already = if is_known { " already" } else { "" };
                lines.push(format!("{} waits for #{}{already}\n", args.id, relation.related.number));
                relations.push(relation);
            }
            Err(error) => {
                failed = Err(CliError::of_request(&error, FLAGS));
                break;
            }
        }
    }
    // What was done before a failure is told all the same.
    if failed.is_ok() || !relations.is_empty() {
        let total = i64::try_from(relations.len()).unwrap_or(i64::MAX);
        ctx.out.show(&Many { data: relations, total }, |_| lines.concat())?;
    }
    failed
}

fn unknown(error: &ClientError, on: &TaskRef) -> CliError {
    match error {
        ClientError::Api { status: 404, .. } => {
            CliError::new(Kind::Usage, format!("--on: there is no task {on}"))
        }
        other => CliError::of_request(other, FLAGS),
    }
}

/// Returns the relations by which a task waits for others.
pub(crate) async fn dependencies(client: &Client, task: &TaskRef) -> Result<Vec<Relation>, CliError> {
    let list = client.relation_list(&task.route()).await.map_err(|error| CliError::of_task(&error, task))?;
    Ok(list.data.into_iter().filter(|relation| relation.kind == BLOCKED_BY).collect())
}
