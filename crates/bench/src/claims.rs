//! The ceiling, claims with and without prompts by templates, and claim-and-complete pairs, by the desk and by
//! HTTP, with many callers, in turn.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use extraboard_desk::Desk;
use serde_json::json;

use crate::callers::{Times, call};
use crate::line::{Line, Prompting, stamp_all};
use crate::plan::{ClaimsPlan, Kind};
use crate::sample;
use crate::servers::Servers;
use crate::work::{Ceilings, Claims, HttpPairs, Pairs, Work};

/// A round may take one in so many of the waiting tasks: its middle is the line's nominal depth, so that
/// stays within 3.3 %.
const ROUND_PART: i64 = 15;
/// How much of the first round opens connections and prepares statements. It does not count.
const WARM_UP: usize = 256;

/// One setting that is measured by itself.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kind: Kind,
    callers: usize,
    replicas: usize,
    round: usize,
}

/// Takes samples of all kinds under all circumstances, so often.
pub(crate) async fn run(lines: &mut [Line], plan: &ClaimsPlan, samples: usize) -> Result<()> {
    for sample in 0..samples {
        for base in cells(plan) {
            // Depths and kinds are what is compared, so they follow each other closely.
            for line in &mut *lines {
                if i64::try_from(base.round)? * ROUND_PART > line.plan.depth {
                    continue;
                }
                for kind in &plan.kinds {
                    measure(line, plan, Cell { kind: *kind, ..base }, sample).await?;
                }
            }
        }
    }
    Ok(())
}

/// Returns all settings but for the kind of work.
fn cells(plan: &ClaimsPlan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for callers in &plan.callers {
        for replicas in &plan.replicas {
            cells.extend(plan.rounds.iter().map(|round| Cell {
                kind: Kind::Ceiling,
                callers: *callers,
                replicas: *replicas,
                round: *round,
            }));
        }
    }
    cells
}

async fn measure(line: &mut Line, plan: &ClaimsPlan, cell: Cell, sample: usize) -> Result<()> {
    let mut circumstances = json!({
        "part": "claims", "line": line.plan.name, "depth": line.plan.depth, "kind": cell.kind.as_str(),
        "callers": cell.callers, "replicas": cell.replicas, "round": cell.round, "sample": sample,
    });
    let mut times = match cell.kind {
        Kind::Ceiling => ceilings(line, plan, cell).await?,
        Kind::Unshared => ceilings(line, plan, Cell { callers: 1, ..cell }).await?,
        Kind::Claim => claims(line, plan, cell, Prompting::Title).await?.0,
        Kind::Prompted => {
            let (times, prompt_bytes) = claims(line, plan, cell, Prompting::Templates).await?;
            circumstances["prompt_bytes"] = json!(prompt_bytes);
            times
        }
        Kind::Pair => pairs(line, plan, cell).await?,
        Kind::Http => exchanges(line, plan, cell).await?,
    };
    sample::print(circumstances, &mut times);
    Ok(())
}

/// Measures the ceiling. No desk runs: nobody stamps events or sweeps leases meanwhile.
async fn ceilings(line: &mut Line, plan: &ClaimsPlan, cell: Cell) -> Result<Times> {
    let mut stores = Vec::new();
    for _ in 0..cell.replicas {
        stores.push(Arc::new(line.store().await?));
    }
    let work = Ceilings::new(stores.clone(), line.tasks());
    let times = rounds(line, plan, cell, &work, None).await?;
    stamp_all(&stores[0]).await?;
    for store in stores {
        store.close().await;
    }
    Ok(times)
}

/// Measures claims; returns the mean size of their prompts, too.
async fn claims(
    line: &mut Line,
    plan: &ClaimsPlan,
    cell: Cell,
    prompting: Prompting,
) -> Result<(Times, usize)> {
    let opened = line.desks_with(cell.replicas, prompting).await?;
    let feeder = Some(opened.desks[0].clone());
    let work = Claims::new(opened.desks.clone());
    let times = rounds(line, plan, cell, &work, feeder).await?;
    let prompt_bytes = work.prompt_bytes();
    drop(work);
    opened.stop().await;
    Ok((times, prompt_bytes))
}

async fn pairs(line: &mut Line, plan: &ClaimsPlan, cell: Cell) -> Result<Times> {
    let opened = line.desks(cell.replicas).await?;
    let feeder = Some(opened.desks[0].clone());
    let times = rounds(line, plan, cell, &Pairs(opened.desks.clone()), feeder).await?;
    opened.stop().await;
    Ok(times)
}

async fn exchanges(line: &mut Line, plan: &ClaimsPlan, cell: Cell) -> Result<Times> {
    let servers = Servers::start(line, cell.replicas).await?;
    let work = HttpPairs::connect(servers.addresses(), cell.callers).await?;
    let times = rounds(line, plan, cell, &work, Some(servers.desk())).await?;
    drop(work);
    servers.stop().await?;
    Ok(times)
}

/// Lets callers work until the sample is long enough; the line is topped up between rounds, untimed.
async fn rounds<W: Work>(
    line: &mut Line,
    plan: &ClaimsPlan,
    cell: Cell,
    work: &W,
    feeder: Option<Desk>,
) -> Result<Times> {
    let mut times = Times::default();
    let mut count = cell.round.min(WARM_UP);
    let mut is_warm = false;
    while times.elapsed < Duration::from_millis(plan.sample_ms) {
        let round = call(work, cell.callers, count).await?;
        if let Some(desk) = &feeder {
            line.top_up(desk, count).await?;
        }
        if is_warm {
            times.extend(round);
        }
        (count, is_warm) = (cell.round, true);
    }
    Ok(times)
}
