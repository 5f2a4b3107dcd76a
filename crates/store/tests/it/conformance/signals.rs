//! Signals: what the world says, and the one task that is made of it.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::signal::{Severity, Signal};
use extraboard_core::state::State;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Ctx, IdempotencyKey, ProjectRef, SignalCreate, SignalList, SignalTaken, TaskCreate, TaskDraft,
};

use crate::harness::{TestStore, agent, idempotency_key};
use crate::prompting::at_once;

const PAYLOAD: &str = r#"{"message":"it broke"}"#;

impl TestStore {
    /// Makes a signal as the server would, with the task it makes of it.
    fn signalling(&self, severity: Severity) -> SignalCreate {
        let draft = TaskDraft {
            kind: Kind::Signal,
            state: State::Triage,
            priority: severity.priority(),
            signal_source: Some("sentry".to_owned()),
            signal_payload: Some(PAYLOAD.to_owned()),
            ..TaskDraft::new("[sentry] error: it broke")
        };
        let ctx = self.ctx(agent("sentry"));
        SignalCreate {
            id: self.signal_id(),
            source: "sentry".to_owned(),
            source_id: Some("S-1".to_owned()),
            signal_type: "error".to_owned(),
            severity,
            payload: PAYLOAD.to_owned(),
            delivery: None,
            task: TaskCreate { ctx, id: self.task_id(), draft, key: None },
            key: None,
        }
    }

    fn delivering(&self, delivery: &str) -> SignalCreate {
        SignalCreate { delivery: Some(delivery.to_owned()), ..self.signalling(Severity::High) }
    }

    fn keyed_signal(&self, key: IdempotencyKey) -> SignalCreate {
        SignalCreate { key: Some(key), ..self.signalling(Severity::High) }
    }

    async fn signal(&self, create: SignalCreate) -> SignalTaken {
        Box::pin(self.store.write(create)).await.unwrap()
    }

    async fn signals(&self) -> Vec<Signal> {
        let (signals, total) = self.store.read(SignalList { offset: 0, limit: 100 }).await.unwrap();
        assert_eq!(total, i64::try_from(signals.len()).unwrap());
        signals
    }

    async fn count(&self, table: &str) -> i64 {
        self.database.raw_int(&format!("SELECT COUNT(*) FROM {table}")).await
    }
}

/// Fails unless both are the same signal and task, the second one known.
fn check_repeated(first: &SignalTaken, second: &SignalTaken) {
    assert_eq!((&second.signal, &second.task), (&first.signal, &first.task));
    assert_eq!((first.is_repeated, second.is_repeated), (false, true));
}

pub(crate) async fn a_signal_and_its_task_come_in_together(ctx: &TestStore) {
    let create = ctx.signalling(Severity::High);
    let taken = ctx.signal(create.clone()).await;
    let expected = Signal {
        id: create.id,
        source: "sentry".to_owned(),
        source_id: Some("S-1".to_owned()),
        signal_type: "error".to_owned(),
        severity: Severity::High,
        payload: PAYLOAD.to_owned(),
        task: create.task.id,
        created_at: ctx.now(),
    };
    assert_eq!((&taken.signal, taken.is_repeated), (&expected, false));
    assert_eq!(ctx.get(taken.task.number).await, taken.task);
    assert_eq!((taken.task.kind, taken.task.state), (Kind::Signal, State::Triage));
    assert_eq!(taken.task.signal_payload.as_deref(), Some(PAYLOAD));
    ctx.pass(Span::from_secs(1));
    let without_id = SignalCreate { source_id: None, ..ctx.signalling(Severity::Low) };
    let second = ctx.signal(without_id).await.signal;
    assert_eq!(ctx.signals().await, [second.clone(), expected]);
    let (page, total) = ctx.store.read(SignalList { offset: 0, limit: 1 }).await.unwrap();
    assert_eq!((page, total), (vec![second], 2));
    let told: Vec<_> = ctx.events().await.into_iter().map(|event| (event.event_type, event.task)).collect();
    let of = |number| {
        [EventType::TaskCreated, EventType::SignalReceived].map(|word| (word, Some(TaskNumber(number))))
    };
    assert_eq!(told, [of(1), of(2)].concat());
}

pub(crate) async fn each_severity_has_its_priority(ctx: &TestStore) {
    let expected =
        [(Severity::Critical, 100), (Severity::High, 75), (Severity::Medium, 50), (Severity::Low, 25)];
    assert_eq!(expected.len(), Severity::ALL.len());
    for (severity, priority) in expected {
        let taken = ctx.signal(ctx.signalling(severity)).await;
        assert_eq!((taken.signal.severity, taken.task.priority.points()), (severity, priority));
        assert_eq!(ctx.get(taken.task.number).await.priority.points(), priority);
    }
    let mut stored: Vec<_> = ctx.signals().await.into_iter().map(|signal| signal.severity).collect();
    stored.sort_by_key(|severity| severity.priority().points());
    assert_eq!(stored, [Severity::Low, Severity::Medium, Severity::High, Severity::Critical]);
}

pub(crate) async fn a_signal_whose_task_is_refused_leaves_nothing(ctx: &TestStore) {
    let mut create = SignalCreate { key: Some(idempotency_key("k")), ..ctx.delivering("d") };
    create.task.draft.project = Some(ProjectRef::Name("nowhere".to_owned()));
    let refused = Box::pin(ctx.store.write(create.clone())).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "projectId", .. }), "{refused}");
    for table in ["signal", "task", "delivery", "event", "idempotency"] {
        assert_eq!(ctx.count(table).await, 0, "{table}");
    }
    // What was refused may come again.
    ctx.project("nowhere").await;
    assert!(!ctx.signal(create).await.is_repeated);
}

pub(crate) async fn a_delivery_that_comes_twice_is_one_signal(ctx: &TestStore) {
    let first = ctx.signal(ctx.delivering("d1")).await;
    ctx.pass(Span::from_days(30));
    let second = ctx.signal(ctx.delivering("d1")).await;
    check_repeated(&first, &second);
    assert_eq!((ctx.count("signal").await, ctx.count("task").await), (1, 1));
    // Another delivery, one of another source, and those without an id are others.
    ctx.signal(ctx.delivering("d2")).await;
    ctx.signal(SignalCreate { source: "github".to_owned(), ..ctx.delivering("d1") }).await;
    ctx.signal(ctx.signalling(Severity::Low)).await;
    ctx.signal(ctx.signalling(Severity::Low)).await;
    assert_eq!((ctx.count("signal").await, ctx.count("task").await), (5, 5));
}

pub(crate) async fn a_delivery_whose_task_was_deleted_makes_no_other(ctx: &TestStore) {
    let first = ctx.signal(ctx.delivering("d1")).await;
    ctx.delete(first.task.number).await;
    let again = ctx.signal(ctx.delivering("d1")).await;
    assert!(again.is_repeated && again.task.deleted_at.is_some());
    assert_eq!((again.signal.id, again.task.number), (first.signal.id, first.task.number));
    assert_eq!((ctx.count("signal").await, ctx.count("task").await), (1, 1));
}

pub(crate) async fn eight_deliveries_of_one_id_at_once_are_one_signal(ctx: &TestStore) {
    for round in 0..5 {
        let deliveries = (0..8).map(|_| ctx.delivering(&round.to_string())).collect();
        let taken: Vec<_> = at_once(ctx, deliveries).await.into_iter().map(Result::unwrap).collect();
        let first = taken.iter().find(|taken| !taken.is_repeated).unwrap();
        assert!(taken.iter().all(|taken| taken.signal == first.signal && taken.task == first.task));
        assert_eq!(taken.iter().filter(|taken| taken.is_repeated).count(), 7);
        assert_eq!((ctx.count("signal").await, ctx.count("task").await), (round + 1, round + 1));
    }
}

pub(crate) async fn a12_a_signal_is_taken_in_once_per_key(ctx: &TestStore) {
    let first = ctx.signal(ctx.keyed_signal(idempotency_key("k"))).await;
    let second = ctx.signal(ctx.keyed_signal(idempotency_key("k"))).await;
    check_repeated(&first, &second);
    let other = IdempotencyKey { fingerprint: "other".to_owned(), ..idempotency_key("k") };
    let refused = Box::pin(ctx.store.write(ctx.keyed_signal(other))).await.unwrap_err();
    assert!(matches!(refused, Error::KeyMismatch), "{refused}");
    // The same key of another caller, and of the same one after a day, is another.
    let mut others = ctx.keyed_signal(idempotency_key("k"));
    others.task.ctx = Ctx { caller: Caller::Anonymous, ..others.task.ctx };
    assert!(!ctx.signal(others).await.is_repeated);
    ctx.pass(Span::from_days(1));
    assert!(!ctx.signal(ctx.keyed_signal(idempotency_key("k"))).await.is_repeated);
    assert_eq!((ctx.count("signal").await, ctx.count("task").await), (3, 3));
}

pub(crate) async fn a12_racing_signals_with_one_key_are_one(ctx: &TestStore) {
    let signals = (0..8).map(|_| ctx.keyed_signal(idempotency_key("k"))).collect();
    let taken: Vec<_> = at_once(ctx, signals).await.into_iter().map(Result::unwrap).collect();
    assert!(taken.iter().all(|other| other.signal == taken[0].signal));
    assert_eq!(taken.iter().filter(|taken| taken.is_repeated).count(), 7);
    assert_eq!((ctx.count("signal").await, ctx.count("task").await), (1, 1));
}
