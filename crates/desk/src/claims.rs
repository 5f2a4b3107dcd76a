//! The claim section: whoever waits while a claim runs is claimed for together.
//!
//! No timer: the first request goes at once, and what arrives while its
//! transaction runs makes the next batch.
//!
//! Whoever asked to wait is parked when there is nothing, and claimed for again when
//! something happened anywhere: on this server or, through the sequencer, on another.
//! All that are parked go into the same transactions, so that a task that arrives is
//! one claim however many wait for it. A task that is committed before such a claim
//! reads is seen by it; one committed later gets its position later, and so wakes.

use std::time::Duration;

use extraboard_core::caller::Caller;
use extraboard_core::gate::Nothing;
use extraboard_core::id::{DispatchId, Pos};
use extraboard_core::reason::Reason;
use extraboard_core::report::Report;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimBatch, ClaimRequest, Claimed, DispatchReport, DispatchTerminate, HeadAdvance, Usage,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::desk::Desk;

/// How many requests one claim serves.
const BATCH_MAX: usize = 64;
/// How often callers that were just answered get a turn to ask again before the next
/// batch goes without them: half a batch costs nearly as much as a whole one.
const TURNS_MAX: usize = 8;
/// After how many claims the head of the line is moved on: each leaves a dead entry there.
const ADVANCE_AFTER: usize = 1_000;
/// After how many claims those entries are removed.
const TIDY_AFTER: usize = 10_000;

/// How many may be parked; more are told that there is nothing.
const PARKED_MAX: usize = 10_000;
/// How often those are claimed for though nothing was heard: a wake-up may be lost.
const NET: Duration = Duration::from_secs(1);

/// How often it is tried to end a dispatch that may have been opened.
const FORGET_TRIES: usize = 60;
/// The pause between two tries.
const FORGET_PAUSE: Duration = Duration::from_secs(1);

type Answer = Result<Result<Claimed, Nothing>, Error>;

/// What a claimer is told.
pub(crate) type Reply = Result<Result<Delivery, Nothing>, Error>;

/// Whether a claimer waits for work if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It wants to be told.
    None,
    /// It waits until it goes away.
    Waits,
}

/// A request on its way, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) request: ClaimRequest,
    pub(crate) patience: Patience,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// A request that waits for work, and why it got none.
#[derive(Debug)]
struct Parked {
    waiting: Waiting,
    nothing: Nothing,
}

/// A claimed task on its way to its client.
///
/// Dropped before the client took it, wherever that happens, it gives the task
/// back: the client has gone.
#[derive(Debug)]
pub struct Delivery {
    desk: Desk,
    claimed: Option<Claimed>,
    /// With a key the client may come back for the same dispatch, so that stays open.
    keyed: bool,
}

impl Delivery {
    fn new(desk: &Desk, request: &ClaimRequest, claimed: Claimed) -> Self {
        Self { desk: desk.clone(), claimed: Some(claimed), keyed: request.key.is_some() }
    }

    /// Returns the task.
    pub fn claimed(&self) -> Option<&Claimed> {
        self.claimed.as_ref()
    }

    /// Gives the task back, also if its client could come back for it: it must not have it.
    pub fn give_back(mut self) {
        self.keyed = false;
    }

    /// Hands the task to its client.
    pub fn take(mut self) -> Option<Claimed> {
        self.claimed.take()
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let Some(lost) = self.claimed.take().filter(|_| !self.keyed) else { return };
        // Without a runtime the process is ending; the lease will end by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(release(self.desk.clone(), lost));
        }
    }
}

/// Makes claims, one batch at a time.
#[derive(Debug)]
pub(crate) struct ClaimSection {
    waiting: mpsc::Receiver<Waiting>,
    /// Whoever waits for work, in the order they came.
    parked: Vec<Parked>,
    /// Moves whenever something happened.
    positions: watch::Receiver<Pos>,
    /// Claims since the head of the line was last moved on.
    passed: usize,
    /// Claims since the line was last tidied.
    untidied: usize,
}

impl ClaimSection {
    pub(crate) const fn new(waiting: mpsc::Receiver<Waiting>, positions: watch::Receiver<Pos>) -> Self {
        Self { waiting, parked: Vec::new(), positions, passed: 0, untidied: 0 }
    }

    /// Serves claims until told to stop.
    pub(crate) async fn run(mut self, desk: Desk, mut stopped: watch::Receiver<bool>) {
        let mut net = interval(NET);
        net.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut batch = Vec::new();
            let waits = !self.parked.is_empty();
            tokio::select! {
                _ = stopped.changed() => break,
                received = self.waiting.recv_many(&mut batch, BATCH_MAX) => if received == 0 { break },
                _ = self.positions.changed(), if waits => {}
                _ = net.tick(), if waits => {}
            }
            if batch.is_empty() {
                self.serve_parked(&desk).await;
                continue;
            }
            let served = batch.len();
            self.serve(&desk, batch).await;
            self.gather(served).await;
        }
        for Parked { waiting, nothing } in self.parked {
            // Whoever has gone needs no answer.
            let _ = waiting.reply.send(Ok(Err(nothing)));
        }
    }

    /// Lets as many callers as were just served come back; it never waits for them.
    async fn gather(&self, served: usize) {
        for _ in 0..TURNS_MAX {
            if self.waiting.len() >= served {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Serves whoever waits now.
    pub(crate) async fn serve_waiting(&mut self, desk: &Desk) {
        let mut batch = Vec::new();
        while let Ok(waiting) = self.waiting.try_recv() {
            batch.push(waiting);
        }
        self.serve(desk, batch).await;
        self.serve_parked(desk).await;
    }

    /// Claims again for whoever is parked, until nothing is left in line.
    async fn serve_parked(&mut self, desk: &Desk) {
        let mut parked = std::mem::take(&mut self.parked).into_iter();
        loop {
            let batch: Vec<_> = parked.by_ref().take(BATCH_MAX).map(|parked| parked.waiting).collect();
            if batch.is_empty() || self.serve(desk, batch).await == Line::Empty {
                break;
            }
        }
        self.parked.extend(parked);
    }

    /// Claims for a batch, and parks whoever waits; tells whether there may be more in line.
    async fn serve(&mut self, desk: &Desk, mut batch: Vec<Waiting>) -> Line {
        batch.retain(|waiting| !waiting.reply.is_closed());
        // What happens from now on is a reason to look again.
        self.positions.mark_unchanged();
        let served = serve_batch(desk, batch).await;
        self.count(desk, served.claimed);
        let mut line = Line::NotEmpty;
        for parked in served.unserved {
            // These words are for everybody: nothing stands in line.
            if matches!(parked.nothing, Nothing::Empty | Nothing::Held | Nothing::NotBefore) {
                line = Line::Empty;
            }
            if parked.waiting.patience == Patience::Waits && self.parked.len() < PARKED_MAX {
                self.parked.push(parked);
            } else {
                // Whoever has gone needs no answer.
                let _ = parked.waiting.reply.send(Ok(Err(parked.nothing)));
            }
        }
        line
    }

    /// Counts claims, and has the line tidied now and then.
    fn count(&mut self, desk: &Desk, claimed: usize) {
        self.passed += claimed;
        self.untidied += claimed;
        let desk = desk.clone();
        if self.untidied >= TIDY_AFTER {
            (self.passed, self.untidied) = (0, 0);
            tokio::spawn(async move {
                told(desk.shared.store.write(HeadAdvance).await);
                told(desk.shared.store.tidy_line().await);
            });
        } else if self.passed >= ADVANCE_AFTER {
            self.passed = 0;
            tokio::spawn(async move { told(desk.shared.store.write(HeadAdvance).await) });
        }
    }
}

/// Whether anything stands in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Empty,
    NotEmpty,
}

/// What came of a batch.
#[derive(Debug, Default)]
struct Served {
    /// How many tasks were handed out.
    claimed: usize,
    /// Who got none.
    unserved: Vec<Parked>,
}

/// Says if the line was not tidied; claims only get slower.
fn told(tidied: Result<(), Error>) {
    if let Err(error) = tidied {
        tracing::warn!("the line was not tidied: {}", error.with_cause());
    }
}

/// Claims for a batch, and answers whoever gets something or is to blame.
async fn serve_batch(desk: &Desk, batch: Vec<Waiting>) -> Served {
    if batch.is_empty() {
        return Served::default();
    }
    let requests = batch.iter().map(|waiting| waiting.request.clone()).collect();
    match claim(desk, requests).await {
        Ok(answers) => reply_all(desk, batch, answers),
        Err(Error::Unavailable(error)) => {
            let message = error.to_string();
            let unkeyed =
                batch.iter().map(|waiting| &waiting.request).filter(|request| request.key.is_none());
            tokio::spawn(forget(desk.clone(), unkeyed.map(|request| request.dispatch).collect()));
            for waiting in batch {
                // Whoever has gone needs no answer.
                let _ = waiting.reply.send(Err(Error::Unavailable(message.clone().into())));
            }
            Served::default()
        }
        // One request must not spoil the others: each is tried by itself.
        Err(error) if batch.len() > 1 => {
            tracing::error!(error = %error, "a batch of claims failed, trying singly: {error}");
            let mut served = Served::default();
            for waiting in batch {
                let one = Box::pin(serve_batch(desk, vec![waiting])).await;
                served.claimed += one.claimed;
                served.unserved.extend(one.unserved);
            }
            served
        }
        Err(error) => {
            for waiting in batch {
                // Whoever has gone needs no answer.
                let _ = waiting.reply.send(Err(Error::Broken(error.to_string())));
            }
            Served::default()
        }
    }
}

async fn claim(desk: &Desk, requests: Vec<ClaimRequest>) -> Result<Vec<Answer>, Error> {
    let render = desk.render();
    desk.write(ClaimBatch { ctx: desk.ctx(Caller::Desk), requests, render }).await
}

fn reply_all(desk: &Desk, batch: Vec<Waiting>, answers: Vec<Answer>) -> Served {
    let mut served = Served::default();
    for (waiting, answer) in batch.into_iter().zip(answers) {
        let reply = match answer {
            Ok(Ok(claimed)) => {
                served.claimed += 1;
                Ok(Ok(Delivery::new(desk, &waiting.request, claimed)))
            }
            Ok(Err(nothing)) => {
                served.unserved.push(Parked { waiting, nothing });
                continue;
            }
            Err(error) => Err(error),
        };
        // A delivery that cannot be sent is dropped, and so given back.
        let _ = waiting.reply.send(reply);
    }
    metrics::counter!("extraboard_claims_total").increment(served.claimed as u64);
    served
}

/// Gives back what was claimed for a client that has gone.
async fn release(desk: Desk, lost: Claimed) {
    let dispatch = lost.dispatch;
    let report = DispatchReport {
        ctx: desk.ctx(Caller::Holder { dispatch: dispatch.id, fence: dispatch.fence }),
        dispatch: dispatch.id,
        report: Report::Release,
        usage: Usage::default(),
        draw: desk.draw(),
    };
    if let Err(error) = desk.write(report).await {
        tracing::warn!(dispatch.id = %dispatch.id, "a lost claim waits for its lease: {}", error.with_cause());
    }
}

/// Ends dispatches that may have been opened by a claim whose commit was not
/// confirmed: nobody will ever hear of them.
async fn forget(desk: Desk, dispatches: Vec<DispatchId>) {
    for dispatch in dispatches {
        for _ in 0..FORGET_TRIES {
            let ctx = desk.ctx(Caller::Desk);
            match desk.write(DispatchTerminate { ctx, dispatch, reason: Reason::Released }).await {
                Err(Error::Unavailable(_)) => pause().await,
                Ok(_) | Err(_) => break,
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the database needs time, and does not say when it is back")]
async fn pause() {
    tokio::time::sleep(FORGET_PAUSE).await;
}
