//! The claim section: whoever waits while a claim runs is claimed for together.
//!
//! No timer: the first request goes at once, and what arrives while its
//! transaction runs makes the next batch.

use std::time::Duration;

use extraboard_core::caller::Caller;
use extraboard_core::gate::Nothing;
use extraboard_core::id::DispatchId;
use extraboard_core::reason::Reason;
use extraboard_core::report::Report;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimBatch, ClaimRequest, Claimed, DispatchReport, DispatchTerminate, HeadAdvance, Usage,
};
use tokio::sync::{mpsc, oneshot, watch};

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

/// How often it is tried to end a dispatch that may have been opened.
const FORGET_TRIES: usize = 60;
/// The pause between two tries.
const FORGET_PAUSE: Duration = Duration::from_secs(1);

type Answer = Result<Result<Claimed, Nothing>, Error>;

/// A request on its way, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) request: ClaimRequest,
    pub(crate) reply: oneshot::Sender<Result<Result<Delivery, Nothing>, Error>>,
}

/// A claimed task on its way to its client.
///
/// Dropped before the client took it, wherever that happens, it gives the task
/// back: the client has gone.
#[derive(Debug)]
pub(crate) struct Delivery {
    desk: Desk,
    claimed: Option<Claimed>,
    /// With a key the client may come back for the same dispatch, so that stays open.
    keyed: bool,
}

impl Delivery {
    fn new(desk: &Desk, request: &ClaimRequest, claimed: Claimed) -> Self {
        Self { desk: desk.clone(), claimed: Some(claimed), keyed: request.key.is_some() }
    }

    /// Hands the task to its client.
    pub(crate) fn take(mut self) -> Option<Claimed> {
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
    /// Claims since the head of the line was last moved on.
    passed: usize,
    /// Claims since the line was last tidied.
    untidied: usize,
}

impl ClaimSection {
    pub(crate) const fn new(waiting: mpsc::Receiver<Waiting>) -> Self {
        Self { waiting, passed: 0, untidied: 0 }
    }

    /// Serves claims until told to stop.
    pub(crate) async fn run(mut self, desk: Desk, mut stopped: watch::Receiver<bool>) {
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                _ = stopped.changed() => return,
                received = self.waiting.recv_many(&mut batch, BATCH_MAX) => if received == 0 { return },
            }
            let served = batch.len();
            self.serve(&desk, batch).await;
            self.gather(served).await;
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
    }

    async fn serve(&mut self, desk: &Desk, mut batch: Vec<Waiting>) {
        batch.retain(|waiting| !waiting.reply.is_closed());
        let claimed = serve_batch(desk, batch).await;
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

/// Says if the line was not tidied; claims only get slower.
fn told(tidied: Result<(), Error>) {
    if let Err(error) = tidied {
        tracing::warn!("the line was not tidied: {}", error.with_cause());
    }
}

/// Claims for a batch; returns how many tasks were handed out.
async fn serve_batch(desk: &Desk, batch: Vec<Waiting>) -> usize {
    if batch.is_empty() {
        return 0;
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
            0
        }
        // One request must not spoil the others: each is tried by itself.
        Err(error) if batch.len() > 1 => {
            tracing::error!(error = %error, "a batch of claims failed, trying singly: {error}");
            let mut claimed = 0;
            for waiting in batch {
                claimed += Box::pin(serve_batch(desk, vec![waiting])).await;
            }
            claimed
        }
        Err(error) => {
            batch.into_iter().map(|waiting| refuse(waiting, Error::Broken(error.to_string()))).sum()
        }
    }
}

fn refuse(waiting: Waiting, error: Error) -> usize {
    // Whoever has gone needs no answer.
    let _ = waiting.reply.send(Err(error));
    0
}

async fn claim(desk: &Desk, requests: Vec<ClaimRequest>) -> Result<Vec<Answer>, Error> {
    let render = desk.render();
    desk.write(ClaimBatch { ctx: desk.ctx(Caller::Desk), requests, render }).await
}

fn reply_all(desk: &Desk, batch: Vec<Waiting>, answers: Vec<Answer>) -> usize {
    let mut claimed = 0;
    for (waiting, answer) in batch.into_iter().zip(answers) {
        claimed += usize::from(matches!(answer, Ok(Ok(_))));
        let deliver = |claimed| Delivery::new(desk, &waiting.request, claimed);
        // A delivery that cannot be sent is dropped, and so given back.
        let _ = waiting.reply.send(answer.map(|answer| answer.map(deliver)));
    }
    metrics::counter!("extraboard_claims_total").increment(claimed as u64);
    claimed
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
