//! Claim: hand out the best tasks to whoever waits, in one transaction.
//!
//! 1. Begin with the claim lock, as a statement of its own, so that every later
//!    snapshot is taken under it. (SQLite has one writer.)
//! 2. Read the rules and the state of every gate; advance timers that are due.
//! 3. Answer requests whose idempotency key is known.
//! 4. Pick candidates, then lock them without waiting. What is being written at
//!    that moment is passed over; if nothing else is left, the claim waits for
//!    it: a task in line is never answered by "nothing".
//! 5. Hand the locked tasks out by rank to the requests by arrival, make their
//!    prompts, delete them from the line by task, and open their dispatches.
//!    Counts that do not match abort it all.
//! 6. A task whose prompt cannot be made is put aside for a while, and whoever
//!    would have got it gets the next one.

pub(crate) mod heads;
pub(crate) mod lanes;
pub(crate) mod nothing;
mod open;
pub(crate) mod pick;
pub(crate) mod section;
mod take;

use std::collections::HashSet;

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::event::EventType;
use extraboard_core::gate::{Audience, Claimer, Nothing};
use extraboard_core::id::{DispatchId, TaskRef};
use extraboard_core::reason::{Draw, Reason, Settlement, route};
use extraboard_core::report::Retryable;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::{Place, Task};
use extraboard_core::why::Obstacle;
use serde_json::json;

use self::section::Section;
use self::take::Taken;
use super::advance::{advance, join_line};
use super::change::change;
use super::idempotency::{self, IdempotencyKey};
use super::prompt::{self, Render};
use super::prompt_context::Wanted;
use super::{Ctx, inbox, is_full_turn};
use crate::error::Error;
use crate::postgres::CLAIM_LOCK;
use crate::rows::event::NewEvent;
use crate::rows::{dispatch, task};
use crate::tx::{Begin, Dialect, Tx, Verb};
use crate::value::params;

const SCOPE: &str = "claim";
/// How many turns of timers one claim advances if it finds nothing else.
const ADVANCES_MAX: usize = 20;

/// How many tasks whose prompts cannot be made one transaction puts aside.
const BROKEN_MAX: usize = 64;

/// The statements of a claim that touch waiting tasks on PostgreSQL, for tests
/// of their plans: the heads of one level, of all levels and of lanes, the lock, both at once, and the opening.
#[doc(hidden)]
pub const CLAIM_STATEMENTS: [&str; 6] = [
    heads::LEVEL_HEAD,
    heads::LEVEL_HEADS,
    heads::STRATUM_HEADS,
    take::LOCK_SKIP.postgres,
    take::TAKE_HEAD.postgres,
    open::OPEN,
];

/// One claimer's request.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Who wants work.
    pub caller: Caller,
    /// As gates see it.
    pub claimer: Claimer,
    /// How long the claimer may be silent.
    pub lease: Span,
    /// The id of the dispatch, if one is opened.
    pub dispatch: DispatchId,
    /// The caller's key for this request.
    pub key: Option<IdempotencyKey>,
}

/// A task in somebody's hands.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The task.
    pub task: Task,
    /// Its open dispatch, with the prompt as sent.
    pub dispatch: Dispatch,
}

impl Claimed {
    fn wanted(&self) -> Wanted {
        Wanted { task: self.task.clone(), door: self.dispatch.door, dispatch: Some(self.dispatch.id) }
    }
}

/// Claims for many requests at once; equal to claiming for each in turn.
#[derive(Clone)]
pub struct ClaimBatch {
    /// The desk, and when.
    pub ctx: Ctx,
    /// The requests, in the order they came.
    pub requests: Vec<ClaimRequest>,
    /// Makes prompts.
    pub render: Render,
}

impl std::fmt::Debug for ClaimBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaimBatch").field("requests", &self.requests).finish_non_exhaustive()
    }
}

/// An answer to one request; a key that was misused is that request's own error.
type Answer = Result<Result<Claimed, Nothing>, Error>;

impl Verb for ClaimBatch {
    type Output = Vec<Answer>;

    const BEGIN: Begin = Begin::ClaimLock;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Answer>, Error> {
        let mut section = section::read(tx, self.ctx.now).await?;
        let mut advanced = 0;
        if section.due {
            advanced = advance(tx, &self.ctx).await?;
            // What joined the line may be its head now.
            section = section::read(tx, self.ctx.now).await?;
        }
        let (mut answers, mut open) = self.answer_known(tx).await?;
        let mut broken = 0;
        loop {
            let taken = self.take(tx, &open, &mut section, &mut advanced).await?;
            let (claims, put_aside) = Box::pin(self.assign(tx, &open, taken, &section)).await?;
            for (index, claimed) in claims {
                // Whoever gets nothing is told of limits as they stand now.
                section.conditions.usage.take(&claimed.task.lane(), &self.requests[index].claimer);
                answers[index] = Some(Ok(Ok(claimed)));
            }
            broken += put_aside;
            open.retain(|index| answers[*index].is_none());
            if put_aside == 0 {
                break;
            }
            if broken >= BROKEN_MAX {
                // The lock is for others, too. Whoever got nothing asks again.
                for index in open {
                    answers[index] = Some(Err(Error::PutAside));
                }
                break;
            }
        }
        self.answer_rest(tx, answers, &section).await
    }
}

impl ClaimBatch {
    /// Answers requests whose keys are remembered; returns which others want a task.
    async fn answer_known<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Option<Answer>>, Vec<usize>), Error> {
        let mut answers: Vec<Option<Answer>> = Vec::new();
        let mut keys = HashSet::new();
        let mut open = Vec::new();
        for (index, request) in self.requests.iter().enumerate() {
            let known = self.known(tx, request).await?;
            let key = request.key.as_ref().map(|key| (request.caller.clone(), key.key.clone()));
            // A key that is repeated in this batch is answered as its first use.
            if known.is_none() && key.is_none_or(|key| keys.insert(key)) {
                open.push(index);
            }
            answers.push(known);
        }
        Ok((answers, open))
    }

    /// Answers a request whose key is remembered.
    async fn known<T: Tx>(&self, tx: &mut T, request: &ClaimRequest) -> Result<Option<Answer>, Error> {
        let Some(key) = &request.key else { return Ok(None) };
        let ctx = self.ctx_of(request);
        let Some(kept) = idempotency::find(tx, &ctx, SCOPE, key).await? else { return Ok(None) };
        if let Err(mismatch) = kept.check(key) {
            return Ok(Some(Err(mismatch)));
        }
        let Some(id) = kept.dispatch else { return Err(Error::unreadable("a claim without a dispatch")) };
        let before = dispatch::lock(tx, id).await?;
        // What was told to end is over as far as a claim is concerned.
        if before.phase != Phase::Open {
            return Ok(Some(Err(Error::KeyClosed)));
        }
        let lease_until = ctx.now.plus(before.lease);
        let dispatch = Dispatch { lease_until, heartbeat_at: ctx.now, ..before.clone() };
        dispatch::update(tx, &before, &dispatch).await?;
        // Deleted or not: its holder has it until the dispatch is closed.
        let task = task::get_even_deleted(tx, dispatch.task).await?;
        Ok(Some(Ok(Ok(Claimed { task, dispatch }))))
    }

    fn ctx_of(&self, request: &ClaimRequest) -> Ctx {
        Ctx { now: self.ctx.now, caller: request.caller.clone() }
    }

    /// Picks and locks tasks for these requests, after as many timers as it takes.
    async fn take<T: Tx>(
        &self,
        tx: &mut T,
        open: &[usize],
        section: &mut Section,
        advanced: &mut usize,
    ) -> Result<Taken, Error> {
        let claimers: Vec<_> = open.iter().map(|index| &self.requests[*index].claimer).collect();
        let mut taken = take::take(tx, section, &claimers).await?;
        for _ in 1..ADVANCES_MAX {
            // More may be due than one turn takes.
            if !is_full_turn(*advanced) || taken.unmet(&claimers, section).is_empty() {
                break;
            }
            *advanced = advance(tx, &self.ctx).await?;
            let usage = section.conditions.usage.clone();
            *section = section::read(tx, self.ctx.now).await?;
            section.conditions.usage = usage;
            taken = take::take(tx, section, &claimers).await?;
        }
        Ok(taken)
    }

    /// Opens dispatches: the best task that is open to it for each request. Tells also how
    /// many tasks were put aside, because their prompts cannot be made.
    async fn assign<T: Tx>(
        &self,
        tx: &mut T,
        open: &[usize],
        taken: Taken,
        section: &Section,
    ) -> Result<(Vec<(usize, Claimed)>, usize), Error> {
        let claimers: Vec<_> = open.iter().map(|index| &self.requests[*index].claimer).collect();
        let matched = taken.match_up(&claimers, section);
        let mut tasks: Vec<_> = taken.tasks.into_iter().map(|locked| Some(locked.task)).collect();
        let mut chosen = Vec::new();
        for (index, task) in open.iter().zip(matched) {
            if let Some(before) = task.and_then(|task| tasks[task].take()) {
                let claimed = self.open(&self.requests[*index], before.clone())?;
                chosen.push((*index, before, claimed));
            }
        }
        let wanted = chosen.iter().map(|(_, _, claimed)| claimed.wanted()).collect();
        let made = prompt::make(tx, &self.render, &section.epoch, wanted).await?;
        let (mut claims, mut put_aside) = (Vec::new(), 0);
        for ((index, before, mut claimed), made) in chosen.into_iter().zip(made) {
            match made {
                Ok(made) => {
                    claimed.dispatch.prompt = made.text;
                    claimed.dispatch.version = made.version;
                    claims.push((index, claimed));
                }
                Err(why) => {
                    Box::pin(put_back(tx, &self.ctx, before, why)).await?;
                    put_aside += 1;
                }
            }
        }
        self.write(tx, &mut claims).await?;
        Ok((claims, put_aside))
    }

    fn open(&self, request: &ClaimRequest, mut task: Task) -> Result<Claimed, Error> {
        let now = self.ctx.now;
        task.apply(TaskVerb::Claim, now)?;
        task.dispatch = Some(request.dispatch);
        task.updated_at = now;
        let dispatch = Dispatch {
            id: request.dispatch,
            task: task.number,
            attempt: task.attempt,
            fence: task.fence,
            holder: request.caller.to_string(),
            door: request.claimer.door,
            kind: task.kind,
            project: task.project,
            adapter: request.claimer.adapter.clone(),
            account: request.claimer.account.clone(),
            phase: Phase::Open,
            outcome: None,
            lease: request.lease,
            lease_until: now.plus(request.lease),
            started_at: now,
            heartbeat_at: now,
            progress: None,
            result: None,
            error: None,
            retryable: Retryable::Yes,
            cost_micros: None,
            tokens_in: None,
            tokens_out: None,
            prompt: None,
            version: None,
            summary: None,
        };
        Ok(Claimed { task, dispatch })
    }

    async fn write<T: Tx>(&self, tx: &mut T, claims: &mut [(usize, Claimed)]) -> Result<(), Error> {
        let told = claims.iter().map(|(index, claimed)| self.event(*index, claimed)).collect();
        open::write(tx, claims.iter().map(|(_, claimed)| claimed).collect(), told).await?;
        for (index, claimed) in claims {
            let request = &self.requests[*index];
            if let Some(key) = &request.key {
                let kept = (claimed.task.number, Some(claimed.dispatch.id));
                idempotency::take(tx, &self.ctx_of(request), SCOPE, key, kept).await?;
            }
            if claimed.task.prompt_broken {
                claimed.task.prompt_broken = false;
                inbox::close(tx, &self.ctx, claimed.task.number).await?;
            }
        }
        Ok(())
    }

    fn event(&self, index: usize, claimed: &Claimed) -> NewEvent {
        let ctx = self.ctx_of(&self.requests[index]);
        let dispatch = &claimed.dispatch;
        NewEvent::new(EventType::DispatchOpened, &ctx, dispatch.task).dispatch(dispatch.id).data(json!({
            "from": "queued",
            "to": claimed.task.state.as_str(),
            "attempt": dispatch.attempt,
            "fence": dispatch.fence.0,
            "holder": dispatch.holder,
            "door": dispatch.door.as_str(),
            "version": dispatch.version.map(|version| version.to_string()),
        }))
    }

    /// Answers what is left: repeated keys as their first use, the rest with why.
    async fn answer_rest<T: Tx>(
        &self,
        tx: &mut T,
        answers: Vec<Option<Answer>>,
        section: &Section,
    ) -> Result<Vec<Answer>, Error> {
        let mut rest = Vec::with_capacity(answers.len());
        let mut nothing = None;
        for (request, answer) in self.requests.iter().zip(answers) {
            let answer = match answer {
                None => self.known(tx, request).await?,
                known => known,
            };
            if answer.is_none() && nothing.is_none() {
                nothing = Some(nothing::read(tx).await?);
            }
            let why = nothing.as_ref().map_or(Nothing::Empty, |found| found.why(&request.claimer, section));
            rest.push(answer.unwrap_or(Ok(Err(why))));
        }
        Ok(rest)
    }
}

/// Claims one particular task, for whoever asked for it by name. The claim lock is taken.
pub(crate) async fn claim_exactly<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    before: Task,
    request: ClaimRequest,
    render: Render,
) -> Result<Claimed, Error> {
    let before = match before.place() {
        Place::Timer(due) if due <= ctx.now => join_line(tx, ctx, &before).await?,
        _ => before,
    };
    let section = section::read(tx, ctx.now).await?;
    if let Some(obstacle) = obstacle(&before, &request, &section) {
        let why = obstacle.detail();
        return Err(Error::NotReady { task: TaskRef::Number(before.number), why });
    }
    let task = TaskRef::Number(before.number);
    let batch = ClaimBatch { ctx: ctx.clone(), requests: vec![request], render };
    let mut claimed = batch.open(&batch.requests[0], before)?;
    let made =
        prompt::make(tx, &batch.render, &section.epoch, vec![claimed.wanted()]).await?.into_iter().next();
    let made = made.ok_or_else(|| Error::Broken("a task without a prompt".to_owned()))?;
    let made =
        made.map_err(|why| Error::NotReady { task, why: format!("its prompt cannot be made: {why}") })?;
    claimed.dispatch.prompt = made.text;
    claimed.dispatch.version = made.version;
    let mut claims = [(0, claimed)];
    batch.write(tx, &mut claims).await?;
    let [(_, claimed)] = claims;
    Ok(claimed)
}

/// Puts a task whose prompt cannot be made back for a while, and asks for a person.
async fn put_back<T: Tx>(tx: &mut T, ctx: &Ctx, before: Task, why: String) -> Result<(), Error> {
    let reason = Reason::PromptBroken;
    let settlement = Settlement {
        reason,
        retryable: Retryable::Yes,
        retry_after: None,
        counters: before.counters,
        max_retries: before.max_retries,
        on_account: false,
        now: ctx.now,
        draw: Draw::NONE,
    };
    let mut after = before.clone();
    after.not_before = route(&settlement).not_before.max(before.not_before);
    after.prompt_broken = true;
    let data = json!({ "reason": reason.as_str(), "state": after.state.as_str(), "error": why });
    after.last_error = Some(why);
    let event = NewEvent::new(EventType::TaskNeedsPerson, ctx, before.number).data(data);
    // What is known to be broken is told once.
    let events = if before.prompt_broken { Vec::new() } else { vec![event] };
    change(tx, ctx, &before, after, events).await.map(drop)
}

/// Returns what keeps a task from being handed to whoever asked for it by name.
fn obstacle(task: &Task, request: &ClaimRequest, section: &Section) -> Option<Obstacle> {
    match task.place() {
        Place::Line => {}
        Place::Timer(at) => return Some(Obstacle::NotBefore(at)),
        Place::Held => return Some(Obstacle::Held),
        Place::Nowhere => return Some(Obstacle::Ending(section.conditions.now)),
    }
    // A person knows what they can do; limits and pauses are for everybody.
    let audience =
        if request.caller.is_person() { Audience::Anyone } else { Audience::Claimer(&request.claimer) };
    audience.closed_gates(&task.lane(), &section.conditions).into_iter().next().map(Obstacle::Gate)
}

/// Takes the claim lock in the middle of a transaction.
pub(crate) async fn take_claim_lock<T: Tx>(tx: &mut T) -> Result<(), Error> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute("SELECT pg_advisory_xact_lock($1)".into(), params![CLAIM_LOCK]).await?;
    }
    Ok(())
}
