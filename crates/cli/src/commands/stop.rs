//! `xb stop`

use std::path::Path;
use std::time::Duration;

use crate::context::Context;
use crate::desk_file::DeskFile;
use crate::error::{CliError, Kind};
use crate::process;

const DEADLINE: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Stop the desk of this data directory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) async fn run(_args: &Args, ctx: &Context) -> Result<(), CliError> {
    let data_dir = ctx.load()?.config.data_dir;
    let desk = running(&data_dir)?;
    process::terminate(desk.pid).map_err(|error| CliError::io("cannot stop the desk", &error))?;
    if tokio::time::timeout(DEADLINE, gone(desk.pid)).await.is_err() {
        let message =
            format!("the desk (pid {}) has not stopped after {} seconds", desk.pid, DEADLINE.as_secs());
        return Err(CliError::new(Kind::Failed, message));
    }
    forget(&data_dir, &desk)?;
    ctx.out.show(&desk, |_| format!("stopped the desk: pid {} at {}", desk.pid, desk.url))
}

/// Returns the desk that runs; the file of one that ended without a word is removed.
fn running(data_dir: &Path) -> Result<DeskFile, CliError> {
    let none = || CliError::new(Kind::NotFound, format!("no desk is running in {}", data_dir.display()));
    let desk = DeskFile::read(data_dir)
        .map_err(|error| CliError::io("cannot read desk.json", &error))?
        .ok_or_else(none)?;
    if process::desk_runs(desk.pid) {
        return Ok(desk);
    }
    forget(data_dir, &desk)?;
    Err(none())
}

fn forget(data_dir: &Path, desk: &DeskFile) -> Result<(), CliError> {
    DeskFile::remove_of(data_dir, desk.pid).map_err(|error| CliError::io("cannot remove desk.json", &error))
}

async fn gone(pid: u32) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    while process::desk_runs(pid) {
        look.tick().await;
    }
}
