//! One session: what it holds, what it was ordered, and how it ends.
//!
//! The state is behind a lock that is never held while waiting. A dispatch enters by a claim and leaves by the
//! report that ends it, by being lost, or by the end of the session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::client::{Claim, Client, ClientError};
use extraboard_api::dispatch::{Heartbeat, Next, Release, ReportReply};
use rmcp::model::Extensions;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::caller::Desk;
use crate::held::{Held, Order, Ticket};
use crate::keeper;
use crate::reply::Refusal;

/// How many dispatches one session may hold.
const HELD_COUNT_MAX: usize = 100;
/// How long one heartbeat may take before it counts as failed.
const BEAT_PATIENCE: Duration = Duration::from_secs(10);
/// How long the end of a session waits for the desk.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// Who renews leases.
#[derive(Debug, Clone)]
pub(crate) enum Beats {
    /// A task of ours, because the session ends with the process that works.
    Background,
    /// Whoever calls a tool, because an HTTP client may be gone without saying so. Such sessions are registered,
    /// so that they can be ended with the server.
    OnCall(Registry),
}

/// What a session is made of.
#[derive(Debug)]
pub(crate) struct Session {
    desk: Desk,
    /// What claims say unless they say otherwise.
    claimer: ClaimerQuery,
    beats: Beats,
    /// Cancelled when the session ends: nothing more is claimed.
    closing: CancellationToken,
    /// Shared by claims under way: the end waits for them, so that none comes through behind it.
    claims: tokio::sync::RwLock<()>,
    /// Held while what the session holds is released.
    ending: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: Vec<Held>,
    /// What was lost and is to be told.
    lost: Vec<Order>,
    closed: bool,
}

/// How a call names the dispatch it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Which {
    pub(crate) dispatch: Option<String>,
    pub(crate) number: Option<i64>,
}

impl Session {
    pub(crate) fn new(desk: Desk, claimer: ClaimerQuery, beats: Beats) -> Arc<Self> {
        Arc::new(Self {
            desk,
            claimer,
            beats,
            closing: CancellationToken::new(),
            claims: tokio::sync::RwLock::new(()),
            ending: tokio::sync::Mutex::new(()),
            state: Mutex::default(),
        })
    }

    pub(crate) const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(crate) const fn claimer(&self) -> &ClaimerQuery {
        &self.claimer
    }

    /// Returns the client that speaks for whoever made this request.
    pub(crate) fn client(&self, extensions: &Extensions) -> Result<Client, Refusal> {
        self.desk.client(extensions)
    }

    /// Runs a claim and takes what it hands out; the end of the session ends it,
    /// and so does the client that cancels the call.
    pub(crate) async fn claim(
        self: &Arc<Self>,
        own: &Client,
        canceled: &CancellationToken,
        claim: impl Future<Output = Result<Claim, ClientError>>,
    ) -> Result<Claim, Refusal> {
        if self.state().held.len() >= HELD_COUNT_MAX {
            return Err(Refusal::too_many_held(HELD_COUNT_MAX));
        }
        let _under_way = self.claims.read().await;
        let asked = Instant::now();
        let claimed = tokio::select! {
            // What was handed out is taken, to be given back, rather than dropped.
            biased;
            claimed = claim => claimed.map_err(|error| Refusal::of(&error))?,
            () = self.closing.cancelled() => return Err(Refusal::closing()),
            () = canceled.cancelled() => return Err(Refusal::canceled()),
        };
        if let Claim::Work(next) = &claimed {
            self.adopt(own, next, asked).await?;
        }
        Ok(claimed)
    }

    async fn adopt(self: &Arc<Self>, own: &Client, next: &Next, asked: Instant) -> Result<(), Refusal> {
        let id = &next.dispatch.id;
        let holder = match self.desk.holder(&next.dispatch.token) {
            Ok(holder) => holder,
            Err(refusal) => {
                release(own, id).await;
                return Err(refusal);
            }
        };
        let closed = {
            let mut state = self.state();
            if !state.closed {
                state.held.push(Held::new(next, holder.clone(), asked));
            }
            state.closed
        };
        if closed {
            release(&holder, id).await;
            return Err(Refusal::closing());
        }
        match &self.beats {
            Beats::Background => keeper::keep(self, id.clone()),
            Beats::OnCall(registry) => registry.add(self),
        }
        Ok(())
    }

    /// Returns the dispatch a call is about: the one it names, or the only one.
    pub(crate) fn ticket(&self, which: &Which) -> Result<Ticket, Refusal> {
        let state = self.state();
        let tickets = || state.held.iter().map(|held| &held.ticket);
        let found = match (&which.dispatch, which.number) {
            (None, None) => match &*state.held {
                [] => return Err(Refusal::nothing_held()),
                [only] => Some(&only.ticket),
                _ => return Err(Refusal::which_dispatch(tickets())),
            },
            (id, number) => tickets().find(|ticket| {
                id.as_ref().is_none_or(|id| *id == ticket.id)
                    && number.is_none_or(|number| number == ticket.number)
            }),
        };
        found.cloned().ok_or_else(|| Refusal::not_held(which, tickets()))
    }

    /// Returns everything in the session's hands.
    pub(crate) fn tickets(&self) -> Vec<Ticket> {
        self.state().held.iter().map(|held| held.ticket.clone()).collect()
    }

    /// Takes in what the desk answered to a report on a dispatch that goes on.
    pub(crate) fn hear(&self, id: &str, reply: &ReportReply, asked: Instant) {
        if let Some(held) = self.state().held.iter_mut().find(|held| held.ticket.id == id) {
            held.hear(reply, asked);
        }
    }

    /// Lets go of a dispatch that was reported on, and of whatever was to be told about it.
    pub(crate) fn forget(&self, id: &str) {
        let mut state = self.state();
        state.held.retain(|held| held.ticket.id != id);
        state.lost.retain(|order| order.dispatch != id);
    }

    /// Returns the orders of everything in the session's hands, and once of what it lost.
    pub(crate) fn orders(&self) -> Vec<Order> {
        let mut state = self.state();
        let lost = std::mem::take(&mut state.lost);
        state.held.iter().map(Held::order).chain(lost).collect()
    }

    /// Returns how long to wait before the next heartbeat of a dispatch; nothing if it is not held any more.
    pub(crate) fn pulse(&self, id: &str) -> Option<Duration> {
        let state = self.state();
        let held = state.held.iter().find(|held| held.ticket.id == id)?;
        Some(held.pulse(Instant::now()))
    }

    /// Renews the leases that have been silent for a while, where no task of ours does.
    pub(crate) async fn refresh(self: &Arc<Self>) {
        if matches!(self.beats, Beats::Background) {
            return;
        }
        let now = Instant::now();
        let mut beats = JoinSet::new();
        for held in self.state().held.iter().filter(|held| held.is_due(now)) {
            let (session, id) = (Arc::clone(self), held.ticket.id.clone());
            beats.spawn(async move { session.beat(&id).await });
        }
        beats.join_all().await;
    }

    /// Renews one lease, and takes in what the desk orders.
    pub(crate) async fn beat(&self, id: &str) {
        let Ok(ticket) = self.ticket(&Which { dispatch: Some(id.to_owned()), number: None }) else { return };
        let asked = Instant::now();
        let body = Heartbeat::default();
        match timeout(BEAT_PATIENCE, ticket.client.dispatch_heartbeat(id, &body)).await {
            Ok(Ok(reply)) => self.hear(id, &reply, asked),
            Ok(Err(error)) if is_over(&error) => self.lose(&ticket, error.to_string()),
            Ok(Err(error)) => {
                debug!(dispatch.id = %id, %error, "cannot renew the lease of #{}", ticket.number);
                self.lose_if_over(&ticket);
            }
            Err(_) => self.lose_if_over(&ticket),
        }
    }

    /// Ends the session: what it holds is released, within a few seconds.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        // Whoever comes second may leave the process next: not before the first is done.
        let _one = self.ending.lock().await;
        let held = {
            let mut state = self.state();
            state.closed = true;
            std::mem::take(&mut state.held)
        };
        let mut releases = JoinSet::new();
        for Held { ticket, .. } in held {
            releases.spawn(async move {
                info!(dispatch.id = %ticket.id, "release #{}: its session is over", ticket.number);
                release(&ticket.client, &ticket.id).await;
            });
        }
        let close = async {
            releases.join_all().await;
            // A claim that was answered just now gives back what it got.
            drop(self.claims.write().await);
        };
        if timeout(CLOSE_PATIENCE, close).await.is_err() {
            warn!("the desk did not take back everything in time; the leases will end by themselves");
        }
    }

    fn lose_if_over(&self, ticket: &Ticket) {
        let now = Instant::now();
        let over = self.state().held.iter().any(|held| held.ticket.id == ticket.id && held.is_over(now));
        if over {
            self.lose(ticket, "the desk could not be reached until the lease ended".to_owned());
        }
    }

    fn lose(&self, ticket: &Ticket, reason: String) {
        let mut state = self.state();
        let count = state.held.len();
        state.held.retain(|held| held.ticket.id != ticket.id);
        if state.held.len() < count {
            info!(dispatch.id = %ticket.id, "lost #{}: {reason}", ticket.number);
            state.lost.push(ticket.lost(reason));
        }
    }

    fn is_holding(&self) -> bool {
        !self.state().held.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a session nobody serves any more, in the background.
pub(crate) fn abandon(session: &Arc<Session>) {
    session.closing.cancel();
    if !session.is_holding() {
        return;
    }
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let session = Arc::clone(session);
        runtime.spawn(async move { session.close().await });
    }
}

/// The sessions that hold something, so that they can be ended together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry(Arc<Mutex<Vec<Weak<Session>>>>);

impl Registry {
    fn add(&self, session: &Arc<Session>) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|known| known.strong_count() > 0);
        if !sessions.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(session))) {
            sessions.push(Arc::downgrade(session));
        }
    }

    /// Ends all sessions that hold something.
    pub(crate) async fn close(&self) {
        let sessions = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut closing = JoinSet::new();
        for session in sessions.iter().filter_map(Weak::upgrade) {
            closing.spawn(async move { session.close().await });
        }
        closing.join_all().await;
    }
}

/// Returns whether the desk says that a dispatch is not the session's any more.
pub(crate) fn is_over(error: &ClientError) -> bool {
    const CODES: [&str; 3] = ["stale_dispatch", "not_holder", "out_of_scope"];
    matches!(error, ClientError::Api { status, body }
        if matches!(status, 401 | 404) || CODES.contains(&body.code.as_str()))
}

async fn release(client: &Client, id: &str) {
    if let Err(error) = client.dispatch_release(id, &Release::default()).await {
        warn!(dispatch.id = %id, %error, "cannot release a dispatch; its lease will end by itself");
    }
}

#[cfg(test)]
mod tests;
