//! Claim: hand out the best tasks to whoever waits, in one transaction.
//!
//! 1. Begin with the claim lock, as a statement of its own, so that every later
//!    snapshot is taken under it. (SQLite has one writer.)
//! 2. Read the rules and the state of every gate; advance timers that are due.
//! 3. Answer requests whose idempotency key is known.
//! 4. Pick candidates, then lock them without waiting. What is being written at
//!    that moment is passed over; if nothing else is left, the claim waits for
//!    it: a task in line is never answered by "nothing".
//! 5. Hand the locked tasks out by rank to the requests by arrival, delete them
//!    from the line by task, and open their dispatches. Counts that do not
//!    match abort it all.

pub(crate) mod heads;
pub(crate) mod lanes;
pub(crate) mod nothing;
mod open;
pub(crate) mod pick;
pub(crate) mod section;

use std::collections::HashSet;
use std::sync::Arc;

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::event::EventType;
use extraboard_core::gate::{Audience, Claimer, Nothing};
use extraboard_core::id::{DispatchId, TaskNumber, TaskRef};
use extraboard_core::line::{Lane, Order, Rank};
use extraboard_core::report::Retryable;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::{Place, Task};
use extraboard_core::why::Obstacle;
use serde_json::json;

use self::section::{Levels, Section};
use super::advance::{advance, join_line};
use super::idempotency::{self, IdempotencyKey};
use super::{Ctx, is_full_turn};
use crate::error::Error;
use crate::postgres::CLAIM_LOCK;
use crate::rows::event::NewEvent;
use crate::rows::task::task_columns;
use crate::rows::{dispatch, task};
use crate::tx::{Begin, Dialect, Sql, Tx, Verb};
use crate::value::{Row, params};

const SCOPE: &str = "claim";
/// How often a claim looks again when what it picked was being written.
const LOOKS_MAX: usize = 5;
/// How many tasks more than needed a claim picks when it looks again.
const SPARE: usize = 64;
/// How many turns of timers one claim advances if it finds nothing else.
const ADVANCES_MAX: usize = 20;

/// Makes the prompt of a task; pure.
pub type Render = Arc<dyn Fn(&Task) -> String + Send + Sync>;

/// The statements of a claim that touch waiting tasks on PostgreSQL, for tests
/// of their plans: the heads of one level, of all levels and of lanes, the lock, both at once, and the opening.
#[doc(hidden)]
pub const CLAIM_STATEMENTS: [&str; 6] = [
    heads::LEVEL_HEAD,
    heads::LEVEL_HEADS,
    heads::STRATUM_HEADS,
    LOCK_SKIP.postgres,
    TAKE_HEAD.postgres,
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
        let (mut answers, open) = self.answer_known(tx).await?;
        let claimers: Vec<_> = open.iter().map(|index| &self.requests[*index].claimer).collect();
        let mut taken = take(tx, &section, &claimers).await?;
        for _ in 1..ADVANCES_MAX {
            // More may be due than one turn takes.
            if !is_full_turn(advanced) || taken.unmet(&claimers, &section).is_empty() {
                break;
            }
            advanced = advance(tx, &self.ctx).await?;
            section = section::read(tx, self.ctx.now).await?;
            taken = take(tx, &section, &claimers).await?;
        }
        let claims = self.assign(tx, &open, taken, &section).await?;
        for (index, claimed) in claims {
            // Whoever gets nothing is told of limits as they stand now.
            section.conditions.usage.take(&claimed.task.lane(), &self.requests[index].claimer);
            answers[index] = Some(Ok(Ok(claimed)));
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

    /// Opens dispatches: the best task that is open to it for each request.
    async fn assign<T: Tx>(
        &self,
        tx: &mut T,
        open: &[usize],
        taken: Taken,
        section: &Section,
    ) -> Result<Vec<(usize, Claimed)>, Error> {
        let claimers: Vec<_> = open.iter().map(|index| &self.requests[*index].claimer).collect();
        let matched = taken.match_up(&claimers, section);
        let mut tasks: Vec<_> = taken.tasks.into_iter().map(|locked| Some(locked.task)).collect();
        let mut claims = Vec::new();
        for (index, task) in open.iter().zip(matched) {
            if let Some(task) = task.and_then(|task| tasks[task].take()) {
                claims.push((*index, self.open(&self.requests[*index], task)?));
            }
        }
        self.write(tx, &claims).await?;
        Ok(claims)
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
            prompt: Some((self.render)(&task)),
        };
        Ok(Claimed { task, dispatch })
    }

    async fn write<T: Tx>(&self, tx: &mut T, claims: &[(usize, Claimed)]) -> Result<(), Error> {
        let told = claims.iter().map(|(index, claimed)| self.event(*index, claimed)).collect();
        open::write(tx, claims.iter().map(|(_, claimed)| claimed).collect(), told).await?;
        for (index, claimed) in claims {
            let request = &self.requests[*index];
            if let Some(key) = &request.key {
                let kept = (claimed.task.number, Some(claimed.dispatch.id));
                idempotency::take(tx, &self.ctx_of(request), SCOPE, key, kept).await?;
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
    let batch = ClaimBatch { ctx: ctx.clone(), requests: vec![request], render };
    let claimed = batch.open(&batch.requests[0], before)?;
    batch.write(tx, &[(0, claimed.clone())]).await?;
    Ok(claimed)
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

macro_rules! lock_candidates {
    () => {
        concat!(
            "SELECT ",
            task_columns!(),
            ", l.level, l.arrival, l.queued_at FROM line l JOIN task t ON t.number = l.task WHERE t.state = 'queued' AND l.task "
        )
    };
}

/// Locks tasks alone: a place in line that stayed locked when its task was passed
/// over would stand in the way of whoever writes that task. The place cannot change
/// while the task is locked, and where a task belongs is read from the task.
///
/// Both tables are asked for the numbers: a plan made while they were empty joins by
/// walking through one of them otherwise, and is kept when they are not.
const LOCK_SKIP: Sql = Sql {
    postgres: concat!(lock_candidates!(), "= ANY($1) AND t.number = ANY($1) FOR UPDATE OF t SKIP LOCKED"),
    sqlite: concat!(lock_candidates!(), "IN (SELECT value FROM json_each($1))"),
};
const LOCK_WAIT: Sql = Sql {
    postgres: concat!(
        lock_candidates!(),
        "= ANY($1) AND t.number = ANY($1) ORDER BY t.number FOR UPDATE OF t"
    ),
    sqlite: LOCK_SKIP.sqlite,
};

macro_rules! take_head {
    ($tasks:literal) => {
        concat!(
            "SELECT ",
            task_columns!(),
            ", l.level, l.arrival, l.queued_at FROM line l ",
            $tasks,
            "WHERE l.level = 0 AND l.arrival >= $1 ORDER BY l.arrival, l.queued_at, l.task LIMIT $2"
        )
    };
}

/// Takes the head of a line that has one order, and locks it, in one go. On PostgreSQL
/// each task is looked up by itself, which no plan can turn into a walk through all tasks.
const TAKE_HEAD: Sql = Sql {
    postgres: take_head!(
        "CROSS JOIN LATERAL ( \
           SELECT * FROM task WHERE number = l.task AND state = 'queued' FOR UPDATE SKIP LOCKED) AS t "
    ),
    sqlite: take_head!("JOIN task t ON t.number = l.task AND t.state = 'queued' "),
};

/// A task that is locked, and its place in the line.
struct Locked {
    task: Task,
    order: Order,
    /// Its lane's index in [`Taken::lanes`].
    lane: usize,
}

/// The tasks a claim has locked, by rank.
#[derive(Default)]
struct Taken {
    tasks: Vec<Locked>,
    lanes: Vec<Lane>,
}

impl Taken {
    /// Adds tasks that are locked and still stand in line.
    fn add_all(&mut self, locked: Vec<(Task, Order)>) {
        for (task, order) in locked {
            if task.place() == Place::Line {
                self.add(task, order);
            }
        }
        self.tasks.sort_by_key(|locked| locked.order);
    }

    fn add(&mut self, task: Task, order: Order) {
        let own = task.lane();
        let lane = self.lanes.iter().position(|lane| *lane == own).unwrap_or_else(|| {
            self.lanes.push(own);
            self.lanes.len() - 1
        });
        self.tasks.push(Locked { task, order, lane });
    }

    /// Gives each claimer the best task that is open to it.
    fn match_up(&self, claimers: &[&Claimer], section: &Section) -> Vec<Option<usize>> {
        let items: Vec<_> = self.tasks.iter().map(|locked| &self.lanes[locked.lane]).collect();
        pick::match_up(claimers, &items, &section.conditions)
    }

    /// Returns the claimers for which nothing is locked yet.
    fn unmet<'a>(&self, claimers: &[&'a Claimer], section: &Section) -> Vec<&'a Claimer> {
        let matched = self.match_up(claimers, section);
        claimers.iter().zip(matched).filter(|(_, task)| task.is_none()).map(|(claimer, _)| *claimer).collect()
    }
}

/// Picks and locks a task for each of these claimers, as far as there are any.
/// What was being written is waited for at last.
async fn take<T: Tx>(tx: &mut T, section: &Section, claimers: &[&Claimer]) -> Result<Taken, Error> {
    let mut taken = Taken::default();
    taken.add_all(take_head(tx, section, claimers.len()).await?);
    let mut busy: HashSet<TaskNumber> = HashSet::new();
    for look in 1..=LOOKS_MAX {
        if taken.unmet(claimers, section).is_empty() {
            break;
        }
        let locked = taken.tasks.iter().map(|locked| locked.task.number);
        let passed: HashSet<_> = locked.chain(busy.iter().copied()).collect();
        // A first look takes what it needs. If that was being written, the next
        // one reaches further: other writers may be at the head, too.
        let spare = if look == 1 { 0 } else { SPARE };
        let rest = taken.unmet(claimers, section);
        let mut used = section.clone();
        taken.count(claimers, &mut used);
        let mut picked =
            if look < LOOKS_MAX { pick::pick(tx, &used, &rest, spare, &passed).await? } else { Vec::new() };
        let statement = if picked.is_empty() { LOCK_WAIT } else { LOCK_SKIP };
        if picked.is_empty() {
            picked.extend(busy.drain());
        }
        if picked.is_empty() {
            break;
        }
        let got = lock(tx, statement, &picked, section).await?;
        let got_numbers: HashSet<_> = got.iter().map(|(task, _)| task.number).collect();
        busy.extend(picked.into_iter().filter(|number| !got_numbers.contains(number)));
        taken.add_all(got);
    }
    Ok(taken)
}

/// Takes as many tasks from the head of the line as there are claimers, whatever their
/// lanes: mostly that is all it takes, and gates are looked at afterwards.
async fn take_head<T: Tx>(
    tx: &mut T,
    section: &Section,
    claimers: usize,
) -> Result<Vec<(Task, Order)>, Error> {
    let limit = i64::try_from(claimers).unwrap_or(i64::MAX);
    match (section.levels, section.head) {
        (Levels::One, Some(head)) => {
            let rows = tx.query(TAKE_HEAD, params![head, limit]).await?;
            rows.into_iter().map(|row| locked(row, section)).collect()
        }
        (Levels::One, None) => Ok(Vec::new()),
        (Levels::Many, _) => {
            let walk = heads::walk(tx, section, claimers).await?;
            let picked: Vec<_> = walk.candidates.iter().take(claimers).map(|head| head.rank.number).collect();
            lock(tx, LOCK_SKIP, &picked, section).await
        }
    }
}

impl Taken {
    /// Counts what is given to claimers already, so that limits hold for the rest.
    fn count(&self, claimers: &[&Claimer], section: &mut Section) {
        let matched = self.match_up(claimers, section);
        for (claimer, task) in claimers.iter().zip(matched) {
            if let Some(index) = task {
                section.conditions.usage.take(&self.lanes[self.tasks[index].lane], claimer);
            }
        }
    }
}

async fn lock<T: Tx>(
    tx: &mut T,
    statement: Sql,
    picked: &[TaskNumber],
    section: &Section,
) -> Result<Vec<(Task, Order)>, Error> {
    let numbers: Vec<_> = picked.iter().map(|number| number.0).collect();
    let rows = tx.query(statement, params![numbers]).await?;
    rows.into_iter().map(|row| locked(row, section)).collect()
}

fn locked(mut row: Row, section: &Section) -> Result<(Task, Order), Error> {
    let task = task::from_row(&mut row)?;
    let (level, arrival) = (row.int()?, row.int()?);
    let queued_at = Timestamp::from_micros(row.int()?);
    let rank = Rank { level, arrival, queued_at, number: task.number };
    Ok((task, rank.order(&section.profile, section.conditions.now)))
}
