//! How long a task that comes in takes to reach a client that wants work: one that waits, or one that polls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::agent::{Agent, Asks, Handed};
use crate::callers::{Times, call};
use crate::clock::{now, pause};
use crate::line::{Line, stamp_all};
use crate::plan::WakePlan;
use crate::random::Random;
use crate::sample;
use crate::servers::Servers;
use crate::work::Ceilings;

/// How many wakes open connections and prepare statements. They do not count.
const WARM_UP: usize = 5;
/// Before a task comes in the desk is left alone for as long as this, so that it is at rest …
const REST: Duration = Duration::from_millis(10);
/// … and at random for up to so much longer, so that no loop of the desk and no client keeps step.
const REST_MORE_MICROS: i64 = 40_000;
/// A task that nobody holds by then never will be.
const LOST: Duration = Duration::from_mins(1);

/// How clients want work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Wait,
    Poll,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Poll => "poll",
        }
    }
}

/// How long wakes took.
#[derive(Debug, Default)]
struct Wakes {
    /// From just before a task was sent until a client had read the answer that hands it out.
    times: Times,
    /// From there until whoever sent it had its answer: the task is committed.
    created: Vec<Duration>,
}

/// Takes samples with clients that wait and clients that poll, in turn. The lines are empty.
pub(crate) async fn run(lines: &[Line], plan: &WakePlan, samples: usize) -> Result<()> {
    let mut random = Random::new(1);
    for sample in 0..samples {
        for replicas in &plan.replicas {
            for line in lines {
                let circumstances = |kind: &str| {
                    json!({
                        "part": "wake", "line": line.plan.name, "kind": kind, "callers": plan.clients,
                        "replicas": replicas, "sample": sample,
                    })
                };
                // Before and after: disks change their minds by the minute.
                let mut committed = commits(line, plan.commits / 2).await?;
                let servers = Servers::start(line, *replicas).await?;
                for (kind, count) in [(Kind::Wait, plan.waited), (Kind::Poll, plan.polled)] {
                    let mut wakes = wake(&servers, plan, kind, count, &mut random).await?;
                    let mut circumstances = circumstances(kind.as_str());
                    circumstances["created_p50_us"] = json!(sample::percentile_us(&mut wakes.created, 50));
                    circumstances["created_p99_us"] = json!(sample::percentile_us(&mut wakes.created, 99));
                    sample::print(circumstances, &mut wakes.times);
                }
                servers.stop().await?;
                committed.extend(commits(line, plan.commits / 2).await?);
                sample::print(circumstances("commit"), &mut committed);
            }
        }
    }
    Ok(())
}

/// Measures what one small transaction takes, one after the other: what the disk is like at the moment.
async fn commits(line: &Line, count: usize) -> Result<Times> {
    let store = Arc::new(line.store().await?);
    let work = Ceilings::new(vec![Arc::clone(&store)], line.tasks().max(1));
    call(&work, 1, WARM_UP).await?;
    let times = call(&work, 1, count).await?;
    stamp_all(&store).await?;
    store.close().await;
    Ok(times)
}

async fn wake(
    servers: &Servers,
    plan: &WakePlan,
    kind: Kind,
    count: usize,
    random: &mut Random,
) -> Result<Wakes> {
    let (first, last) = servers.addresses().first().zip(servers.addresses().last()).context("no server")?;
    let mut crew = Crew::gather(*last, plan, kind, random).await?;
    let mut feeder = Agent::connect(*first, "feeder".to_owned()).await?;
    let mut wakes = Wakes::default();
    for turn in 0..WARM_UP + count {
        pause(REST + random_micros(random, REST_MORE_MICROS)).await;
        let begun = now();
        let number = feeder.create(&format!("wake {turn}")).await?;
        let created = begun.elapsed();
        let handed = crew.handed().await?;
        ensure!(handed.number == number, "task {number} was added and {} was handed out", handed.number);
        if turn >= WARM_UP {
            let took = handed.at - begun;
            wakes.times.elapsed += took;
            wakes.times.each.push(took);
            wakes.created.push(created);
        }
    }
    crew.clients.shutdown().await;
    Ok(wakes)
}

/// Clients that want work.
struct Crew {
    clients: JoinSet<Result<()>>,
    /// What they were handed, and have completed since.
    done: mpsc::Receiver<Handed>,
}

impl Crew {
    /// Connects clients to a server. Those that poll begin at different moments.
    async fn gather(server: SocketAddr, plan: &WakePlan, kind: Kind, random: &mut Random) -> Result<Self> {
        let (sender, done) = mpsc::channel(plan.clients.max(1));
        let mut clients = JoinSet::new();
        let every = Duration::from_millis(plan.poll_ms);
        for client in 0..plan.clients {
            let agent = Agent::connect(server, format!("client-{client}")).await?;
            let done = sender.clone();
            match kind {
                Kind::Wait => clients.spawn(waits(agent, done)),
                Kind::Poll => {
                    let first = random_micros(random, i64::try_from(every.as_micros())?);
                    clients.spawn(polls(agent, done, first, every))
                }
            };
        }
        Ok(Self { clients, done })
    }

    /// Waits until a client has completed what it was handed.
    async fn handed(&mut self) -> Result<Handed> {
        tokio::select! {
            handed = timeout(LOST, self.done.recv()) => {
                handed.context("nobody was handed the task")?.context("all clients have gone")
            }
            Some(gone) = self.clients.join_next() => {
                gone??;
                anyhow::bail!("a client has gone")
            }
        }
    }
}

async fn waits(mut agent: Agent, done: mpsc::Sender<Handed>) -> Result<()> {
    loop {
        if let Some(handed) = agent.next(Asks::Waits).await? {
            agent.complete(&handed).await?;
            done.send(handed).await?;
        }
    }
}

async fn polls(mut agent: Agent, done: mpsc::Sender<Handed>, first: Duration, every: Duration) -> Result<()> {
    pause(first).await;
    loop {
        match agent.next(Asks::Once).await? {
            Some(handed) => {
                agent.complete(&handed).await?;
                done.send(handed).await?;
            }
            None => pause(every).await,
        }
    }
}

fn random_micros(random: &mut Random, below: i64) -> Duration {
    Duration::from_micros(random.below(below).unsigned_abs())
}
