//! One caller, one claim at a time: how long a claim takes on different lines.

use anyhow::Result;
use serde_json::json;

use crate::callers::{Times, call};
use crate::line::Line;
use crate::plan::SinglesPlan;
use crate::sample;
use crate::work::Claims;

/// How many claims are made of one line before it is the next one's turn.
const CHUNK: usize = 20;

pub(crate) async fn run(lines: &mut [Line], plan: &SinglesPlan, samples: usize) -> Result<()> {
    let mut opened = Vec::new();
    for line in &mut *lines {
        opened.push(line.desks(1).await?);
    }
    // The first sample opens connections and prepares statements: it does not count.
    for sample in 0..=samples {
        let mut times: Vec<_> = lines.iter().map(|_| Times::default()).collect();
        for _ in 0..plan.claims.div_ceil(CHUNK) {
            for ((line, desks), times) in lines.iter_mut().zip(&opened).zip(&mut times) {
                times.extend(call(&Claims::new(desks.desks.clone()), 1, CHUNK).await?);
                line.top_up(&desks.desks[0], CHUNK).await?;
            }
        }
        for (line, times) in lines.iter().zip(&mut times).filter(|_| sample > 0) {
            let circumstances = json!({
                "part": "singles", "line": line.plan.name, "depth": line.plan.depth, "kind": "claim",
                "callers": 1, "replicas": 1, "sample": sample - 1,
            });
            sample::print(circumstances, times);
        }
    }
    for desks in opened {
        desks.stop().await;
    }
    Ok(())
}
