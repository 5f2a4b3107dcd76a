//! Claims, claim-and-complete pairs, and the ceiling, alternating.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow};
use extraboard_core::caller::Caller;
use extraboard_core::clock::{Clock, Entropy, Timestamp};
use extraboard_core::dispatch::PULL_LEASE;
use extraboard_core::doors::Door;
use extraboard_core::reason::Draw;
use extraboard_core::report::Report;
use extraboard_desk::{Claim, Desk, Running, Settings};
use extraboard_store::verbs::{Ceiling, DispatchReport, Seed, Usage};
use extraboard_store::{Opening, Store};
use serde_json::json;

use crate::Plan;

/// How many tasks are added at once.
const SEED_CHUNK: i64 = 50_000;

/// Fills the database, then takes samples of each kind in turn.
pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let (desks, running) = open(plan).await?;
    let mut next = fill(&desks[0], plan.depth).await?;
    for sample in 0..plan.samples {
        for kind in ["ceiling", "claim", "pair"] {
            let rate = measure(plan, &desks, kind).await?;
            print(plan, sample, kind, &rate);
        }
        // Both kinds of claims take tasks: put as many back, so that depth stays.
        let taken = i64::try_from(plan.claims * 2)?;
        seed(&desks[0], next, next + taken - 1).await?;
        next += taken;
    }
    for loops in running {
        loops.stop().await;
    }
    Ok(())
}

async fn open(plan: &Plan) -> Result<(Vec<Desk>, Vec<Running>)> {
    let mut desks = Vec::new();
    let mut running = Vec::new();
    // One source for all desks: their ids must differ.
    let entropy = Arc::new(Counting(AtomicU64::new(u64::from(std::process::id()) << 32)));
    for _ in 0..plan.replicas {
        let opening = Opening { now: RealClock.now(), note: "a benchmark".to_owned() };
        let store = Store::open(&plan.url, &opening).await?;
        let settings = Settings { pull_lease: PULL_LEASE, render: Arc::new(|task| task.title.clone()) };
        let entropy: Arc<dyn Entropy> = entropy.clone();
        let (desk, loops) = Desk::new(store, Arc::new(RealClock), entropy, settings).await?;
        desks.push(desk);
        running.push(loops.start());
    }
    Ok((desks, running))
}

async fn fill(desk: &Desk, depth: i64) -> Result<i64> {
    let mut first = 1;
    while first <= depth {
        let last = (first + SEED_CHUNK - 1).min(depth);
        seed(desk, first, last).await?;
        first = last + 1;
    }
    Ok(first)
}

async fn seed(desk: &Desk, first: i64, last: i64) -> Result<()> {
    Ok(desk.write(Seed { first, last, now: desk.now() }).await?)
}

/// A sample: how many a second, and how long one took.
struct Rate {
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

async fn measure(plan: &Plan, desks: &[Desk], kind: &'static str) -> Result<Rate> {
    let left = Arc::new(AtomicUsize::new(plan.claims));
    let rows = Arc::new(AtomicI64::new(1));
    let started = now();
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..plan.callers {
        let (desk, left, rows) = (desks[caller % desks.len()].clone(), Arc::clone(&left), Arc::clone(&rows));
        callers.spawn(async move {
            let mut took = Vec::new();
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            {
                let begun = now();
                once(&desk, kind, rows.fetch_add(1, Ordering::Relaxed)).await?;
                took.push(begun.elapsed());
            }
            Ok::<_, anyhow::Error>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(caller) = callers.join_next().await {
        took.extend(caller??);
    }
    let elapsed = started.elapsed().as_secs_f64();
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100];
    #[expect(clippy::cast_precision_loss, reason = "a count of claims fits a double")]
    let per_second = plan.claims as f64 / elapsed;
    Ok(Rate { per_second, p50: at(50), p99: at(99) })
}

async fn once(desk: &Desk, kind: &str, row: i64) -> Result<()> {
    if kind == "ceiling" {
        return Ok(desk.write(Ceiling { number: row, now: desk.now() }).await?);
    }
    let caller = Caller::Agent("bench".to_owned());
    let claimed = desk.claim(Claim { caller: caller.clone(), door: Door::Pull, key: None }).await?;
    let claimed = claimed.map_err(|nothing| anyhow!("nothing to claim: {}", nothing.as_str()))?;
    if kind == "pair" {
        let report = Report::Complete { result: None, summary: None };
        let (ctx, usage, draw) = (desk.ctx(caller), Usage::default(), Draw::NONE);
        desk.write(DispatchReport { ctx, dispatch: claimed.dispatch.id, report, usage, draw }).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "samples are what this program is for")]
fn print(plan: &Plan, sample: usize, kind: &str, rate: &Rate) {
    let database = if plan.url.starts_with("postgres") { "postgres" } else { "sqlite" };
    println!(
        "{}",
        json!({
            "database": database, "depth": plan.depth, "callers": plan.callers, "replicas": plan.replicas,
            "sample": sample, "kind": kind, "per_second": rate.per_second.round(),
            "p50_us": micros(rate.p50), "p99_us": micros(rate.p99),
        })
    );
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

struct RealClock;

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "a benchmark runs in real time")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Bytes that never repeat within a run.
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        for (byte, next) in bytes.iter_mut().zip(count.iter().cycle()) {
            *byte = *next;
        }
    }
}
