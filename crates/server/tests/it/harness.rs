//! A desk with a clock that tests set, on a PostgreSQL that can lose answers, and its metrics port.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use extraboard_core::caller::Caller;
use extraboard_core::clock::{Clock, Entropy, Span, Timestamp};
use extraboard_core::task::Task;
use extraboard_desk::{Desk, Settings};
use extraboard_server::{Health, serve_metrics};
use extraboard_store::error::Error;
use extraboard_store::verbs::{Render, RulesEdit, TaskCreate, TaskDraft};
use extraboard_store::{Opening, Store};
use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::postgres::Relay;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use tokio::net::TcpListener;

/// A clock that moves when told to.
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Bytes that never repeat, and are the same in every run.
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::SeqCst).to_le_bytes();
        for (byte, next) in bytes.iter_mut().zip(count.iter().cycle()) {
            *byte = *next;
        }
    }
}

pub(crate) struct TestServer {
    pub(crate) relay: Relay,
    pub(crate) desk: Desk,
    clock: Arc<ManualClock>,
    metrics: SocketAddr,
}

impl TestServer {
    /// Starts a server whose loops stand still: nothing is written but what tests write.
    pub(crate) async fn start() -> Self {
        let relay = Relay::start(&fresh_postgres_url()).unwrap();
        let clock = Arc::new(ManualClock(AtomicI64::new(1_700_000_000_000_000)));
        let opening = Opening { now: clock.now(), note: "a test".to_owned() };
        let store = Store::open(relay.url(), &opening).await.unwrap();
        let settings = Settings {
            pull_lease: Span::from_mins(60),
            events_kept: Span::from_mins(60),
            render: Render::plain(|task| task.title.clone()),
            rules: RulesEdit::default(),
        };
        let entropy = Arc::new(Counting(AtomicU64::new(0)));
        let (desk, _loops) = Desk::new(store, clock.clone(), entropy, settings).await.unwrap();
        let health = Health::starting(PrometheusBuilder::new().build_recorder().handle());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let metrics = listener.local_addr().unwrap();
        tokio::spawn(serve_metrics(listener, health.clone()));
        health.up(desk.clone());
        Self { relay, desk, clock, metrics }
    }

    pub(crate) fn step(&self, span: Span) {
        self.clock.0.fetch_add(span.as_micros(), Ordering::SeqCst);
    }

    pub(crate) async fn add(&self, title: &str) -> Result<Task, Error> {
        let (ctx, id) = (self.desk.ctx(Caller::Anonymous), self.desk.new_task_id());
        self.desk.write(TaskCreate { ctx, id, draft: TaskDraft::new(title), key: None }).await
    }

    /// Returns the status and the body of an answer on the metrics port.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let address = self.metrics;
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        let answer = answer.await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }
}
