//! The desk's front: verbs go through here, so that their consequences follow.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Clock, Entropy, Span, Timestamp};
use extraboard_core::gate::{Claimer, Nothing};
use extraboard_core::id::{
    ArtifactId, DispatchId, GoalId, LabelId, Pos, ProjectId, RelationId, ReviewId, SignalId, TaskId,
    TemplateId, VersionId,
};
use extraboard_core::reason::Draw;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Advance, ClaimRequest, Claimed, Ctx, DueNext, IdempotencyKey, PromptsCount, Queue, QueuePage, Render,
    Rules, RulesEdit, RulesInit, Why, WhyAnswer,
};
use extraboard_store::{Store, Verb};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::claims::{Delivery, Patience, Reply, Waiting};
use crate::clock::DeskClock;
use crate::loops::Loops;

/// How many claims may wait before callers are turned away.
const CLAIMS_MAX: usize = 4096;

/// How often a claim looks again behind tasks whose prompts could not be made: each look
/// passes some dozens of them.
const LOOKS_MAX: usize = 1_000;

/// No write has failed since one succeeded.
const NEVER: i64 = i64::MIN;
/// How long a write that failed makes the desk unhealthy, unless another succeeds.
const FAILURE_REMEMBERED: Span = Span::from_secs(10);

/// What a desk is told when it starts.
#[derive(Clone)]
pub struct Settings {
    /// How long an agent that pulls may be silent.
    pub pull_lease: Span,
    /// How long events are kept.
    pub events_kept: Span,
    /// Makes prompts.
    pub render: Render,
    /// What this server was told to rank and hand out by: an empty database takes it,
    /// one that has rules keeps them.
    pub rules: RulesEdit,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("pull_lease", &self.pull_lease).finish_non_exhaustive()
    }
}

/// A desk at work; clones are handles on the same one.
#[derive(Clone, Debug)]
pub struct Desk {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) clock: DeskClock,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) settings: Settings,
    pub(crate) claims: mpsc::Sender<Waiting>,
    /// Rung after each write: there may be events to stamp.
    pub(crate) written: Notify,
    /// Rung when rules or goals changed: there may be tasks to move.
    pub(crate) nudged: Notify,
    /// How often whoever polls should look.
    pub(crate) poll_interval_secs: AtomicI64,
    /// When the database last did not take a write.
    pub(crate) failed_at: AtomicI64,
    /// The last position that can be read.
    pub(crate) pos: watch::Sender<Pos>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("store", &self.store).field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// A request for work.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Who wants work.
    pub caller: Caller,
    /// As gates see it.
    pub claimer: Claimer,
    /// The caller's key for this request.
    pub key: Option<IdempotencyKey>,
}

impl Desk {
    /// Makes a desk over an open store; its loops are to be started, or turned by hand.
    pub async fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: Settings,
    ) -> Result<(Self, Loops), Error> {
        let (claims, waiting) = mpsc::channel(CLAIMS_MAX);
        let clock = DeskClock::new(clock);
        clock.synchronise(&store).await?;
        let rules = first_rules(&store, &settings.rules).await?;
        let shared = Arc::new(Shared {
            store,
            clock,
            entropy,
            settings,
            claims,
            written: Notify::new(),
            nudged: Notify::new(),
            poll_interval_secs: AtomicI64::new(rules.poll_interval_secs),
            failed_at: AtomicI64::new(NEVER),
            pos: watch::channel(Pos(0)).0,
        });
        let desk = Self { shared };
        Ok((desk.clone(), Loops::new(desk, waiting)))
    }

    /// Returns the present, by the clock all replicas share.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Says who acts, and that it is now.
    pub fn ctx(&self, caller: Caller) -> Ctx {
        Ctx { now: self.now(), caller }
    }

    /// Makes a task's id.
    pub fn new_task_id(&self) -> TaskId {
        TaskId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a dispatch's id.
    pub fn new_dispatch_id(&self) -> DispatchId {
        DispatchId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a relation's id.
    pub fn new_relation_id(&self) -> RelationId {
        RelationId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a project's id.
    pub fn new_project_id(&self) -> ProjectId {
        ProjectId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a goal's id.
    pub fn new_goal_id(&self) -> GoalId {
        GoalId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes an artifact's id.
    pub fn new_artifact_id(&self) -> ArtifactId {
        ArtifactId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a label's id.
    pub fn new_label_id(&self) -> LabelId {
        LabelId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a signal's id.
    pub fn new_signal_id(&self) -> SignalId {
        SignalId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a template's id.
    pub fn new_template_id(&self) -> TemplateId {
        TemplateId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes the id of a version of a template.
    pub fn new_version_id(&self) -> VersionId {
        VersionId::new(self.now(), &*self.shared.entropy)
    }

    /// Makes a review's id.
    pub fn new_review_id(&self) -> ReviewId {
        ReviewId::new(self.now(), &*self.shared.entropy)
    }

    /// Draws jitter.
    pub fn draw(&self) -> Draw {
        let mut bytes = [0; 2];
        self.shared.entropy.fill(&mut bytes);
        Draw::from_random(u16::from_le_bytes(bytes))
    }

    /// Draws what a secret is made of.
    pub fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.shared.entropy.fill(&mut bytes);
        bytes
    }

    /// Returns the database's name for people.
    pub fn database(&self) -> &str {
        self.shared.store.name()
    }

    /// Returns what makes prompts.
    pub fn render(&self) -> Render {
        self.shared.settings.render.clone()
    }

    /// Returns a claim request as the claim section makes them.
    pub fn claim_request(&self, claim: Claim) -> ClaimRequest {
        ClaimRequest {
            caller: claim.caller,
            claimer: claim.claimer,
            lease: self.shared.settings.pull_lease,
            dispatch: self.new_dispatch_id(),
            key: claim.key,
        }
    }

    /// Runs a verb that changes something; its events get their positions soon.
    pub async fn write<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        let output = self.shared.store.write(verb).await;
        match &output {
            Ok(_) => {
                self.shared.failed_at.store(NEVER, Ordering::Relaxed);
                self.shared.written.notify_one();
            }
            Err(Error::Unavailable(_)) => {
                self.shared.failed_at.store(self.now().as_micros(), Ordering::Relaxed);
            }
            Err(_) => {}
        }
        output
    }

    /// Runs a verb that changes nothing.
    pub async fn read<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        self.shared.store.read(verb).await
    }

    /// Fails unless the database takes writes, and took those of the last seconds:
    /// on a full disk a small write may pass where real ones fail.
    pub async fn check(&self) -> Result<(), Error> {
        self.shared.store.check().await?;
        let failed_at = Timestamp::from_micros(self.shared.failed_at.load(Ordering::Relaxed));
        if self.now().since(failed_at) < FAILURE_REMEMBERED {
            return Err(Error::Unavailable("a write failed a moment ago".into()));
        }
        Ok(())
    }

    /// Hands out the best task, together with whoever else waits.
    pub async fn claim(&self, claim: Claim) -> Result<Result<Claimed, Nothing>, Error> {
        match self.deliver(claim).await? {
            Ok(delivery) => delivery.take().map(Ok).ok_or_else(stopping),
            Err(nothing) => Ok(Err(nothing)),
        }
    }

    /// Hands out the best task; it is given back if its delivery is dropped.
    pub async fn deliver(&self, claim: Claim) -> Result<Result<Delivery, Nothing>, Error> {
        for _ in 0..LOOKS_MAX {
            match self.ask(claim.clone(), Patience::None)?.await.map_err(|_| stopping())? {
                Err(Error::PutAside) => {}
                answer => return answer,
            }
        }
        Ok(Err(Nothing::NotBefore))
    }

    /// Hands out the best task as soon as there is one, or says why there is none after
    /// `enough` resolves.
    pub async fn deliver_until(
        &self,
        claim: Claim,
        enough: impl Future<Output = ()> + Send,
    ) -> Result<Result<Delivery, Nothing>, Error> {
        let mut enough = pin!(enough);
        loop {
            let mut answer = self.ask(claim.clone(), Patience::Waits)?;
            tokio::select! {
                answer = &mut answer => match answer.map_err(|_| stopping())? {
                    Err(Error::PutAside) => continue,
                    answer => return answer,
                },
                () = &mut enough => {}
            }
            // It may have been answered at this very moment.
            answer.close();
            return match answer.try_recv() {
                Ok(Err(Error::PutAside)) | Err(_) => self.deliver(claim).await,
                Ok(answer) => answer,
            };
        }
    }

    fn ask(&self, claim: Claim, patience: Patience) -> Result<oneshot::Receiver<Reply>, Error> {
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { request: self.claim_request(claim), patience, reply };
        let sent = self.shared.claims.try_send(waiting);
        sent.map_err(|_| Error::Unavailable("too many claims wait".into()))?;
        Ok(answer)
    }

    /// Counts what became of prompts, as far as the log tells by now.
    pub async fn count_prompts(&self) -> Result<(), Error> {
        while self.shared.store.write(PromptsCount).await? {}
        Ok(())
    }

    /// Previews the line, after whatever is due has joined it.
    pub async fn queue(&self, queue: Queue) -> Result<QueuePage, Error> {
        self.advance().await?;
        self.read(queue).await
    }

    /// Asks why a task is where it is, after whatever is due has joined the line.
    pub async fn why(&self, why: Why) -> Result<WhyAnswer, Error> {
        self.advance().await?;
        self.read(why).await
    }

    async fn advance(&self) -> Result<(), Error> {
        let now = self.now();
        if self.read(DueNext).await?.timer.is_some_and(|due| due <= now) {
            self.write(Advance { ctx: self.ctx(Caller::Desk) }).await?;
        }
        Ok(())
    }

    /// Lets the desk look at once whether tasks have to be moved or have become ready:
    /// rules or goals changed, or a task waits for a file.
    pub fn nudge(&self) {
        self.shared.nudged.notify_one();
    }

    /// Returns how often whoever polls should look, in seconds.
    pub fn poll_interval_secs(&self) -> i64 {
        self.shared.poll_interval_secs.load(Ordering::Relaxed)
    }

    /// Follows the last position that can be read.
    pub fn positions(&self) -> watch::Receiver<Pos> {
        self.shared.pos.subscribe()
    }
}

fn stopping() -> Error {
    Error::Unavailable("the desk is stopping".into())
}

/// Gives an empty database its rules, and says if those of this server are others.
async fn first_rules(store: &Store, edit: &RulesEdit) -> Result<Rules, Error> {
    let rules = store.write(RulesInit { edit: edit.clone() }).await?;
    if !edit.is_in_force(&rules) {
        tracing::warn!(
            rules.version = rules.version,
            "the configured profile and limits are not those of the database, which count: \
             `xb profile apply` changes them"
        );
    }
    Ok(rules)
}
