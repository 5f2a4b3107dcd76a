//! `xb connect`

use std::collections::BTreeMap;
use std::path::PathBuf;

use extraboard_connect::{Agent, Change, Entry, FileError, Foreign, Plan, Scope, path};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::output::{clean_line, clean_text};

/// Give an agent the desk's tools, by its MCP configuration
///
/// Writes the entry `extraboard`, which runs `xb mcp`, and leaves the rest of the file as it is. Claude Code and
/// opencode are connected in this project, codex for the user.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent
    #[arg(value_enum, value_name = "AGENT")]
    agent: AgentArg,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,

    /// Take the entry out again
    #[arg(long)]
    undo: bool,

    /// Connect in this project alone, or for the user everywhere
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeArg>,

    /// Replace or remove an entry of that name which somebody else wrote
    #[arg(long)]
    force: bool,

    /// Write another program than `xb`, for example by its whole path
    #[arg(long, value_name = "PROGRAM", default_value = "xb")]
    command: String,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AgentArg {
    Claude,
    Codex,
    Opencode,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ScopeArg {
    Project,
    User,
}

impl From<AgentArg> for Agent {
    fn from(agent: AgentArg) -> Self {
        match agent {
            AgentArg::Claude => Self::Claude,
            AgentArg::Codex => Self::Codex,
            AgentArg::Opencode => Self::Opencode,
        }
    }
}

pub(crate) fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let agent = Agent::from(args.agent);
    let file = file(args, ctx)?;
    let foreign = if args.force { Foreign::Override } else { Foreign::Refuse };
    let plan = if args.undo {
        Plan::disconnect(agent, &file, foreign)
    } else {
        Plan::connect(agent, &file, &entry(args, ctx), foreign)
    };
    let plan = plan.map_err(|error| refused(&error))?;
    let shown = clean_line(&plan.path().display().to_string());
    if args.dry_run {
        let diff = plan.diff();
        return ctx.out.show(&json!({ "file": shown, "diff": diff }), |_| clean_text(&diff));
    }
    let change = match plan.change() {
        Change::Nothing => "unchanged",
        Change::Write(_) => "written",
        Change::Remove => "removed",
    };
    plan.apply().map_err(|error| refused(&error))?;
    ctx.out.show(&json!({ "file": shown, "change": change }), |_| format!("{shown}: {change}"))
}

fn file(args: &Args, ctx: &Context) -> Result<PathBuf, CliError> {
    let home = ctx.home().ok_or_else(|| CliError::new(Kind::Failed, "there is no home directory"))?;
    let project =
        std::env::current_dir().map_err(|error| CliError::io("cannot tell the working directory", &error))?;
    let scope = match (args.scope, args.agent) {
        (Some(ScopeArg::User), _) | (None, AgentArg::Codex) => Scope::User,
        (Some(ScopeArg::Project), _) | (None, AgentArg::Claude | AgentArg::Opencode) => Scope::Project,
    };
    Ok(path(args.agent.into(), scope, &home, &project))
}

/// Returns what the agent is to run: this program, with the flags that lead to the same desk.
fn entry(args: &Args, ctx: &Context) -> Entry {
    let mut words = ctx.flags_to_the_desk();
    words.push("mcp".to_owned());
    Entry { command: args.command.clone(), args: words, env: BTreeMap::new() }
}

fn refused(error: &FileError) -> CliError {
    let kind = match error {
        FileError::Content { .. } => Kind::Usage,
        FileError::Changed { .. } => Kind::Conflict,
        FileError::Io { .. } => Kind::Failed,
    };
    let message = match std::error::Error::source(error) {
        Some(source) if matches!(error, FileError::Io { .. }) => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let refused = CliError::new(kind, message);
    match error {
        FileError::Content { error: extraboard_connect::Error::Foreign { .. }, .. } => {
            refused.hint("--force replaces or removes it")
        }
        _ => refused,
    }
}
