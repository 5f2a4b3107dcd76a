//! The ceiling, claims, and claim-and-complete pairs with many callers, in turn.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::callers::{Times, call};
use crate::line::{Line, stamp_all};
use crate::plan::{ClaimsPlan, Kind};
use crate::sample;
use crate::work::{Ceilings, Claims, Pairs, Work};

/// A sample may take one in so many of the waiting tasks before as many are added.
const ROUND_PART: i64 = 20;

/// One setting that is measured by itself.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kind: Kind,
    callers: usize,
    replicas: usize,
}

/// Takes samples of all kinds under all circumstances, so often.
pub(crate) async fn run(lines: &mut [Line], plan: &ClaimsPlan, samples: usize) -> Result<()> {
    for sample in 0..samples {
        for callers in &plan.callers {
            for replicas in &plan.replicas {
                // Depths and kinds are what is compared, so they follow each other closely.
                for line in &mut *lines {
                    for kind in &plan.kinds {
                        let cell = Cell { kind: *kind, callers: *callers, replicas: *replicas };
                        measure(line, plan, cell, sample).await?;
                    }
                }
            }
        }
    }
    Ok(())
}

async fn measure(line: &mut Line, plan: &ClaimsPlan, cell: Cell, sample: usize) -> Result<()> {
    let mut times = match cell.kind {
        Kind::Ceiling => ceilings(line, plan, cell).await?,
        Kind::Unshared => ceilings(line, plan, Cell { callers: 1, ..cell }).await?,
        Kind::Claim | Kind::Pair => claims(line, plan, cell).await?,
    };
    let circumstances = json!({
        "part": "claims", "line": line.plan.name, "depth": line.plan.depth, "kind": cell.kind.as_str(),
        "callers": cell.callers, "replicas": cell.replicas, "sample": sample,
    });
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

async fn claims(line: &mut Line, plan: &ClaimsPlan, cell: Cell) -> Result<Times> {
    let opened = line.desks(cell.replicas).await?;
    let desks = opened.desks.clone();
    let feeder = Some(desks[0].clone());
    let times = match cell.kind {
        Kind::Pair => rounds(line, plan, cell, &Pairs(desks), feeder).await?,
        _ => rounds(line, plan, cell, &Claims(desks), feeder).await?,
    };
    opened.stop().await;
    Ok(times)
}

/// Lets callers work until the sample is long enough; the line is topped up between rounds, untimed.
async fn rounds<W: Work>(
    line: &mut Line,
    plan: &ClaimsPlan,
    cell: Cell,
    work: &W,
    feeder: Option<extraboard_desk::Desk>,
) -> Result<Times> {
    let feeder = feeder.filter(|_| cell.kind.takes_tasks());
    let count = usize::try_from(line.plan.depth / ROUND_PART)?.clamp(1, plan.round_max);
    let mut times = Times::default();
    // The first round opens connections and prepares statements.
    let mut is_warm = false;
    while times.elapsed < Duration::from_millis(plan.sample_ms) {
        let round = call(work, cell.callers, count).await?;
        if let Some(desk) = &feeder {
            line.top_up(desk, count).await?;
        }
        if is_warm {
            times.extend(round);
        }
        is_warm = true;
    }
    Ok(times)
}
