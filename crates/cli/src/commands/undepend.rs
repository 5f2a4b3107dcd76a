//! `xb undepend`

use extraboard_api::envelope::Many;
use extraboard_api::relation::Relation;

use crate::commands::depend::dependencies;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::task_ref::TaskRef;

/// Make a task wait for others no longer
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task that waits
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// The tasks that need not come first any more
    #[arg(long, required = true, value_name = "ID,…", value_delimiter = ',')]
    on: Vec<TaskRef>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let known = dependencies(&client, &args.id).await?;
    // Looked up before anything is deleted, so that a wrong number changes nothing.
    let relations = args.on.iter().map(|on| find(&args.id, on, &known)).collect::<Result<Vec<_>, _>>()?;
    for relation in &relations {
        client.relation_delete(&relation.id).await?;
    }
    let line =
        |relation: &Relation| format!("{} waits for #{} no longer\n", args.id, relation.related.number);
    let lines: Vec<String> = relations.iter().map(line).collect();
    let total = i64::try_from(relations.len()).unwrap_or(i64::MAX);
    ctx.out.show(&Many { data: relations, total }, |_| lines.concat())
}

fn find(task: &TaskRef, on: &TaskRef, known: &[Relation]) -> Result<Relation, CliError> {
    let is_on = |relation: &&Relation| match on {
        TaskRef::Number(number) => relation.related.number == *number,
        TaskRef::Id(id) => relation.related_issue_id == id.to_string(),
    };
    let none = || CliError::new(Kind::NotFound, format!("task {task} does not wait for {on}"));
    known.iter().find(is_on).cloned().ok_or_else(none)
}
