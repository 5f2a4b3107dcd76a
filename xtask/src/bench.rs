//! `cargo xtask bench`: measures claims on both databases beside a ceiling of the same run, work by HTTP beside
//! the desk alone, and claims with prompts beside those without.
//!
//! What counts are ratios of samples that alternate within one run; rates of different runs, let alone
//! machines, must not be compared. Tables of ratios beside their bars go to `bench/results`, with every sample.

mod bars;
mod databases;
mod figures;
mod http;
mod machine;
mod options;
mod plans;
mod prompts;
mod report;
mod runs;
mod samples;
mod snapshot;

use std::process::ExitCode;

use anyhow::{Result, ensure};

pub(crate) use self::options::Options;
use self::{report::Results, runs::Runs};
use crate::{setup, step::cargo};

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    setup::run()?;
    let built = cargo(&["build", "--release", "--package", "extraboard-bench"]).status()?;
    ensure!(built.success(), "the benchmark does not build");
    let mut results = Results::open(options)?;
    let mut runs = Runs::new(options, &mut results)?;
    let done = runs.all();
    let versions = runs.versions();
    // What was measured before a failure is worth reading, too.
    results.write(&versions, done.is_ok())?;
    done?;
    Ok(ExitCode::SUCCESS)
}
