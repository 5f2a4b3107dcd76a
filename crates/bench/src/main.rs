//! Measures claims through the desk beside a ceiling, HTTP beside the desk, and claims with prompts beside those
//! without, in one run.
//!
//! Called by `cargo xtask bench` with a plan; prints one JSON object per sample. Numbers of
//! different runs must not be compared: machines are shared and disks are moody.
//! Ratios of samples that alternate within one run are what counts.

mod agent;
mod callers;
mod claims;
mod clock;
mod drain;
mod http;
mod line;
mod plan;
mod random;
mod sample;
mod servers;
mod singles;
mod wake;
mod why;
mod work;

use anyhow::{Context as _, Result, bail};

use crate::line::Line;
use crate::plan::{Part, Plan};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan] = &arguments[..] else { bail!("usage: extraboard-bench PLAN, which is JSON") };
    run(&serde_json::from_str(plan).context("PLAN")?).await
}

async fn run(plan: &Plan) -> Result<()> {
    let mut lines: Vec<_> = plan.lines.iter().map(|line| Line::new(line, plan.profile)).collect();
    for part in &plan.parts {
        match part {
            Part::Fill => {
                for line in &lines {
                    line.fill().await?;
                }
            }
            Part::Claims(claims) => claims::run(&mut lines, claims, plan.samples).await?,
            Part::Singles(singles) => singles::run(&mut lines, singles, plan.samples).await?,
            Part::Why(why) => why::run(&lines, why, plan.samples).await?,
            Part::Drain(drain) => drain::run(&lines, drain).await?,
            Part::Wake(wake) => wake::run(&lines, wake, plan.samples).await?,
        }
    }
    Ok(())
}
