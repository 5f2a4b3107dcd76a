//! `xb projects`

use std::fmt::Write as _;

use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::project::{Project, ProjectCreate, ProjectPatch};

use crate::commands::number::{whole, whole_or_none};
use crate::commands::or_none::OrNone;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{Align, Style, Table, clean_line, talk};

pub(crate) const FLAGS: &FlagNames = &[
    ("description", "--description"),
    ("status", "--status"),
    ("health", "--health"),
    ("goalId", "--goal"),
    ("workspace", "--workspace"),
    ("runLimit", "--limit"),
    ("limit", "--limit"),
    ("offset", "--offset"),
];

/// List projects, or work with one
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
    /// Show one project and how many tasks it has
    Show(NameArgs),
    Edit(EditArgs),
    /// Delete a project whose tasks are all finished
    Delete(NameArgs),
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    /// The project, by name or uuid
    #[arg(value_name = "PROJECT")]
    project: String,
}

/// Add a project
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What it is called
    #[arg(value_name = "NAME")]
    name: String,

    /// What it is about
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// Where it stands: backlog, planned, active (if not given), paused, completed or canceled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// The directory its artifacts are looked for in
    #[arg(long, value_name = "DIR")]
    workspace: Option<String>,

    /// How many of its tasks may be handed out at once
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    limit: Option<i64>,

    /// The goal it serves, by uuid
    #[arg(long, value_name = "GOAL")]
    goal: Option<String>,
}

/// Edit a project
#[derive(Debug, clap::Args)]
struct EditArgs {
    /// The project, by name or uuid
    #[arg(value_name = "PROJECT")]
    project: String,

    /// Call it this
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Say what it is about; an empty text takes that away
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// Say where it stands: backlog, planned, active, paused, completed or canceled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// Say how it is doing: `on_track`, `at_risk` or `off_track`
    #[arg(long, value_name = "HEALTH")]
    health: Option<String>,

    /// Look for its artifacts in this directory, or in none
    #[arg(long, value_name = "DIR|none")]
    workspace: Option<OrNone<String>>,

    /// Hand out so many of its tasks at once, or as many as there are (none)
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, value_parser = whole_or_none)]
    limit: Option<OrNone<i64>>,

    /// Let it serve this goal, by uuid, or none
    #[arg(long, value_name = "GOAL|none")]
    goal: Option<OrNone<String>>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match &args.command {
        None => list(args, ctx).await,
        Some(Command::Add(args)) => add(args, ctx).await,
        Some(Command::Show(args)) => show(args, ctx).await,
        Some(Command::Edit(args)) => edit(args, ctx).await,
        Some(Command::Delete(args)) => delete(args, ctx).await,
    }
}

async fn list(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let listed = client.project_list(&PageQuery { limit: args.limit, offset: args.offset }).await;
    let list = listed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} projects", list.data.len(), list.total));
        if list.data.is_empty() { String::new() } else { project_table(&list, style) }
    })
}

async fn add(args: &AddArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let create = ProjectCreate {
        name: args.name.clone(),
        description: args.description.clone(),
        status: args.status.clone(),
        goal_id: args.goal.clone(),
        workspace: args.workspace.clone(),
        run_limit: args.limit,
        ..ProjectCreate::default()
    };
    let added = client.project_create(&create).await;
    let project = added.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&One { data: &project }, |_| format!("added project {}", clean_line(&project.name)))
}

async fn show(args: &NameArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let found = client.project_get(&args.project).await;
    let project = found.map_err(|error| named(&error, &args.project))?;
    ctx.out.show(&One { data: &project }, |_| project_page(&project))
}

async fn edit(args: &EditArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let patch = ProjectPatch {
        name: args.name.clone(),
        description: args.description.clone().map(|text| Some(text).filter(|text| !text.is_empty())),
        status: args.status.clone(),
        health: args.health.clone(),
        goal_id: args.goal.clone().map(|goal| goal.0),
        workspace: args.workspace.clone().map(|workspace| workspace.0),
        run_limit: args.limit.map(|limit| limit.0),
        settings: None,
    };
    let patched = client.project_patch(&args.project, &patch).await;
    let project = patched.map_err(|error| named(&error, &args.project))?;
    ctx.out.show(&One { data: &project }, |_| project_line(&project))
}

async fn delete(args: &NameArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    client.project_delete(&args.project).await.map_err(|error| named(&error, &args.project))?;
    let deleted = serde_json::json!({"deleted": args.project});
    ctx.out.show(&deleted, |_| format!("deleted project {}", clean_line(&args.project)))
}

fn named(error: &extraboard_api::client::ClientError, project: &str) -> CliError {
    CliError::of_named(error, &format!("project {project}"), FLAGS)
}

/// Returns one line: name and status.
pub(crate) fn project_line(project: &Project) -> String {
    format!("project {} is {}", clean_line(&project.name), clean_line(&project.status))
}

fn project_table(list: &Many<Project>, style: Style) -> String {
    let columns = [
        ("PROJECT", Align::Left),
        ("STATUS", Align::Left),
        ("HEALTH", Align::Left),
        ("LIMIT", Align::Right),
        ("ACTIVE GOAL", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for project in &list.data {
        table.row([
            project.name.clone(),
            project.status.clone(),
            project.health.clone(),
            project.run_limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string()),
            if project.has_active_goal { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table.render(style)
}

/// Returns what its file says, in a line.
fn settings_line(project: &Project) -> Option<String> {
    let settings = serde_json::json!(project.settings);
    settings.as_object().is_some_and(|settings| !settings.is_empty()).then(|| settings.to_string())
}

fn project_page(project: &Project) -> String {
    let counts = project.issue_counts.iter().flatten().map(|(status, count)| format!("{status} {count}"));
    let counts: Vec<String> = counts.collect();
    let goal = project.goal.as_ref();
    let facts = [
        ("id", Some(project.id.clone())),
        ("status", Some(project.status.clone())),
        ("health", Some(project.health.clone())),
        ("goal", goal.map(|goal| format!("{} ({}, {})", goal.title, goal.status, goal.id))),
        ("active goal", Some(if project.has_active_goal { "yes" } else { "no" }.to_owned())),
        ("workspace", project.workspace.clone()),
        ("limit", Some(project.run_limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string()))),
        ("settings", settings_line(project)),
        ("tasks", Some(if counts.is_empty() { "none".to_owned() } else { counts.join(", ") })),
        ("created", Some(project.created_at.clone())),
        ("description", project.description.clone()),
    ];
    let mut page = format!("{}\n", clean_line(&project.name));
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(page, "  {name:<11} {}", clean_line(&value));
        }
    }
    page
}
