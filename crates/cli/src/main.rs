//! The binary `xb`: reads the command line, runs one command, and turns its outcome into an exit code.

mod admin_token;
mod announce;
mod cli;
mod commands;
mod config;
mod connect;
mod context;
mod demo;
mod desk_file;
mod desk_lock;
mod error;
mod logging;
mod moment;
mod output;
mod process;
mod project_file;
mod serve;
mod signals;
mod system;
mod task_ref;
mod toml_file;

use std::process::ExitCode;

use clap::Parser as _;
use jiff::Timestamp;

use crate::cli::Cli;
use crate::config::Environment;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Form, Output, Style};

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { global, command } = Cli::try_parse().unwrap_or_else(|error| refuse(error));
    #[expect(clippy::disallowed_methods, reason = "the clock of a command line is the system's")]
    let now = Timestamp::now();
    let ctx = Context::new(global, Environment::of_process(), now);
    match command.run(&ctx).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error = error.hint_at_desk(&ctx.invocation_again());
            ctx.out.tell(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

/// Ends where the command line makes no sense or asks for help; what was asked for in JSON is refused in JSON.
fn refuse(error: clap::Error) -> ! {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    if !error.use_stderr() || !words.any(|word| word == "--json") {
        error.exit();
    }
    let error = CliError::from(error);
    Output::new(Form::Json, Style::Plain).tell(&error);
    std::process::exit(error.kind().exit_code().into());
}
