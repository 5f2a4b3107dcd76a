//! The command line: global flags and the list of commands.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::context::{Context, Global};
use crate::error::CliError;

const AFTER_HELP: &str = "\
A task is named by its number (42 or #42) or its uuid.

Exit codes:
  0  done
  1  failed
  2  bad usage, configuration or value
  3  not found: no such task, nothing to claim, no desk running
  4  conflict: the task's state does not allow it, tasks would wait in a cycle, the dispatch is
     stale, a desk is already running

Environment:
  EXTRABOARD_URL     the desk to talk to, as --server
  EXTRABOARD_TOKEN   the token to send; without it the admin token of the data directory, which
                     goes only to the desk that desk.json there names, and only while it runs;
                     any other address is asked without a token
  EXTRABOARD_CONFIG  the configuration file, as --config
  EXTRABOARD_PROJECT the project that is meant where --project is not given; without it the one
                     that the nearest .extraboard/project.toml names
  Every configuration key has a variable too: see `xb config show`.";

/// The dispatch desk for AI agents
#[derive(Debug, Parser)]
#[command(name = "xb", version, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(commands::up::Args),
    Serve(commands::serve::Args),
    Stop(commands::stop::Args),
    Status(commands::status::Args),
    Init(commands::init::Args),
    Add(commands::add::Args),
    Claim(commands::claim::Args),
    Work(commands::work::Args),
    Next(commands::next::Args),
    Queue(commands::queue::Args),
    Show(commands::show::Args),
    List(commands::list::Args),
    Edit(commands::edit::Args),
    Done(commands::done::Args),
    Fail(commands::fail::Args),
    Release(commands::release::Args),
    Ask(commands::ask::Args),
    Answer(commands::answer::Args),
    Inbox(commands::inbox::Args),
    Comment(commands::comment::Args),
    Comments(commands::comment::ListArgs),
    Retry(commands::retry::Args),
    Cancel(commands::cancel::Args),
    Park(commands::park::Args),
    Admit(commands::admit::Args),
    Reopen(commands::reopen::Args),
    Why(commands::why::Args),
    Bump(commands::bump::Args),
    Move(commands::move_task::Args),
    Depend(commands::depend::Args),
    Undepend(commands::undepend::Args),
    Artifact(commands::artifact::Args),
    Labels(commands::labels::Args),
    Signal(commands::signal::Args),
    Signals(commands::signal::ListArgs),
    Templates(commands::templates::Args),
    Review(commands::review::Args),
    Prompts(commands::dashboard::PromptsArgs),
    Dashboard(commands::dashboard::Args),
    Activity(commands::dashboard::ActivityArgs),
    Import(commands::import::Args),
    Export(commands::export::Args),
    Project(commands::project::Args),
    Projects(commands::projects::Args),
    Goals(commands::goals::Args),
    Pause(commands::pause::Args),
    Resume(commands::resume::Args),
    Profile(commands::profile::Args),
    Limits(commands::limits::Args),
    Gates(commands::gates::Args),
    Events(commands::events::Args),
    Token(commands::token::Args),
    Mcp(commands::mcp::Args),
    Connect(commands::connect::Args),
    Doctor(commands::doctor::Args),
    Config(commands::config::Args),
}

impl Command {
    pub(crate) async fn run(&self, ctx: &Context) -> Result<(), CliError> {
        match self {
            Self::Up(args) => commands::up::run(args, ctx).await,
            Self::Serve(args) => commands::serve::run(args, ctx).await,
            Self::Stop(args) => commands::stop::run(args, ctx).await,
            Self::Status(args) => commands::status::run(args, ctx).await,
            Self::Init(args) => commands::init::run(args, ctx),
            Self::Add(args) => commands::add::run(args, ctx).await,
            Self::Claim(args) => commands::claim::run(args, ctx).await,
            Self::Work(args) => commands::work::run(args, ctx).await,
            Self::Next(args) => commands::next::run(args, ctx).await,
            Self::Queue(args) => commands::queue::run(args, ctx).await,
            Self::Show(args) => commands::show::run(args, ctx).await,
            Self::List(args) => commands::list::run(args, ctx).await,
            Self::Edit(args) => commands::edit::run(args, ctx).await,
            Self::Done(args) => commands::done::run(args, ctx).await,
            Self::Fail(args) => commands::fail::run(args, ctx).await,
            Self::Release(args) => commands::release::run(args, ctx).await,
            Self::Ask(args) => commands::ask::run(args, ctx).await,
            Self::Answer(args) => commands::answer::run(args, ctx).await,
            Self::Inbox(args) => commands::inbox::run(args, ctx).await,
            Self::Comment(args) => commands::comment::run(args, ctx).await,
            Self::Comments(args) => commands::comment::list(args, ctx).await,
            Self::Retry(args) => commands::retry::run(args, ctx).await,
            Self::Cancel(args) => commands::cancel::run(args, ctx).await,
            Self::Park(args) => commands::park::run(args, ctx).await,
            Self::Admit(args) => commands::admit::run(args, ctx).await,
            Self::Reopen(args) => commands::reopen::run(args, ctx).await,
            Self::Why(args) => commands::why::run(args, ctx).await,
            Self::Bump(args) => commands::bump::run(args, ctx).await,
            Self::Move(args) => commands::move_task::run(args, ctx).await,
            Self::Depend(args) => commands::depend::run(args, ctx).await,
            Self::Undepend(args) => commands::undepend::run(args, ctx).await,
            Self::Artifact(args) => commands::artifact::run(args, ctx).await,
            Self::Labels(args) => commands::labels::run(args, ctx).await,
            Self::Signal(args) => commands::signal::run(args, ctx).await,
            Self::Signals(args) => commands::signal::list(args, ctx).await,
            Self::Templates(args) => commands::templates::run(args, ctx).await,
            Self::Review(args) => commands::review::run(args, ctx).await,
            Self::Prompts(args) => commands::dashboard::prompts(args, ctx).await,
            Self::Dashboard(args) => commands::dashboard::run(args, ctx).await,
            Self::Activity(args) => commands::dashboard::activity(args, ctx).await,
            Self::Import(args) => commands::import::run(args, ctx).await,
            Self::Export(args) => commands::export::run(args, ctx).await,
            Self::Project(args) => commands::project::run(args, ctx).await,
            Self::Projects(args) => commands::projects::run(args, ctx).await,
            Self::Goals(args) => commands::goals::run(args, ctx).await,
            Self::Pause(args) => commands::pause::run(args, ctx).await,
            Self::Resume(args) => commands::resume::run(args, ctx).await,
            Self::Profile(args) => commands::profile::run(args, ctx).await,
            Self::Limits(args) => commands::limits::run(args, ctx).await,
            Self::Gates(args) => commands::gates::run(args, ctx).await,
            Self::Mcp(args) => commands::mcp::run(args, ctx).await,
            Self::Connect(args) => commands::connect::run(args, ctx),
            Self::Token(args) => commands::token::run(args, ctx).await,
            Self::Events(args) => commands::events::run(args, ctx).await,
            Self::Doctor(args) => commands::doctor::run(args, ctx).await,
            Self::Config(args) => commands::config::run(args, ctx),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
