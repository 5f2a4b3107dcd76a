//! Measures claims through the desk beside a ceiling, in one run.
//!
//! Called by `cargo xtask bench`; prints one JSON object per sample. Numbers of
//! different runs must not be compared: machines are shared and disks are moody.
//! Ratios of samples that alternate within one run are what counts.

mod claim;

use anyhow::{Context as _, Result, bail};

/// What to measure.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The database; empty, it is filled first.
    pub(crate) url: String,
    /// How many tasks wait.
    pub(crate) depth: i64,
    /// How many callers claim at once.
    pub(crate) callers: usize,
    /// How many desks share the database.
    pub(crate) replicas: usize,
    /// How many pairs of samples to take.
    pub(crate) samples: usize,
    /// How many claims make a sample.
    pub(crate) claims: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    claim::run(&plan(&arguments)?).await
}

fn plan(arguments: &[String]) -> Result<Plan> {
    let [url, depth, callers, replicas, samples, claims] = arguments else {
        bail!("usage: extraboard-bench URL DEPTH CALLERS REPLICAS SAMPLES CLAIMS");
    };
    Ok(Plan {
        url: url.clone(),
        depth: depth.parse().context("DEPTH")?,
        callers: callers.parse().context("CALLERS")?,
        replicas: replicas.parse().context("REPLICAS")?,
        samples: samples.parse().context("SAMPLES")?,
        claims: claims.parse().context("CLAIMS")?,
    })
}
