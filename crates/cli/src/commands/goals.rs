//! `xb goals`

use extraboard_api::client::{Client, ClientError};
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::goal::{Goal, GoalCreate, GoalPatch};

use crate::commands::number::whole;
use crate::commands::or_none::OrNone;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{Align, Style, Table, clean_line, talk};

const FLAGS: &FlagNames = &[
    ("title", "--title"),
    ("description", "--description"),
    ("metric", "--metric"),
    ("targetValue", "--target"),
    ("currentValue", "--current"),
    ("unit", "--unit"),
    ("status", "--status"),
    ("projectId", "--project"),
    ("limit", "--limit"),
    ("offset", "--offset"),
];

/// List goals, or work with one
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// At most this many, 1 to 200; 50 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(AddArgs),
    Edit(EditArgs),
    /// Delete a goal
    Delete {
        /// The goal, by uuid
        #[arg(value_name = "GOAL")]
        goal: String,
    },
}

/// Add a goal; tasks of a project with an active goal rank higher
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What is to be reached, in a line
    #[arg(value_name = "TITLE")]
    title: String,

    /// The project it is a goal of, by name or uuid
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// What is to be reached, at length
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// What is measured
    #[arg(long, value_name = "TEXT")]
    metric: Option<String>,

    /// How much is to be reached
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    target: Option<f64>,

    /// How much is reached
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    current: Option<f64>,

    /// What it is measured in
    #[arg(long, value_name = "TEXT")]
    unit: Option<String>,

    /// Where it stands: active (if not given), achieved or abandoned
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
}

/// Edit a goal
#[derive(Debug, clap::Args)]
struct EditArgs {
    /// The goal, by uuid
    #[arg(value_name = "GOAL")]
    goal: String,

    /// Call it this
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,

    /// Make it a goal of this project, by name or uuid, or of none
    #[arg(long, value_name = "PROJECT|none")]
    project: Option<OrNone<String>>,

    /// Say what is to be reached; an empty text takes that away
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// Say what is measured, or none
    #[arg(long, value_name = "TEXT|none")]
    metric: Option<OrNone<String>>,

    /// Say how much is to be reached, or none
    #[arg(long, value_name = "NUMBER|none", allow_negative_numbers = true)]
    target: Option<OrNone<f64>>,

    /// Say how much is reached, or none
    #[arg(long, value_name = "NUMBER|none", allow_negative_numbers = true)]
    current: Option<OrNone<f64>>,

    /// Say what it is measured in, or none
    #[arg(long, value_name = "TEXT|none")]
    unit: Option<OrNone<String>>,

    /// Say where it stands: active, achieved or abandoned
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match &args.command {
        None => list(args, ctx).await,
        Some(Command::Add(args)) => add(args, ctx).await,
        Some(Command::Edit(args)) => edit(args, ctx).await,
        Some(Command::Delete { goal }) => delete(goal, ctx).await,
    }
}

async fn list(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let listed = client.goal_list(&PageQuery { limit: args.limit, offset: args.offset }).await;
    let list = listed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} goals", list.data.len(), list.total));
        if list.data.is_empty() { String::new() } else { goal_table(&list, style) }
    })
}

async fn add(args: &AddArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let project_id = match &args.project {
        Some(project) => Some(project_id(&client, project).await?),
        None => None,
    };
    let create = GoalCreate {
        title: args.title.clone(),
        description: args.description.clone(),
        metric: args.metric.clone(),
        target_value: args.target,
        current_value: args.current,
        unit: args.unit.clone(),
        status: args.status.clone(),
        project_id,
    };
    let added = client.goal_create(&create).await;
    let goal = added.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&One { data: &goal }, |_| format!("added goal {}: {}", goal.id, clean_line(&goal.title)))
}

async fn edit(args: &EditArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let project_id = match &args.project {
        Some(OrNone(Some(project))) => Some(Some(project_id(&client, project).await?)),
        Some(OrNone(None)) => Some(None),
        None => None,
    };
    let patch = GoalPatch {
        title: args.title.clone(),
        description: args.description.clone().map(|text| Some(text).filter(|text| !text.is_empty())),
        metric: args.metric.clone().map(|metric| metric.0),
        target_value: args.target.map(|target| target.0),
        current_value: args.current.map(|current| current.0),
        unit: args.unit.clone().map(|unit| unit.0),
        status: args.status.clone(),
        project_id,
    };
    let patched = client.goal_patch(&args.goal, &patch).await;
    let goal = patched.map_err(|error| named(&error, &args.goal))?;
    ctx.out.show(&One { data: &goal }, |_| {
        format!("goal {} is {}: {}", goal.id, clean_line(&goal.status), clean_line(&goal.title))
    })
}

async fn delete(goal: &str, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    client.goal_delete(goal).await.map_err(|error| named(&error, goal))?;
    let deleted = serde_json::json!({"deleted": goal});
    ctx.out.show(&deleted, |_| format!("deleted goal {}", clean_line(goal)))
}

/// Returns the id of a project: people name it.
async fn project_id(client: &Client, project: &str) -> Result<String, CliError> {
    let found = client.project_get(project).await;
    found
        .map(|project| project.id)
        .map_err(|error| CliError::of_named(&error, &format!("project {project}"), FLAGS))
}

fn named(error: &ClientError, goal: &str) -> CliError {
    CliError::of_named(error, &format!("goal {goal}"), FLAGS)
}

fn goal_table(list: &Many<Goal>, style: Style) -> String {
    let columns = [
        ("GOAL", Align::Left),
        ("STATUS", Align::Left),
        ("REACHED", Align::Right),
        ("OF", Align::Right),
        ("UNIT", Align::Left),
        ("TITLE", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    for goal in &list.data {
        table.row([
            goal.id.clone(),
            goal.status.clone(),
            number(goal.current_value),
            number(goal.target_value),
            goal.unit.clone().unwrap_or_else(|| "-".to_owned()),
            goal.title.clone(),
        ]);
    }
    table.render(style)
}
