//! Races over the graph, the rules and the limits, over two servers where the database
//! allows it. What only PostgreSQL can do wrong is forced, step by step, in `servers`.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use extraboard_core::gate::{Limits, Nothing};
use extraboard_core::graph::RelationType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::GoalStatus;
use extraboard_core::state::State;
use extraboard_core::status::Status;
use extraboard_core::task::Place;
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Claimed, CountsRead, GoalEdit, GoalPatch, ProjectRef, Rerank, Reranked, RulesChange, RulesEdit,
    TaskDraft, TaskEdit, TaskPatch,
};
use tokio::task::JoinSet;

use super::blockers::blocked_by;
use crate::harness::{TestStore, below, completed, person};

const ROUNDS: usize = 25;
const CLAIMERS: usize = 32;

async fn join(mut running: JoinSet<()>) {
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

pub(crate) async fn a_re_rank_and_claims_never_lose_or_double_a_task(ctx: &Arc<TestStore>) {
    const TASKS: usize = 400;
    for index in 0..TASKS {
        ctx.create(TaskDraft { kind: Kind::ALL[index % Kind::ALL.len()], ..TaskDraft::new("t") }).await;
    }
    let stores = ctx.replicas().await;
    let claimed: Arc<Mutex<HashSet<TaskNumber>>> = Arc::default();
    let mut running = JoinSet::new();
    for index in 0..6 {
        let (ctx, claimed, store) = (Arc::clone(ctx), Arc::clone(&claimed), Arc::clone(&stores[index % 2]));
        running.spawn(async move {
            loop {
                let requests = (0..=index % 3).map(|_| ctx.request("a")).collect();
                for answer in store.write(ctx.batch(requests)).await.unwrap() {
                    let Ok(one) = answer.unwrap() else { return };
                    assert!(claimed.lock().unwrap().insert(one.task.number), "#{}", one.task.number);
                }
            }
        });
    }
    for (index, store) in stores.into_iter().enumerate() {
        let ctx = Arc::clone(ctx);
        running.spawn(async move {
            for round in 0..6 {
                let profile = Some(Profile::shipped(ProfileName::ALL[(round + index) % 2]));
                let edit = RulesEdit { profile, ..RulesEdit::default() };
                let change = RulesChange { ctx: ctx.ctx(person()), edit, if_version: None };
                store.write(change).await.unwrap();
                while store.write(Rerank { ctx: ctx.desk() }).await.unwrap() == Reranked::More {}
            }
        });
    }
    join(running).await;
    assert_eq!(claimed.lock().unwrap().len(), TASKS);
}

pub(crate) async fn relating_to_a_blocker_that_is_being_finished_holds_nobody_for_ever(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..ROUNDS {
        ctx.add("blocker").await;
        let blocker = ctx.claim().await;
        let dependent = ctx.add("blocked").await.number;
        let relation = ctx.relating(blocker.task.number, RelationType::Blocks, dependent);
        let (related, finished) =
            tokio::join!(one.write(relation), other.write(ctx.saying(&blocker, completed("{}"))));
        related.unwrap();
        finished.unwrap();
        assert_eq!(ctx.get(dependent).await.place(), Place::Line, "round {round}");
        ctx.audit().await;
        ctx.delete(dependent).await;
    }
}

pub(crate) async fn of_two_halves_of_a_cycle_one_is_refused(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..ROUNDS {
        let [a, b] = [ctx.add("a").await.number, ctx.add("b").await.number];
        let gated = TaskEdit {
            parent: Some(Some(TaskRef::Number(a))),
            gated_by_parent: Some(true),
            ..TaskEdit::default()
        };
        let blocks = ctx.relating(b, RelationType::Blocks, a);
        let (first, second) = if round % 2 == 0 {
            let dependent = ctx.relating(a, RelationType::Blocks, b);
            let (first, second) = tokio::join!(one.write(blocks), other.write(dependent));
            (first.map(drop), second.map(drop))
        } else {
            let below = ctx.patching(person(), b, gated, None);
            let (first, second) = tokio::join!(one.write(blocks), other.write(below));
            (first.map(drop), second.map(drop))
        };
        let refused: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
        assert!(matches!(refused[..], [Error::Cycle(_)]), "round {round}: {refused:?}");
        assert_eq!(ctx.store.read(ctx.queueing(0, 10)).await.unwrap().total, 1);
        ctx.audit().await;
        ctx.delete(a).await;
        ctx.delete(b).await;
    }
}

pub(crate) async fn what_enters_while_a_goal_changes_stands_where_it_should(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    let project = ctx.project("payments").await;
    let goal = ctx.goal(&project).await;
    ctx.rerank().await;
    for round in 0..ROUNDS {
        let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("t") };
        let status = Some(if round % 2 == 0 { GoalStatus::Achieved } else { GoalStatus::Active });
        let edit = GoalEdit { status, ..GoalEdit::default() };
        let toggle = GoalPatch { ctx: ctx.ctx(person()), goal: goal.id, edit };
        let toggled = async {
            other.write(toggle).await.unwrap();
            while other.write(Rerank { ctx: ctx.desk() }).await.unwrap() == Reranked::More {}
        };
        let (created, ()) = tokio::join!(one.write(ctx.creation(draft)), toggled);
        created.unwrap();
        ctx.audit().await;
    }
}

pub(crate) async fn an_artifact_and_a_task_that_waits_for_it_do_not_miss_each_other(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    let maker = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("maker") }).await.number;
    for round in 0..ROUNDS {
        let path = round.to_string();
        let draft = TaskDraft { artifact: Some(path.clone()), ..TaskDraft::new("waits") };
        let (created, provided) =
            tokio::join!(one.write(ctx.creation(draft)), other.write(ctx.providing(maker, &path)));
        provided.unwrap();
        let task = ctx.get(created.unwrap().number).await;
        assert_eq!((task.artifact_present, task.place()), (true, Place::Line), "round {round}");
    }
}

pub(crate) async fn a_child_made_while_its_parent_is_finished_is_not_held(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for round in 0..ROUNDS {
        ctx.add("parent").await;
        let parent = ctx.claim().await;
        let draft = TaskDraft { gated_by_parent: true, ..below(parent.task.number, "child") };
        let (created, finished) =
            tokio::join!(one.write(ctx.creation(draft)), other.write(ctx.saying(&parent, completed("{}"))),);
        finished.unwrap();
        let child = ctx.get(created.unwrap().number).await;
        assert_eq!(child.place(), Place::Line, "round {round}");
        ctx.audit().await;
        ctx.delete(child.number).await;
    }
}

pub(crate) async fn two_blockers_of_the_same_tasks_may_be_finished_at_once(ctx: &TestStore) {
    let stores = ctx.replicas().await;
    for round in 0..ROUNDS {
        let mut blockers = Vec::new();
        for _ in 0..4 {
            ctx.add("blocker").await;
            blockers.push(ctx.claim().await);
        }
        let numbers: Vec<_> = blockers.iter().map(|claimed| claimed.task.number).collect();
        let mut dependent = Vec::new();
        for title in ["one", "other"] {
            dependent.push(ctx.create(blocked_by(ctx, title, &numbers)).await.number);
        }
        let finish = |index: usize| stores[index % 2].write(ctx.saying(&blockers[index], completed("{}")));
        let (a, b, c, d) = tokio::join!(finish(0), finish(1), finish(2), finish(3));
        for finished in [a, b, c, d] {
            finished.unwrap();
        }
        assert_eq!(ctx.queue_titles().await, ["one", "other"], "round {round}");
        ctx.audit().await;
        for task in dependent {
            ctx.delete(task).await;
        }
    }
}

/// Claimers of both sorts under a limit of one.
struct Contest {
    ctx: Arc<TestStore>,
    stores: [Arc<Store>; 2],
    /// How many hold something, as the holders themselves see it.
    holding: AtomicUsize,
    left: AtomicUsize,
}

impl Contest {
    /// Claims whatever there is, or asks for tasks by name, until all are done.
    async fn take_part(&self, index: usize) {
        let store = &self.stores[index % 2];
        let mut number = i64::try_from(index).unwrap();
        while self.left.load(Ordering::SeqCst) > 0 {
            let taken = if index.is_multiple_of(4) {
                number = number % TASKS + 1;
                self.start(store, TaskNumber(number)).await
            } else {
                let requests = (0..=index % 3).map(|_| self.ctx.request("a")).collect();
                self.claim(store, requests).await
            };
            if let Some(claimed) = taken {
                self.work(store, &claimed).await;
            }
        }
    }

    async fn claim(
        &self,
        store: &Store,
        requests: Vec<extraboard_store::verbs::ClaimRequest>,
    ) -> Option<Claimed> {
        let answers = store.write(self.ctx.batch(requests)).await.unwrap();
        let mut taken = Vec::new();
        for answer in answers {
            match answer.unwrap() {
                Ok(claimed) => taken.push(claimed),
                Err(nothing) => assert!(matches!(nothing, Nothing::Limit | Nothing::Empty), "{nothing}"),
            }
        }
        assert!(taken.len() <= 1);
        taken.pop()
    }

    async fn start(&self, store: &Store, number: TaskNumber) -> Option<Claimed> {
        let claim = self.ctx.request("b");
        let (caller, edit) = (claim.caller.clone(), TaskEdit::default());
        let patch = self.ctx.patching(caller, number, edit, Some(Status::InProgress));
        match Box::pin(store.write(TaskPatch { claim, ..patch })).await {
            Ok(patched) => patched.opened.map(|dispatch| Claimed { task: patched.task, dispatch }),
            Err(Error::NotReady { .. } | Error::Refused { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }

    async fn work(&self, store: &Store, claimed: &Claimed) {
        assert_eq!(self.holding.fetch_add(1, Ordering::SeqCst), 0, "two at once");
        assert_eq!(store.read(CountsRead).await.unwrap().unclosed, 1, "two at once");
        assert_eq!(self.holding.fetch_sub(1, Ordering::SeqCst), 1, "two at once");
        store.write(self.ctx.saying(claimed, completed("{}"))).await.unwrap();
        self.left.fetch_sub(1, Ordering::SeqCst);
    }
}

const TASKS: i64 = 48;

pub(crate) async fn a_limit_of_1_is_never_2_though_32_claim(ctx: &Arc<TestStore>) {
    for _ in 0..TASKS {
        ctx.add("t").await;
    }
    ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
    let contest = Arc::new(Contest {
        ctx: Arc::clone(ctx),
        stores: ctx.replicas().await,
        holding: AtomicUsize::new(0),
        left: AtomicUsize::new(usize::try_from(TASKS).unwrap()),
    });
    let mut running = JoinSet::new();
    for index in 0..CLAIMERS {
        let contest = Arc::clone(&contest);
        running.spawn(async move { contest.take_part(index).await });
    }
    join(running).await;
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM task WHERE state = 'done'").await, TASKS);
}
