//! `xb up`

use std::path::Path;

use crate::admin_token::AdminToken;
use crate::commands::serve::{Serving, prepare};
use crate::context::Context;
use crate::desk_file::DeskFile;
use crate::desk_lock::DeskLock;
use crate::error::{CliError, Kind};
use crate::serve::{self, ServePlan};

/// Run the desk of this data directory until it is stopped
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    serving: Serving,

    /// Add sample tasks
    #[arg(long)]
    demo: bool,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let config = prepare(&args.serving, ctx)?;
    let lock = DeskLock::take(&config.data_dir)
        .map_err(|error| CliError::io("cannot lock the data directory", &error))?
        .ok_or_else(|| already_running(&config.data_dir, &ctx.invocation_again()))?;
    let admin_token = AdminToken::read_or_create(&config.data_dir)?;
    let invocation = ctx.invocation(&config.data_dir);
    let plan = ServePlan { config, admin_token, invocation, demo: args.demo, lock: Some(lock), now: ctx.now };
    serve::run(plan).await
}

fn already_running(data_dir: &Path, invocation: &str) -> CliError {
    let message = match DeskFile::read(data_dir).ok().flatten() {
        Some(desk) => format!(
            "a desk is already running: pid {} at {}, database {}; stop it with `{invocation} stop`",
            desk.pid, desk.url, desk.database
        ),
        None => format!("a desk is already starting in {}", data_dir.display()),
    };
    CliError::new(Kind::Conflict, message)
}
