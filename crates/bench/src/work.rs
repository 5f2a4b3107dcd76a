//! What callers do: the ceiling, claims, and claims with their completion, by the desk or by HTTP.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use anyhow::{Context as _, Result, anyhow};
use extraboard_core::caller::Caller;
use extraboard_core::clock::Clock as _;
use extraboard_core::doors::Door;
use extraboard_core::gate::Claimer;
use extraboard_core::reason::Draw;
use extraboard_core::report::{Completion, Report};
use extraboard_desk::{Claim, Desk};
use extraboard_store::Store;
use extraboard_store::verbs::{Ceiling, Claimed, DispatchReport, Usage};

use tokio::sync::Mutex;

use crate::agent::{Agent, Asks};
use crate::clock::RealClock;

/// Something callers do over and over.
pub(crate) trait Work: Clone + Send + 'static {
    /// Does it once for this caller.
    fn once(&self, caller: usize) -> impl Future<Output = Result<()>> + Send;
}

/// The least a claim could do, on tasks all over the table. No desk is at work.
#[derive(Clone, Debug)]
pub(crate) struct Ceilings {
    stores: Vec<Arc<Store>>,
    tasks: i64,
    turn: Arc<AtomicI64>,
}

impl Ceilings {
    pub(crate) fn new(stores: Vec<Arc<Store>>, tasks: i64) -> Self {
        Self { stores, tasks, turn: Arc::new(AtomicI64::new(0)) }
    }
}

/// A prime larger than any number of callers: neighbours in time are not neighbours in the table.
const STRIDE: i64 = 7919;

impl Work for Ceilings {
    async fn once(&self, caller: usize) -> Result<()> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let number = 1 + turn * STRIDE % self.tasks;
        let store = &self.stores[caller % self.stores.len()];
        Ok(store.write(Ceiling { number, now: RealClock.now() }).await?)
    }
}

/// Claims through desks.
#[derive(Clone, Debug)]
pub(crate) struct Claims {
    desks: Vec<Desk>,
    prompts: Arc<PromptSizes>,
}

/// How large the prompts were.
#[derive(Debug, Default)]
struct PromptSizes {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

impl Claims {
    pub(crate) fn new(desks: Vec<Desk>) -> Self {
        Self { desks, prompts: Arc::default() }
    }

    /// Returns the mean size of all prompts so far.
    pub(crate) fn prompt_bytes(&self) -> usize {
        let PromptSizes { count, bytes } = &*self.prompts;
        bytes.load(Ordering::Relaxed) / count.load(Ordering::Relaxed).max(1)
    }
}

impl Work for Claims {
    async fn once(&self, caller: usize) -> Result<()> {
        let claimed = claim(&self.desks[caller % self.desks.len()]).await?;
        let prompt = claimed.dispatch.prompt.context("a claim without a prompt")?;
        self.prompts.count.fetch_add(1, Ordering::Relaxed);
        self.prompts.bytes.fetch_add(prompt.len(), Ordering::Relaxed);
        Ok(())
    }
}

/// Claims through desks, each completed by its caller.
#[derive(Clone, Debug)]
pub(crate) struct Pairs(pub(crate) Vec<Desk>);

impl Work for Pairs {
    async fn once(&self, caller: usize) -> Result<()> {
        let desk = &self.0[caller % self.0.len()];
        let claimed = claim(desk).await?;
        let report = Report::Complete(Completion::default());
        let (ctx, usage, draw) = (desk.ctx(bench()), Usage::default(), Draw::NONE);
        desk.write(DispatchReport { ctx, dispatch: claimed.dispatch.id, report, usage, draw }).await?;
        Ok(())
    }
}

/// Claims by HTTP, each completed by its caller, who has a name and a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct HttpPairs(Arc<Vec<Mutex<Agent>>>);

impl HttpPairs {
    /// Connects so many callers, to one server after the other.
    pub(crate) async fn connect(servers: &[SocketAddr], callers: usize) -> Result<Self> {
        let mut agents = Vec::new();
        for caller in 0..callers {
            let server = servers[caller % servers.len()];
            agents.push(Mutex::new(Agent::connect(server, format!("bench-{caller}")).await?));
        }
        Ok(Self(Arc::new(agents)))
    }
}

impl Work for HttpPairs {
    async fn once(&self, caller: usize) -> Result<()> {
        // Nobody else uses it: callers are as many as connections.
        let mut agent = self.0[caller].lock().await;
        let handed = agent.next(Asks::Once).await?.context("nothing to claim")?;
        agent.complete(&handed).await
    }
}

async fn claim(desk: &Desk) -> Result<Claimed> {
    let claimed = desk.claim(Claim { caller: bench(), claimer: claimer(), key: None }).await?;
    claimed.map_err(|nothing| anyhow!("nothing to claim: {}", nothing.as_str()))
}

fn bench() -> Caller {
    Caller::Agent("bench".to_owned())
}

/// Returns the claimer of all claims, who takes anything that is not somebody else's.
pub(crate) fn claimer() -> Claimer {
    Claimer::anyone(bench().to_string(), Door::Pull)
}
