//! Measures claims through the desk beside a ceiling, in one run.
//!
//! Called by `cargo xtask bench` with a plan; prints one JSON object per sample. Numbers of
//! different runs must not be compared: machines are shared and disks are moody.
//! Ratios of samples that alternate within one run are what counts.

mod callers;
mod claims;
mod clock;
mod drain;
mod line;
mod plan;
mod sample;
mod singles;
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
        }
    }
    Ok(())
}
