//! How long it takes to say why a task waits.

use anyhow::{Result, ensure};
use extraboard_core::gate::Claimer;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_desk::Desk;
use extraboard_store::verbs::{Queue, QueueScope, Why};
use serde_json::json;

use crate::callers::Times;
use crate::clock::now;
use crate::line::Line;
use crate::plan::WhyPlan;
use crate::random::Random;
use crate::sample;
use crate::work::claimer;

/// How many tasks from the head of the line are asked for.
const NEAR: i64 = 1_000;
/// How many tasks may turn out to be no longer in line for each that is.
const MISSES_MAX: usize = 20;

/// Which tasks are asked for.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Wherever in the line.
    Anywhere,
    /// Among the first, whose places are counted.
    Head,
}

/// For whom it is asked.
#[derive(Clone, Copy, Debug)]
enum Whom {
    Anyone,
    Claimer,
}

pub(crate) async fn run(lines: &[Line], plan: &WhyPlan, samples: usize) -> Result<()> {
    for line in lines {
        let opened = line.desks(1).await?;
        let desk = &opened.desks[0];
        let head = head(desk).await?;
        let mut random = Random::new(1);
        // The first sample opens connections and prepares statements: it does not count.
        for sample in 0..=samples {
            for (kind, place, whom) in [
                ("anywhere, anyone", Place::Anywhere, Whom::Anyone),
                ("anywhere, claimer", Place::Anywhere, Whom::Claimer),
                ("head, anyone", Place::Head, Whom::Anyone),
                ("head, claimer", Place::Head, Whom::Claimer),
            ] {
                let task = || match place {
                    Place::Anywhere => TaskNumber(random.below(line.tasks()) + 1),
                    Place::Head => head[usize::try_from(random.next()).unwrap_or(0) % head.len()],
                };
                let mut times = ask(desk, plan.asks, task, whom).await?;
                if sample > 0 {
                    let circumstances = json!({
                        "part": "why", "line": line.plan.name, "depth": line.plan.depth, "kind": kind,
                        "callers": 1, "replicas": 1, "sample": sample - 1,
                    });
                    sample::print(circumstances, &mut times);
                }
            }
        }
        opened.stop().await;
    }
    Ok(())
}

async fn head(desk: &Desk) -> Result<Vec<TaskNumber>> {
    let queue =
        Queue { claimer: claimer(), scope: QueueScope::Open, offset: 0, limit: NEAR, now: desk.now() };
    let page = desk.read(queue).await?;
    ensure!(!page.entries.is_empty(), "nothing waits");
    Ok(page.entries.into_iter().map(|entry| entry.task.number).collect())
}

/// Asks for tasks one after the other; those that are not in line do not count.
async fn ask(desk: &Desk, asks: usize, mut task: impl FnMut() -> TaskNumber, whom: Whom) -> Result<Times> {
    let claimer: Option<Claimer> = match whom {
        Whom::Anyone => None,
        Whom::Claimer => Some(claimer()),
    };
    let mut times = Times::default();
    for _ in 0..asks * MISSES_MAX {
        let why = Why { task: TaskRef::Number(task()), claimer: claimer.clone(), now: desk.now() };
        let begun = now();
        let answer = desk.read(why).await?;
        let took = begun.elapsed();
        if answer.position.is_some() {
            times.elapsed += took;
            times.each.push(took);
        }
        if times.each.len() == asks {
            return Ok(times);
        }
    }
    anyhow::bail!("hardly any of the tasks are in line");
}
