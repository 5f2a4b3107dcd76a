//! The binary `xb`: reads the command line, runs one command, and turns its outcome into an exit code.

mod admin_token;
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
mod serve;
mod system;
mod task_ref;

use std::process::ExitCode;

use clap::Parser as _;
use jiff::Timestamp;

use crate::cli::Cli;
use crate::config::Environment;
use crate::context::Context;

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    #[expect(clippy::disallowed_methods, reason = "the clock of a command line is the system's")]
    let now = Timestamp::now();
    let ctx = Context::new(global, Environment::of_process(), now);
    match command.run(&ctx).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(report) = error.report() {
                output::talk(&report);
            }
            ExitCode::from(error.kind().exit_code())
        }
    }
}
