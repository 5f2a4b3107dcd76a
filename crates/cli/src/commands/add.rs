//! `xb add`

use std::io::{self, Read as _};

use extraboard_api::client::Client;
use extraboard_api::envelope::One;
use extraboard_api::issue::IssueCreate;
use extraboard_api::issue_ref::IssueRef;
use extraboard_core::profile::Profile;

use crate::commands::labels;
use crate::commands::number::{points, whole};
use crate::commands::of_project::{self, OfProject};
use crate::commands::priority::Priority;
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::moment::Moment;
use crate::output::clean_line;
use crate::task_ref::TaskRef;

/// The most that is read from standard input; the desk takes 100,000 characters.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 20;

const FLAGS: &FlagNames = &[
    ("type", "--kind"),
    ("description", "--description"),
    ("priorityValue", "--points"),
    ("status", "--state"),
    ("doors", "--doors"),
    ("maxRetries", "--max-retries"),
    ("notBefore", "--not-before"),
    ("projectId", "--project"),
    ("parentId", "--parent"),
    ("boost", "--boost"),
    ("needs", "--needs"),
    ("owner", "--owner"),
    ("inputArtifact", "--artifact"),
    ("blockedBy", "--blocked-by"),
    ("labelIds", "--label"),
    ("Idempotency-Key", "--key"),
];

/// Add a task
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be done, in a line
    #[arg(value_name = "TITLE")]
    title: String,

    /// What is to be done, at length; - reads standard input
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// What kind of work it is: signal, hypothesis, plan, spec, phase, code, task or monitor
    #[arg(long, value_name = "KIND", default_value = "task")]
    kind: String,

    /// How much it matters
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    priority: Priority,

    /// How much it matters, in points from 1 to 100
    #[arg(long, value_name = "N", conflicts_with = "priority", value_parser = points)]
    points: Option<i64>,

    /// Where it starts
    #[arg(long, value_name = "STATE", default_value = "queued")]
    state: StartState,

    /// The ways it may leave: any, or some of pull, push and run
    #[arg(long, value_name = "DOOR,…", value_delimiter = ',', default_value = "any")]
    doors: Vec<Door>,

    /// How often to try again after a failure, 0 to 100; 3 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    max_retries: Option<i64>,

    /// Do not hand it out before then: a time such as 2026-05-01T12:00:00Z, or a span from now such as 10m or
    /// 2h
    #[arg(long, value_name = "WHEN")]
    not_before: Option<Moment>,

    #[command(flatten)]
    of_project: OfProject,

    /// Words to sort it by, for example `bug,web`; those that are not there yet are added
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    label: Vec<String>,

    /// The task it is a part of
    #[arg(long, value_name = "ID")]
    parent: Option<TaskRef>,

    #[command(flatten)]
    gate: Gate,

    /// Raise its score by so many points; fewer than none lower it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    boost: Option<i64>,

    /// What a claimer must be able to do, for example `rust,gpu`
    #[arg(long, value_name = "WORD,…", value_delimiter = ',')]
    needs: Vec<String>,

    /// Hand it only to claimers that work for this owner
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Do not hand it out before this artifact is there: a path in the project
    #[arg(long, value_name = "PATH")]
    artifact: Option<String>,

    /// Do not hand it out before these tasks are done
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    blocked_by: Vec<TaskRef>,

    /// Add it once only, however often this key is used
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Whether a task waits for its parent.
#[derive(Debug, clap::Args)]
#[group(multiple = false, requires = "parent")]
struct Gate {
    /// Do not hand it out before its parent is done; the default where the profile is `depth_first`
    #[arg(long)]
    gated: bool,

    /// Hand it out whether its parent is done or not; the default where the profile is pipeline
    #[arg(long)]
    ungated: bool,
}

/// Where a task starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StartState {
    Queued,
    Backlog,
    Triage,
}

impl StartState {
    const fn status(self) -> &'static str {
        match self {
            Self::Queued => "todo",
            Self::Backlog => "backlog",
            Self::Triage => "triage",
        }
    }
}

/// A way by which a task may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Door {
    Any,
    Pull,
    Push,
    Run,
}

impl Door {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Any => &["pull", "push", "run"],
            Self::Pull => &["pull"],
            Self::Push => &["push"],
            Self::Run => &["run"],
        }
    }
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let mut create = request(args, ctx)?;
    let client = ctx.desk()?.client;
    let project = args.of_project.meant(ctx)?;
    create.project_id = of_project::name(project.as_ref());
    labels::make_missing(&client, &args.label).await?;
    if args.parent.is_some() && create.gated_by_parent.is_none() {
        create.gated_by_parent = Some(gates_by_parent(&client).await?);
    }
    let issue = match client.issue_create(&create, args.key.as_deref()).await {
        Ok(issue) => issue,
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&client, project.as_ref(), error).await);
        }
    };
    ctx.out.show(&One { data: &issue }, |_| format!("added #{}: {}", issue.number, clean_line(&issue.title)))
}

fn request(args: &Args, ctx: &Context) -> Result<IssueCreate, CliError> {
    Ok(IssueCreate {
        title: args.title.clone(),
        kind: args.kind.clone(),
        description: args.description.as_deref().map(description).transpose()?,
        status: Some(args.state.status().to_owned()),
        priority_value: Some(args.points.unwrap_or(args.priority.points())),
        doors: Some(door_names(&args.doors)),
        max_retries: args.max_retries,
        not_before: args.not_before.map(|moment| not_before(moment, ctx)).transpose()?,
        parent_id: args.parent.as_ref().map(issue_ref),
        gated_by_parent: (args.gate.gated || args.gate.ungated).then_some(args.gate.gated),
        boost: args.boost,
        needs: (!args.needs.is_empty()).then(|| args.needs.clone()),
        owner: args.owner.clone(),
        input_artifact: args.artifact.clone(),
        blocked_by: (!args.blocked_by.is_empty()).then(|| args.blocked_by.iter().map(issue_ref).collect()),
        label_ids: (!args.label.is_empty()).then(|| args.label.clone()),
        ..IssueCreate::default()
    })
}

/// Returns the text itself, or what standard input says.
pub(crate) fn description(text: &str) -> Result<String, CliError> {
    if text == "-" { read_description() } else { Ok(text.to_owned()) }
}

/// Returns a moment as it is sent.
pub(crate) fn not_before(moment: Moment, ctx: &Context) -> Result<String, CliError> {
    let too_far = || CliError::new(Kind::Usage, "--not-before lies beyond the end of time");
    moment.resolve(ctx.now).map(|timestamp| timestamp.to_string()).ok_or_else(too_far)
}

pub(crate) fn issue_ref(task: &TaskRef) -> IssueRef {
    IssueRef::from(task.route())
}

/// Asks the desk whether its profile makes children wait for their parents.
async fn gates_by_parent(client: &Client) -> Result<bool, CliError> {
    let profile = client.rules_get().await?.profile;
    // A profile that this program does not know is no reason to hold anything back.
    Ok(profile.name.parse().is_ok_and(|name| Profile::shipped(name).gates_by_parent()))
}

pub(crate) fn door_names(doors: &[Door]) -> Vec<String> {
    let mut names: Vec<&str> = doors.iter().flat_map(|door| door.names()).copied().collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

fn read_description() -> Result<String, CliError> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(DESCRIPTION_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| CliError::io("cannot read the description from standard input", &error))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Environment;

    fn check(line: &[&str], expected: &str) {
        let cli = Cli::try_parse_from(["xb", "add"].iter().chain(line)).unwrap();
        let ctx = Context::new(cli.global, Environment::default(), "2026-01-01T00:00:00Z".parse().unwrap());
        let Command::Add(args) = cli.command else { unreachable!("the command is add") };
        let body = serde_json::to_string(&request(&args, &ctx).unwrap()).unwrap();
        assert_eq!(body, expected);
    }

    #[test]
    fn a_title_is_enough() {
        check(
            &["Fix it"],
            r#"{"title":"Fix it","type":"task","status":"todo","priorityValue":50,"doors":["pull","push","run"]}"#,
        );
    }

    #[test]
    fn everything_can_be_said() {
        check(
            &[
                "Fix it",
                "-d",
                "At length",
                "--kind",
                "code",
                "--points",
                "73",
                "--state",
                "backlog",
                "--doors",
                "run,pull",
                "--max-retries",
                "0",
                "--not-before",
                "2h",
            ],
            r#"{"title":"Fix it","type":"code","description":"At length","status":"backlog","priorityValue":73,"doors":["pull","run"],"maxRetries":0,"notBefore":"2026-01-01T02:00:00Z"}"#,
        );
    }

    #[test]
    fn what_stands_around_it_can_be_said() {
        check(
            &[
                "Fix it",
                "--label",
                "bug,web",
                "--label",
                "api",
                "--parent",
                "#7",
                "--gated",
                "--boost",
                "-5",
                "--needs",
                "rust,gpu",
                "--owner",
                "ann",
                "--artifact",
                "out/plan.md",
                "--blocked-by",
                "3,#4",
            ],
            r#"{"title":"Fix it","type":"task","status":"todo","priorityValue":50,"doors":["pull","push","run"],"parentId":"7","gatedByParent":true,"boost":-5,"needs":["rust","gpu"],"owner":"ann","inputArtifact":"out/plan.md","blockedBy":["3","4"],"labelIds":["bug","web","api"]}"#,
        );
    }

    #[test]
    fn nonsense_is_refused_before_anything_is_sent() {
        for line in [
            ["--points", "0"],
            ["--points", "101"],
            ["--priority", "5"],
            ["--doors", "window"],
            ["--state", "done"],
            ["--not-before", "soon"],
            ["--parent", "seven"],
            ["--blocked-by", "3,x"],
            ["--boost", "much"],
            ["--gated", "--boost=1"],
            ["--parent=1", "--gated=yes"],
        ] {
            let words = ["xb", "add", "Fix it"].iter().chain(&line);
            assert_eq!(Cli::try_parse_from(words).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
