//! A desk with a clock that tests set, on a fresh database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Clock, Entropy, Span, Timestamp};
use extraboard_core::doors::Door;
use extraboard_core::gate::{Claimer, Nothing};
use extraboard_core::id::TaskRef;
use extraboard_core::task::Task;
use extraboard_desk::{Claim, Desk, Loops, Settings};
use extraboard_store::verbs::{
    Claimed, IdempotencyKey, Render, RulesEdit, TaskCreate, TaskDraft, TaskGet, TaskView,
};
use extraboard_store::{Opening, Store};
use extraboard_testkit::postgres::Relay;

/// How long a holder may be silent in these tests.
pub(crate) const LEASE: Span = Span::from_secs(20);
pub(crate) const EVENTS_KEPT: Span = Span::from_days(30);

/// A clock that moves when told to.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

/// What a clock shows that was broken.
const BROKEN: i64 = i64::MIN;

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let micros = self.0.load(Ordering::SeqCst);
        assert_ne!(micros, BROKEN, "the clock is broken");
        Timestamp::from_micros(micros)
    }
}

impl ManualClock {
    pub(crate) fn step(&self, span: Span) {
        self.0.fetch_add(span.as_micros(), Ordering::SeqCst);
    }

    /// Makes whoever asks for the time panic.
    pub(crate) fn break_down(&self) {
        self.0.store(BROKEN, Ordering::SeqCst);
    }
}

/// Bytes that never repeat, and are the same in every run.
#[derive(Debug)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::SeqCst).to_le_bytes();
        for (byte, next) in bytes.iter_mut().zip(count.iter().cycle()) {
            *byte = *next;
        }
    }
}

pub(crate) struct TestDesk {
    pub(crate) desk: Desk,
    pub(crate) loops: Loops,
    pub(crate) clock: Arc<ManualClock>,
    entropy: Arc<Counting>,
    url: String,
    /// Where the SQLite file is; removed when the test ends.
    dir: Option<tempfile::TempDir>,
}

impl TestDesk {
    pub(crate) async fn sqlite() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let url = dir.path().join("desk.db").display().to_string();
        Self::open(url, Some(dir)).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::open(extraboard_testkit::database::fresh_postgres_url(), None).await
    }

    /// Starts a desk whose way to PostgreSQL can lose answers.
    pub(crate) async fn relayed() -> (Self, Relay) {
        let relay = Relay::start(&extraboard_testkit::database::fresh_postgres_url())
            .expect("there is a port to listen on");
        (Self::open(relay.url().to_owned(), None).await, relay)
    }

    async fn open(url: String, dir: Option<tempfile::TempDir>) -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(1_700_000_000_000_000)));
        let entropy = Arc::new(Counting(AtomicU64::new(0)));
        let (desk, loops) = open_desk(&url, &clock, &entropy, RulesEdit::default()).await;
        Self { desk, loops, clock, entropy, url, dir }
    }

    /// Ends the desk and starts another over the same database.
    pub(crate) async fn restart(self) -> Self {
        self.restart_with(RulesEdit::default()).await
    }

    /// Does the same with a desk that was told to go by these rules.
    pub(crate) async fn restart_with(self, rules: RulesEdit) -> Self {
        let Self { desk, loops, clock, entropy, url, dir } = self;
        drop((desk, loops));
        let (desk, loops) = open_desk(&url, &clock, &entropy, rules).await;
        Self { desk, loops, clock, entropy, url, dir }
    }

    /// Starts a second desk over the same database; SQLite allows only one.
    pub(crate) async fn second(&self) -> Option<(Desk, Loops)> {
        let server = self.url.starts_with("postgres");
        if server {
            Some(open_desk(&self.url, &self.clock, &self.entropy, RulesEdit::default()).await)
        } else {
            None
        }
    }

    pub(crate) async fn add(&self, title: &str) -> Task {
        self.add_draft(TaskDraft::new(title)).await
    }

    pub(crate) async fn add_draft(&self, draft: TaskDraft) -> Task {
        let ctx = self.desk.ctx(Caller::Anonymous);
        let create = TaskCreate { ctx, id: self.desk.new_task_id(), draft, key: None };
        self.desk.write(create).await.expect("a task can be added")
    }

    /// Claims as an agent of that name, turning the loops until there is an answer.
    pub(crate) async fn claim(&mut self, agent: &str) -> Result<Claimed, Nothing> {
        let desk = self.desk.clone();
        let claiming = desk.claim(claim(agent, None));
        let (claimed, turned) = tokio::join!(claiming, self.loops.turn());
        turned.expect("the loops turn");
        claimed.expect("a claim is answered")
    }

    pub(crate) async fn turn(&mut self) {
        self.loops.turn().await.expect("the loops turn");
    }

    /// Lets time pass as a running desk sees it: in small steps, turning the loops.
    pub(crate) async fn pass(&mut self, span: Span) {
        for _ in 0..span.as_secs() / 5 {
            self.clock.step(Span::from_secs(5));
            self.turn().await;
        }
    }

    pub(crate) async fn view(&self, task: &Task) -> TaskView {
        let task = TaskRef::Number(task.number);
        self.desk.read(TaskGet { task }).await.expect("the task is there")
    }
}

pub(crate) fn claim(agent: &str, key: Option<&str>) -> Claim {
    let key = key.map(|key| IdempotencyKey { key: key.to_owned(), fingerprint: "same".to_owned() });
    let caller = Caller::Agent(agent.to_owned());
    Claim { claimer: Claimer::anyone(caller.to_string(), Door::Pull), caller, key }
}

/// A title that becomes a prompt which PostgreSQL does not keep.
pub(crate) const POISON: &str = "poison";

fn prompt(task: &Task) -> String {
    task.title.replace(POISON, "\0")
}

async fn open_desk(
    url: &str,
    clock: &Arc<ManualClock>,
    entropy: &Arc<Counting>,
    rules: RulesEdit,
) -> (Desk, Loops) {
    let opening = Opening { now: clock.now(), note: "a test".to_owned() };
    let store = Store::open(url, &opening).await.expect("the store opens");
    let settings =
        Settings { pull_lease: LEASE, events_kept: EVENTS_KEPT, render: Render::plain(prompt), rules };
    let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) = (clock.clone(), entropy.clone());
    Desk::new(store, clock, entropy, settings).await.expect("the desk starts")
}
