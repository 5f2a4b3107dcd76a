//! Claims without anything coming in: does the line get slower to claim from?

use anyhow::Result;
use serde_json::json;

use crate::callers::call;
use crate::line::Line;
use crate::plan::DrainPlan;
use crate::sample;
use crate::work::Claims;

/// How many claims open connections and prepare statements.
const WARM_UP: usize = 200;

pub(crate) async fn run(lines: &[Line], plan: &DrainPlan) -> Result<()> {
    for line in lines {
        let opened = line.desks(1).await?;
        let work = Claims::new(opened.desks.clone());
        call(&work, plan.callers, WARM_UP).await?;
        for window in 0..plan.claims / plan.window {
            let mut times = call(&work, plan.callers, plan.window).await?;
            let circumstances = json!({
                "part": "drain", "line": line.plan.name, "depth": line.plan.depth, "kind": "claim",
                "callers": plan.callers, "replicas": 1, "window": window,
            });
            sample::print(circumstances, &mut times);
        }
        drop(work);
        opened.stop().await;
    }
    Ok(())
}
