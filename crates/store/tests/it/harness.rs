//! A store with time, ids and draws in the test's hands, on either database.
//!
//! Nothing here waits or reads a clock. Every property ends with an audit: line and
//! timers equal to what the tasks say, whatever the test did.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Entropy, Span, Timestamp};
use extraboard_core::dispatch::{Dispatch, PULL_LEASE};
use extraboard_core::doors::Door;
use extraboard_core::gate::{Claimer, Limits, Nothing};
use extraboard_core::graph::RelationType;
use extraboard_core::id::{
    ArtifactId, DispatchId, GoalId, LabelId, Pos, ProjectId, RelationId, ReviewId, SignalId, TaskId,
    TaskNumber, TaskRef, TemplateId, VersionId,
};
use extraboard_core::label::Label;
use extraboard_core::profile::Profile;
use extraboard_core::project::Project;
use extraboard_core::reason::{Draw, Reason};
use extraboard_core::report::{Completion, FailureClass, Report, Retryable};
use extraboard_core::state::Verb;
use extraboard_core::status::Status;
use extraboard_core::task::Task;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Advance, ArtifactProvide, ArtifactProvided, ClaimBatch, ClaimRequest, Claimed, Ctx, DispatchHeartbeat,
    DispatchReport, DispatchTerminate, Doctor, Event, EventsAfter, GoalCreate, GoalEdit, IdempotencyKey,
    LabelCreate, LeaseSweep, ProjectCreate, ProjectEdit, ProjectPatch, ProjectRef, ProjectView, Queue,
    QueueEntry, QueueScope, RelationCreate, RelationCreated, Render, Reported, Rerank, Reranked, Rules,
    RulesChange, RulesEdit, Sequence, TaskCreate, TaskDelete, TaskDraft, TaskEdit, TaskGet, TaskMove,
    TaskPatch, TaskPatched, Terminated, Usage, Why, WhyAnswer,
};
use extraboard_store::{Opening, Store};

use crate::database::Database;
use crate::prompting::scribe;

/// A moment to start from; nothing depends on which.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// An answer to one claim.
pub(crate) type Answer = Result<Result<Claimed, Nothing>, Error>;

/// Random bytes that are the same on every run.
#[derive(Debug, Default)]
pub(crate) struct Counted(AtomicU64);

impl Entropy for Counted {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let start = bytes.len() - count.len();
        bytes[start..].copy_from_slice(&count);
    }
}

/// One desk over a fresh database.
pub(crate) struct TestStore {
    pub(crate) store: Arc<Store>,
    pub(crate) database: Database,
    /// Makes prompts by templates, for tests that ask for them.
    pub(crate) scribe: Render,
    clock: AtomicI64,
    entropy: Counted,
}

impl TestStore {
    pub(crate) async fn sqlite() -> Self {
        Self::over(Database::sqlite()).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::over(Database::postgres()).await
    }

    pub(crate) async fn over(database: Database) -> Self {
        let store = Arc::new(Store::open(database.url(), &opening("the test")).await.unwrap());
        let clock = AtomicI64::new(START.as_micros());
        Self { store, database, scribe: scribe(), clock, entropy: Counted::default() }
    }

    /// Returns another desk, over a fresh database of the same sort.
    pub(crate) async fn another(&self) -> Self {
        match self.database {
            Database::Sqlite { .. } => Self::sqlite().await,
            Database::Postgres { .. } => Self::postgres().await,
        }
    }

    /// Returns the stores of two servers: two where the database allows it.
    pub(crate) async fn replicas(&self) -> [Arc<Store>; 2] {
        let second = match self.database {
            Database::Sqlite { .. } => Arc::clone(&self.store),
            Database::Postgres { .. } => {
                Arc::new(Store::open(self.database.url(), &opening("a replica")).await.unwrap())
            }
        };
        [Arc::clone(&self.store), second]
    }

    /// Fails if line, timers or dispatches are not what the tasks say.
    pub(crate) async fn audit(&self) {
        let checked = self.store.read(Doctor { after: TaskNumber(0), limit: i64::MAX }).await.unwrap();
        let differences: Vec<_> = checked.differences.iter().map(ToString::to_string).collect();
        assert_eq!(differences, Vec::<String>::new());
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::Relaxed))
    }

    /// Moves the clock, forward or back.
    pub(crate) fn pass(&self, span: Span) {
        self.clock.fetch_add(span.as_micros(), Ordering::Relaxed);
    }

    pub(crate) fn ctx(&self, caller: Caller) -> Ctx {
        Ctx { now: self.now(), caller }
    }

    pub(crate) fn desk(&self) -> Ctx {
        self.ctx(Caller::Desk)
    }

    pub(crate) fn task_id(&self) -> TaskId {
        TaskId::new(self.now(), &self.entropy)
    }

    pub(crate) fn artifact_id(&self) -> ArtifactId {
        ArtifactId::new(self.now(), &self.entropy)
    }

    pub(crate) fn dispatch_id(&self) -> DispatchId {
        DispatchId::new(self.now(), &self.entropy)
    }

    pub(crate) fn label_id(&self) -> LabelId {
        LabelId::new(self.now(), &self.entropy)
    }

    pub(crate) fn signal_id(&self) -> SignalId {
        SignalId::new(self.now(), &self.entropy)
    }

    pub(crate) fn template_id(&self) -> TemplateId {
        TemplateId::new(self.now(), &self.entropy)
    }

    pub(crate) fn version_id(&self) -> VersionId {
        VersionId::new(self.now(), &self.entropy)
    }

    pub(crate) fn review_id(&self) -> ReviewId {
        ReviewId::new(self.now(), &self.entropy)
    }
}

/// Tasks.
impl TestStore {
    /// Creates a queued task with nothing but a title.
    pub(crate) async fn add(&self, title: &str) -> Task {
        self.create(TaskDraft::new(title)).await
    }

    pub(crate) async fn create(&self, draft: TaskDraft) -> Task {
        Box::pin(self.store.write(self.creation(draft))).await.unwrap()
    }

    pub(crate) fn creation(&self, draft: TaskDraft) -> TaskCreate {
        TaskCreate { ctx: self.ctx(person()), id: self.task_id(), draft, key: None }
    }

    pub(crate) async fn project(&self, name: &str) -> Project {
        let id = ProjectId::new(self.now(), &self.entropy);
        let (name, edit) = (name.to_owned(), ProjectEdit::default());
        let create = ProjectCreate { ctx: self.ctx(person()), id, name, edit };
        self.store.write(create).await.unwrap().project
    }

    pub(crate) async fn label(&self, name: &str, color: &str) -> Label {
        let (id, name, color) = (self.label_id(), name.to_owned(), color.to_owned());
        self.store.write(LabelCreate { ctx: self.ctx(person()), id, name, color }).await.unwrap()
    }

    pub(crate) async fn get(&self, number: TaskNumber) -> Task {
        self.store.read(TaskGet { task: TaskRef::Number(number) }).await.unwrap().task
    }

    pub(crate) async fn try_move(
        &self,
        caller: Caller,
        number: TaskNumber,
        verb: Verb,
    ) -> Result<Task, Error> {
        let moving = TaskMove { ctx: self.ctx(caller), task: TaskRef::Number(number), verb };
        Box::pin(self.store.write(moving)).await.map(|view| view.task)
    }

    /// Moves a task as a person.
    pub(crate) async fn apply(&self, number: TaskNumber, verb: Verb) -> Task {
        self.try_move(person(), number, verb).await.unwrap()
    }

    pub(crate) async fn delete(&self, number: TaskNumber) {
        let delete = TaskDelete { ctx: self.ctx(person()), task: TaskRef::Number(number) };
        Box::pin(self.store.write(delete)).await.unwrap();
    }

    pub(crate) fn patching(
        &self,
        caller: Caller,
        number: TaskNumber,
        edit: TaskEdit,
        status: Option<Status>,
    ) -> TaskPatch {
        TaskPatch {
            task: TaskRef::Number(number),
            claim: ClaimRequest { caller, ..self.request("") },
            now: self.now(),
            edit,
            status,
            draw: Draw::NONE,
            render: title_as_prompt(),
        }
    }

    pub(crate) async fn ask(
        &self,
        caller: Caller,
        number: TaskNumber,
        status: Status,
    ) -> Result<TaskPatched, Error> {
        let patch = self.patching(caller, number, TaskEdit::default(), Some(status));
        Box::pin(self.store.write(patch)).await
    }

    /// Edits a task as a person.
    pub(crate) async fn edit(&self, number: TaskNumber, edit: TaskEdit) -> Task {
        Box::pin(self.store.write(self.patching(person(), number, edit, None))).await.unwrap().task
    }

    /// Lists the titles a puller would be handed, in order.
    pub(crate) async fn queue_titles(&self) -> Vec<String> {
        let page = self.store.read(self.queueing(0, 1000)).await.unwrap();
        page.entries.into_iter().map(|entry| entry.task.title).collect()
    }

    /// Asks for what a puller would be handed.
    pub(crate) fn queueing(&self, offset: i64, limit: i64) -> Queue {
        let claimer = Claimer::anyone("agent:a", Door::Pull);
        Queue { claimer, scope: QueueScope::Open, offset, limit, now: self.now() }
    }

    pub(crate) async fn advance(&self) -> usize {
        self.store.write(Advance { ctx: self.desk() }).await.unwrap()
    }
}

/// Claims and dispatches.
impl TestStore {
    /// Makes a puller's request.
    pub(crate) fn request(&self, name: &str) -> ClaimRequest {
        ClaimRequest {
            caller: agent(name),
            claimer: Claimer::anyone(agent(name).to_string(), Door::Pull),
            lease: PULL_LEASE,
            dispatch: self.dispatch_id(),
            key: None,
        }
    }

    pub(crate) fn request_at(&self, door: Door) -> ClaimRequest {
        ClaimRequest { claimer: Claimer::anyone("agent:a", door), ..self.request("a") }
    }

    pub(crate) fn keyed(&self, name: &str, key: &str) -> ClaimRequest {
        ClaimRequest { key: Some(idempotency_key(key)), ..self.request(name) }
    }

    pub(crate) fn batch(&self, requests: Vec<ClaimRequest>) -> ClaimBatch {
        ClaimBatch { ctx: self.desk(), requests, render: title_as_prompt() }
    }

    pub(crate) async fn claim_all(&self, requests: Vec<ClaimRequest>) -> Vec<Answer> {
        Box::pin(self.store.write(self.batch(requests))).await.unwrap()
    }

    pub(crate) async fn claim_with(&self, request: ClaimRequest) -> Answer {
        self.claim_all(vec![request]).await.pop().unwrap()
    }

    pub(crate) async fn try_claim(&self) -> Result<Claimed, Nothing> {
        self.claim_with(self.request("a")).await.unwrap()
    }

    /// Claims the head of the line; there must be one.
    pub(crate) async fn claim(&self) -> Claimed {
        self.try_claim().await.unwrap()
    }

    pub(crate) fn saying(&self, claimed: &Claimed, report: Report) -> DispatchReport {
        DispatchReport {
            ctx: self.ctx(holder(&claimed.dispatch)),
            dispatch: claimed.dispatch.id,
            report,
            usage: Usage::default(),
            draw: Draw::NONE,
        }
    }

    pub(crate) async fn report(&self, claimed: &Claimed, report: Report) -> Reported {
        Box::pin(self.store.write(self.saying(claimed, report))).await.unwrap()
    }

    pub(crate) async fn complete(&self, claimed: &Claimed) -> Reported {
        self.report(claimed, completed("{}")).await
    }

    pub(crate) async fn fail(&self, claimed: &Claimed, class: FailureClass) -> Reported {
        self.report(claimed, failed(class)).await
    }

    pub(crate) async fn heartbeat(&self, dispatch: &Dispatch) -> Reported {
        let ctx = self.ctx(holder(dispatch));
        self.store
            .write(DispatchHeartbeat { ctx, dispatch: dispatch.id, usage: Usage::default() })
            .await
            .unwrap()
    }

    pub(crate) async fn terminate(&self, dispatch: &Dispatch, reason: Reason) -> Terminated {
        self.store.write(DispatchTerminate { ctx: self.desk(), dispatch: dispatch.id, reason }).await.unwrap()
    }

    /// Sweeps as a desk that has always been watching.
    pub(crate) async fn sweep(&self) -> usize {
        self.sweep_since(Timestamp::from_micros(0)).await
    }

    pub(crate) async fn sweep_since(&self, watching_since: Timestamp) -> usize {
        let sweep = LeaseSweep { ctx: self.desk(), watching_since, draw: Draw::NONE };
        self.store.write(sweep).await.unwrap()
    }

    /// Lets a dispatch lapse: its lease ends and is swept.
    pub(crate) async fn lapse(&self) {
        self.pass(PULL_LEASE);
        assert_eq!(self.sweep().await, 1);
    }
}

/// Events.
impl TestStore {
    /// Stamps whatever has committed.
    pub(crate) async fn sequence(&self) {
        while self.store.write(Sequence).await.unwrap().is_full() {}
    }

    pub(crate) async fn events_after(&self, pos: Pos) -> Vec<Event> {
        self.store.read(EventsAfter { pos, limit: 100_000, task: None }).await.unwrap().events
    }

    /// Returns the whole log.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.sequence().await;
        self.events_after(Pos(0)).await
    }
}

pub(crate) fn opening(note: &str) -> Opening {
    Opening { now: START, note: note.to_owned() }
}

pub(crate) fn person() -> Caller {
    Caller::Person("ann".to_owned())
}

pub(crate) fn agent(name: &str) -> Caller {
    Caller::Agent(name.to_owned())
}

/// Whoever presents the token of a dispatch.
pub(crate) fn holder(dispatch: &Dispatch) -> Caller {
    Caller::Holder { dispatch: dispatch.id, fence: dispatch.fence }
}

pub(crate) fn idempotency_key(key: &str) -> IdempotencyKey {
    IdempotencyKey { key: key.to_owned(), fingerprint: "same".to_owned() }
}

pub(crate) fn title_as_prompt() -> Render {
    Render::plain(|task| task.title.clone())
}

pub(crate) fn completed(result: &str) -> Report {
    Report::Complete(Completion { result: Some(result.to_owned()), ..Completion::default() })
}

pub(crate) fn failed(class: FailureClass) -> Report {
    Report::Fail {
        class,
        retryable: Retryable::Yes,
        retry_after: None,
        error: Some("boom".to_owned()),
        provider: None,
    }
}

pub(crate) fn asked() -> Report {
    Report::Ask { question: Some("which one?".to_owned()) }
}

/// Rules, projects, goals, relations.
impl TestStore {
    pub(crate) async fn rules(&self, edit: RulesEdit) -> Rules {
        let ctx = self.ctx(person());
        self.store.write(RulesChange { ctx, edit, if_version: None }).await.unwrap()
    }

    /// Changes the profile and moves all waiting tasks accordingly.
    pub(crate) async fn profile(&self, profile: Profile) {
        self.rules(RulesEdit { profile: Some(profile), ..RulesEdit::default() }).await;
        self.rerank().await;
    }

    pub(crate) async fn limits(&self, limits: Limits) {
        self.rules(RulesEdit { limits: Some(limits), ..RulesEdit::default() }).await;
    }

    /// Moves tasks until all stand by the rules.
    pub(crate) async fn rerank(&self) {
        while self.store.write(Rerank { ctx: self.desk() }).await.unwrap() == Reranked::More {}
    }

    pub(crate) async fn edit_project(&self, project: &Project, edit: ProjectEdit) -> ProjectView {
        let (ctx, project) = (self.ctx(person()), ProjectRef::Id(project.id));
        self.store.write(ProjectPatch { ctx, project, edit }).await.unwrap()
    }

    /// Adds an active goal to a project.
    pub(crate) async fn goal(&self, project: &Project) -> extraboard_core::project::Goal {
        let id = GoalId::new(self.now(), &self.entropy);
        let edit = GoalEdit { project: Some(Some(ProjectRef::Id(project.id))), ..GoalEdit::default() };
        let create = GoalCreate { ctx: self.ctx(person()), id, title: "a goal".to_owned(), edit };
        self.store.write(create).await.unwrap()
    }

    pub(crate) fn relating(
        &self,
        task: TaskNumber,
        relation_type: RelationType,
        other: TaskNumber,
    ) -> RelationCreate {
        RelationCreate {
            ctx: self.ctx(person()),
            id: RelationId::new(self.now(), &self.entropy),
            task: TaskRef::Number(task),
            relation_type,
            other: TaskRef::Number(other),
        }
    }

    /// Makes a task wait for a blocker.
    pub(crate) async fn block(
        &self,
        blocker: TaskNumber,
        dependent: TaskNumber,
    ) -> Result<RelationCreated, Error> {
        self.store.write(self.relating(dependent, RelationType::BlockedBy, blocker)).await
    }

    pub(crate) async fn why(&self, task: TaskNumber, claimer: Option<Claimer>) -> WhyAnswer {
        self.store.read(Why { task: TaskRef::Number(task), claimer, now: self.now() }).await.unwrap()
    }
}

/// What the tests of rank, graph and gates have in common.
impl TestStore {
    pub(crate) fn relation_id(&self) -> RelationId {
        RelationId::new(self.now(), &self.entropy)
    }

    pub(crate) fn project_id(&self) -> ProjectId {
        ProjectId::new(self.now(), &self.entropy)
    }

    pub(crate) fn goal_id(&self) -> GoalId {
        GoalId::new(self.now(), &self.entropy)
    }

    /// Lists what a puller would be handed, in order.
    pub(crate) async fn entries(&self) -> Vec<QueueEntry> {
        self.store.read(self.queueing(0, 10_000)).await.unwrap().entries
    }

    /// Makes the request of a particular claimer, who is an agent.
    pub(crate) fn request_of(&self, claimer: &Claimer) -> ClaimRequest {
        let name = claimer.name.strip_prefix("agent:").unwrap();
        ClaimRequest { claimer: claimer.clone(), ..self.request(name) }
    }

    pub(crate) async fn claim_as(&self, claimer: &Claimer) -> Result<Claimed, Nothing> {
        self.claim_with(self.request_of(claimer)).await.unwrap()
    }

    /// Asks for exactly one task.
    pub(crate) async fn start_as(&self, claimer: &Claimer, number: TaskNumber) -> Result<TaskPatched, Error> {
        let claim = self.request_of(claimer);
        let patch =
            self.patching(claim.caller.clone(), number, TaskEdit::default(), Some(Status::InProgress));
        Box::pin(self.store.write(TaskPatch { claim, ..patch })).await
    }

    pub(crate) fn providing(&self, task: TaskNumber, path: &str) -> ArtifactProvide {
        ArtifactProvide {
            ctx: self.ctx(person()),
            id: ArtifactId::new(self.now(), &self.entropy),
            task: TaskRef::Number(task),
            path: path.to_owned(),
            content: Some("text".to_owned()),
        }
    }

    pub(crate) async fn provide(&self, task: TaskNumber, path: &str) -> ArtifactProvided {
        self.store.write(self.providing(task, path)).await.unwrap()
    }

    /// Closes the store and opens it again, as after a crash.
    pub(crate) async fn reopened(self) -> Self {
        let Self { store, database, scribe, clock, entropy } = self;
        store.close().await;
        drop(store);
        let store = Arc::new(Store::open(database.url(), &opening("again")).await.unwrap());
        Self { store, database, scribe, clock, entropy }
    }
}

/// Returns an agent that pulls and asks for nothing in particular.
pub(crate) fn puller(name: &str) -> Claimer {
    Claimer::anyone(agent(name).to_string(), Door::Pull)
}

/// Returns a draft of a task below another one.
pub(crate) fn below(parent: TaskNumber, title: &str) -> TaskDraft {
    TaskDraft { parent: Some(TaskRef::Number(parent)), ..TaskDraft::new(title) }
}
