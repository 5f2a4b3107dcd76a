//! The claim section: whoever waits while a claim runs is claimed for together.
//!
//! No timer: the first request goes at once, and what arrives while its
//! transaction runs makes the next batch.

use extraboard_core::caller::Caller;
use extraboard_core::report::Report;
use extraboard_store::error::Error;
use extraboard_store::verbs::{ClaimBatch, ClaimRequest, Claimed, DispatchReport, Nothing, Usage};
use tokio::sync::{mpsc, oneshot, watch};

use crate::desk::Desk;

/// How many requests one claim serves.
const BATCH_MAX: usize = 64;
/// After how many claims the line is tidied: each leaves a dead entry at its head.
const TIDY_AFTER: usize = 10_000;

type Answer = Result<Result<Claimed, Nothing>, Error>;

/// A request on its way, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) request: ClaimRequest,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// Serves claims until told to stop.
pub(crate) async fn serve(
    desk: Desk,
    mut waiting: mpsc::Receiver<Waiting>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut claimed = 0;
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            _ = stopped.changed() => return,
            received = waiting.recv_many(&mut batch, BATCH_MAX) => if received == 0 { return },
        }
        batch.retain(|waiting| !waiting.reply.is_closed());
        claimed += serve_batch(&desk, batch).await;
        if claimed >= TIDY_AFTER {
            claimed = 0;
            let desk = desk.clone();
            tokio::spawn(async move {
                if let Err(error) = desk.shared.store.tidy_line().await {
                    tracing::warn!(error = %error, "the line was not tidied: {error}");
                }
            });
        }
    }
}

/// Claims for a batch; returns how many tasks were handed out.
async fn serve_batch(desk: &Desk, batch: Vec<Waiting>) -> usize {
    if batch.is_empty() {
        return 0;
    }
    let requests = batch.iter().map(|waiting| waiting.request.clone()).collect();
    match claim(desk, requests).await {
        Ok(answers) => reply_all(desk, batch, answers).await,
        Err(Error::Unavailable(error)) => {
            let message = error.to_string();
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
                let answers = claim(desk, vec![waiting.request.clone()]).await;
                claimed += match answers {
                    Ok(answers) => reply_all(desk, vec![waiting], answers).await,
                    Err(error) => refuse(waiting, error),
                };
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

async fn reply_all(desk: &Desk, batch: Vec<Waiting>, answers: Vec<Answer>) -> usize {
    let mut claimed = 0;
    for (waiting, answer) in batch.into_iter().zip(answers) {
        let Waiting { request, reply } = waiting;
        claimed += usize::from(matches!(answer, Ok(Ok(_))));
        if let Err(Ok(Ok(lost))) = reply.send(answer) {
            release(desk, &request, lost).await;
        }
    }
    metrics::counter!("extraboard_claims_total").increment(claimed as u64);
    claimed
}

/// Gives back what was claimed for a client that has gone. With a key it may
/// come back for the same dispatch, so that stays open.
async fn release(desk: &Desk, request: &ClaimRequest, lost: Claimed) {
    if request.key.is_some() {
        return;
    }
    let dispatch = lost.dispatch;
    let report = DispatchReport {
        ctx: desk.ctx(Caller::Holder { dispatch: dispatch.id, fence: dispatch.fence }),
        dispatch: dispatch.id,
        report: Report::Release,
        usage: Usage::default(),
        draw: desk.draw(),
    };
    if let Err(error) = desk.write(report).await {
        tracing::warn!(dispatch.id = %dispatch.id, error = %error, "a lost claim waits for its lease: {error}");
    }
}
