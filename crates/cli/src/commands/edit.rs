//! `xb edit`

use extraboard_api::issue::IssuePatch;

use crate::commands::add::{Door, description, door_names, issue_ref, not_before};
use crate::commands::labels;
use crate::commands::number::{points, whole};
use crate::commands::or_none::OrNone;
use crate::commands::priority::Priority;
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::moment::Moment;
use crate::output::issue_line;
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[
    ("title", "--title"),
    ("description", "--description"),
    ("type", "--kind"),
    ("priorityValue", "--points"),
    ("doors", "--doors"),
    ("maxRetries", "--max-retries"),
    ("notBefore", "--not-before"),
    ("projectId", "--project"),
    ("parentId", "--parent"),
    ("gatedByParent", "--gated"),
    ("boost", "--boost"),
    ("needs", "--needs"),
    ("owner", "--owner"),
    ("inputArtifact", "--artifact"),
    ("labelIds", "--label"),
];

/// What takes all needs away.
const NONE: &str = "none";

/// Change a task; what is not named stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// What is to be done, in a line
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,

    /// What is to be done, at length; - reads standard input, an empty text takes it away
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// What kind of work it is: signal, hypothesis, plan, spec, phase, code, task or monitor
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// How much it matters
    #[arg(long, value_name = "LEVEL")]
    priority: Option<Priority>,

    /// How much it matters, in points from 1 to 100
    #[arg(long, value_name = "N", conflicts_with = "priority", value_parser = points)]
    points: Option<i64>,

    /// The points its score is raised by, in place of those it has; fewer than none lower it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    boost: Option<i64>,

    /// What a claimer must be able to do, for example `rust,gpu`, or none
    #[arg(long, value_name = "WORD,…|none", value_delimiter = ',')]
    needs: Option<Vec<String>>,

    /// Hand it only to claimers that work for this owner, or to anyone (none)
    #[arg(long, value_name = "NAME|none")]
    owner: Option<OrNone<String>>,

    /// The project it belongs to, by name or uuid, or none
    #[arg(long, value_name = "PROJECT|none")]
    project: Option<OrNone<String>>,

    /// The task it is a part of, or none
    #[arg(long, value_name = "ID|none")]
    parent: Option<OrNone<TaskRef>>,

    #[command(flatten)]
    gate: Gate,

    /// The ways it may leave: any, or some of pull, push and run
    #[arg(long, value_name = "DOOR,…", value_delimiter = ',')]
    doors: Option<Vec<Door>>,

    /// Do not hand it out before then: a time such as 2026-05-01T12:00:00Z, a span from now such as 10m or 2h, or
    /// none
    #[arg(long, value_name = "WHEN|none")]
    not_before: Option<OrNone<Moment>>,

    /// Do not hand it out before this artifact is there, a path in the project, or wait for none
    #[arg(long, value_name = "PATH|none")]
    artifact: Option<OrNone<String>>,

    /// Words to sort it by beside those it has, for example `bug,web`; those that are not there yet are added
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    label: Vec<String>,

    /// Words to sort it by no longer
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    unlabel: Vec<String>,

    /// How often to try again after a failure, 0 to 100
    #[arg(long, value_name = "N", value_parser = whole)]
    max_retries: Option<i64>,
}

/// Whether a task waits for its parent.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Gate {
    /// Do not hand it out before its parent is done
    #[arg(long)]
    gated: bool,

    /// Hand it out whether its parent is done or not
    #[arg(long)]
    ungated: bool,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let mut patch = request(args, ctx)?;
    let relabels = !args.label.is_empty() || !args.unlabel.is_empty();
    if patch == IssuePatch::default() && !relabels {
        return Err(CliError::new(Kind::Usage, "expected at least one change, such as --boost 10"));
    }
    let client = ctx.desk()?.client;
    if relabels {
        let found = client.issue_get(&args.id.route()).await;
        let issue = found.map_err(|error| CliError::of_task(&error, &args.id))?.issue;
        labels::make_missing(&client, &args.label).await?;
        patch.label_ids = Some(labels::changed(&issue, &args.label, &args.unlabel));
    }
    let patched = client.issue_patch(&args.id.route(), &patch).await;
    let patched = patched.map_err(|error| CliError::of_named(&error, &format!("task {}", args.id), FLAGS))?;
    ctx.out.show(&patched, |_| issue_line(&patched.data))
}

fn request(args: &Args, ctx: &Context) -> Result<IssuePatch, CliError> {
    let text = args.description.as_deref().map(description).transpose()?;
    let moment = args.not_before.map(|moment| moment.0.map(|moment| not_before(moment, ctx)).transpose());
    let priority = args.priority.map(Priority::points);
    Ok(IssuePatch {
        title: args.title.clone(),
        description: text.map(|text| Some(text).filter(|text| !text.is_empty())),
        kind: args.kind.clone(),
        priority_value: args.points.or(priority),
        doors: args.doors.as_deref().map(door_names),
        max_retries: args.max_retries,
        not_before: moment.transpose()?,
        project_id: args.project.clone().map(|project| project.0),
        parent_id: args.parent.as_ref().map(|parent| parent.0.as_ref().map(issue_ref)),
        gated_by_parent: (args.gate.gated || args.gate.ungated).then_some(args.gate.gated),
        boost: args.boost,
        needs: args.needs.as_deref().map(needs),
        owner: args.owner.clone().map(|owner| owner.0),
        input_artifact: args.artifact.clone().map(|path| path.0),
        ..IssuePatch::default()
    })
}

fn needs(words: &[String]) -> Vec<String> {
    if words == [NONE] { Vec::new() } else { words.to_vec() }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Environment;

    fn check(line: &str, expected: &Value) {
        let words = ["xb", "edit", "7"].into_iter().chain(line.split_whitespace());
        let cli = Cli::try_parse_from(words).unwrap();
        let ctx = Context::new(cli.global, Environment::default(), "2026-01-01T00:00:00Z".parse().unwrap());
        let Command::Edit(args) = cli.command else { unreachable!("the command is edit") };
        assert_eq!(serde_json::to_value(request(&args, &ctx).unwrap()).unwrap(), *expected, "{line}");
    }

    #[test]
    fn only_what_is_named_is_sent() {
        check("", &json!({}));
        check("--title t -d d --kind code", &json!({"title": "t", "description": "d", "type": "code"}));
        check("--priority high --boost -5", &json!({"priorityValue": 75, "boost": -5}));
        check("--points 7 --max-retries 0", &json!({"priorityValue": 7, "maxRetries": 0}));
        check("--needs gpu,rust --owner ann", &json!({"needs": ["gpu", "rust"], "owner": "ann"}));
        check(
            "--project apollo --parent #3 --gated",
            &json!({"projectId": "apollo", "parentId": "3", "gatedByParent": true}),
        );
        check("--ungated --doors run,pull", &json!({"gatedByParent": false, "doors": ["pull", "run"]}));
        check(
            "--not-before 2h --artifact out/plan.md",
            &json!({"notBefore": "2026-01-01T02:00:00Z", "inputArtifact": "out/plan.md"}),
        );
    }

    #[test]
    fn none_takes_away() {
        check(
            "--needs none --owner none --project none --parent none --not-before none --artifact none -d=",
            &json!({
                "needs": [], "owner": null, "projectId": null, "parentId": null, "notBefore": null,
                "inputArtifact": null, "description": null
            }),
        );
    }
}
