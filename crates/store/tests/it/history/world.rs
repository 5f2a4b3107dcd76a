//! What the test knows: the graph, projects, rules and hand-outs in plain lists.

use std::collections::{HashMap, HashSet};

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Door;
use extraboard_core::gate::{Account, Claimer, Limits};
use extraboard_core::id::{ProjectNumber, RelationId, TaskNumber};
use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::{Goal, Project, ProjectStatus};
use extraboard_core::state::State;
use extraboard_core::task::Task;
use extraboard_core::why::Verdict;
use extraboard_store::verbs::{Claimed, HeadAdvance, Queue, QueueScope, TaskFilter, TaskList};

use super::brute::{Gates, Held, Numbers, ProjectState, numbers, sorted};
use crate::harness::TestStore;

/// A hand-out that may not be closed yet.
#[derive(Debug)]
pub(crate) struct HandOut {
    pub(crate) claimed: Claimed,
    pub(crate) claimer: Claimer,
    pub(crate) open: bool,
    pub(crate) lease_until: Timestamp,
}

#[derive(Debug)]
pub(crate) struct World {
    /// Tasks as last read, by number; deleted ones stay as they were.
    pub(crate) tasks: Vec<Task>,
    pub(crate) deleted: HashSet<TaskNumber>,
    pub(crate) parents: HashMap<TaskNumber, TaskNumber>,
    /// Blocker and blocked.
    pub(crate) relations: Vec<(RelationId, TaskNumber, TaskNumber)>,
    pub(crate) provided: HashSet<(Option<ProjectNumber>, String)>,
    pub(crate) projects: Vec<Project>,
    pub(crate) goals: Vec<Goal>,
    pub(crate) with_goal: HashSet<ProjectNumber>,
    pub(crate) states: HashMap<ProjectNumber, ProjectState>,
    pub(crate) limits: Limits,
    pub(crate) profile: Profile,
    pub(crate) accounts: HashMap<Account, (i64, Timestamp)>,
    pub(crate) hand_outs: Vec<HandOut>,
    /// How often the store was compared.
    turn: usize,
}

/// The claimers of these histories, each of another sort.
pub(crate) fn claimers(projects: &[Project]) -> Vec<Claimer> {
    let claimer = |name: &str| Claimer::anyone(format!("agent:{name}"), Door::Pull);
    let able = Capabilities::parse("rust,sql").unwrap();
    let account = Account { provider: "anthropic".to_owned(), account: "team".to_owned() };
    vec![
        claimer("a"),
        Claimer { capabilities: able.clone(), owner: Some("ann".to_owned()), ..claimer("b") },
        Claimer { project: Some(projects[0].number), ..claimer("c") },
        Claimer { kinds: vec![Kind::Code, Kind::Plan], capabilities: able.clone(), ..claimer("d") },
        Claimer { account: Some(account), capabilities: able, ..claimer("e") },
        Claimer { door: Door::Run, ..claimer("f") },
    ]
}

impl World {
    pub(crate) async fn new(ctx: &TestStore, profile: ProfileName) -> Self {
        let profile = Profile::shipped(profile);
        ctx.profile(profile.clone()).await;
        let projects = vec![ctx.project("north").await, ctx.project("south").await];
        let goals = vec![ctx.goal(&projects[0]).await, ctx.goal(&projects[1]).await];
        ctx.rerank().await;
        let active = ProjectState { status: ProjectStatus::Active, run_limit: None };
        Self {
            tasks: Vec::new(),
            deleted: HashSet::new(),
            parents: HashMap::new(),
            relations: Vec::new(),
            provided: HashSet::new(),
            with_goal: projects.iter().map(|project| project.number).collect(),
            states: projects.iter().map(|project| (project.number, active.clone())).collect(),
            projects,
            goals,
            limits: Limits::default(),
            profile,
            accounts: HashMap::new(),
            hand_outs: Vec::new(),
            turn: 0,
        }
    }

    /// Reads the tasks again: what their own fields say is tested elsewhere.
    pub(crate) async fn read(&mut self, ctx: &TestStore) {
        let list = TaskList { filter: TaskFilter::default(), after: TaskNumber(0), offset: 0, limit: 1_000 };
        let page = ctx.store.read(list).await.unwrap();
        for view in page.tasks {
            match self.tasks.iter_mut().find(|task| task.number == view.task.number) {
                Some(task) => *task = view.task,
                None => self.tasks.push(view.task),
            }
        }
    }

    pub(crate) fn task(&self, number: TaskNumber) -> &Task {
        self.tasks.iter().find(|task| task.number == number).unwrap()
    }

    pub(crate) fn depth(&self, number: TaskNumber) -> i64 {
        self.parents.get(&number).map_or(0, |parent| self.depth(*parent) + 1)
    }

    fn is_ready(&self, task: &Task) -> bool {
        let deleted = |number| self.deleted.contains(&number);
        let holds =
            |number| !deleted(number) && !matches!(self.task(number).state, State::Done | State::Canceled);
        let blocked =
            self.relations.iter().any(|(_, blocker, blocked)| *blocked == task.number && holds(*blocker));
        let parent_open = self
            .parents
            .get(&task.number)
            .is_some_and(|parent| deleted(*parent) || self.task(*parent).state != State::Done);
        let artifact_missing =
            task.artifact.as_ref().is_some_and(|path| !self.provided.contains(&(task.project, path.clone())));
        let in_hand = self.hand_outs.iter().any(|out| out.open && out.claimed.task.number == task.number);
        let waits_for_parent = task.gated_by_parent && parent_open;
        let held = blocked || waits_for_parent || artifact_missing || task.not_before.is_some();
        task.state == State::Queued && !deleted(task.number) && !in_hand && !held
    }

    /// Returns the ready tasks, best first.
    pub(crate) fn line(&self, now: Timestamp) -> Vec<Task> {
        let numbers = Numbers::of(&self.profile);
        let ready = self.tasks.iter().filter(|task| self.is_ready(task));
        let scored = ready.map(|task| {
            let has_goal = task.project.is_some_and(|project| self.with_goal.contains(&project));
            (numbers.score(task, self.depth(task.number), has_goal, now), task.clone())
        });
        sorted(scored.collect())
    }

    pub(crate) fn gates(&self, now: Timestamp) -> Gates<'_> {
        Gates { now, limits: &self.limits, projects: &self.states, accounts: &self.accounts }
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        let open = self.hand_outs.iter().filter(|out| out.open);
        open.map(|out| Held {
            kind: out.claimed.task.kind,
            project: out.claimed.task.project,
            holder: out.claimer.name.clone(),
            account: out.claimer.account.clone(),
        })
        .collect()
    }

    /// Returns what each of these claimers gets, one after the other.
    pub(crate) fn deal(&self, claimers: &[Claimer], now: Timestamp) -> Vec<Option<TaskNumber>> {
        let mut line = self.line(now);
        let mut held = self.held();
        let gates = self.gates(now);
        claimers
            .iter()
            .map(|claimer| {
                let best = line.iter().position(|task| gates.let_through(task, claimer, &held))?;
                let task = line.remove(best);
                held.push(Held {
                    kind: task.kind,
                    project: task.project,
                    holder: claimer.name.clone(),
                    account: claimer.account.clone(),
                });
                Some(task.number)
            })
            .collect()
    }

    /// Compares the store with brute force: the line, what everybody would get, and why.
    pub(crate) async fn check(&mut self, ctx: &TestStore) {
        // A task whose moment has come stands in line once time is looked at.
        while ctx.advance().await > 0 {}
        // Claims start exactly where the line begins, so that whatever enters ahead shows.
        ctx.store.write(HeadAdvance).await.unwrap();
        self.read(ctx).await;
        ctx.audit().await;
        let now = ctx.now();
        let line = self.line(now);
        // Two of them at a time, in turn: every step is looked at, and the whole takes less long.
        self.turn += 1;
        let claimers = claimers(&self.projects);
        for index in [self.turn % claimers.len(), (self.turn + 3) % claimers.len()] {
            let claimer = claimers[index].clone();
            let all = queue(ctx, &claimer, QueueScope::All).await;
            assert_eq!(numbers(&all), numbers(&line), "the line");
            let open = queue(ctx, &claimer, QueueScope::Open).await;
            let (gates, held) = (self.gates(now), self.held());
            let expected: Vec<_> =
                line.iter().filter(|task| gates.let_through(task, &claimer, &held)).cloned().collect();
            assert_eq!(numbers(&open), numbers(&expected), "what {} would get", claimer.name);
            self.check_why(ctx, &claimer, &expected).await;
        }
    }

    /// `why` says next of exactly the task the claimer would get.
    async fn check_why(&self, ctx: &TestStore, claimer: &Claimer, expected: &[Task]) {
        for (place, task) in (1..).zip(expected.iter().take(2)) {
            let why = ctx.why(task.number, Some(claimer.clone())).await;
            let verdict = if place == 1 { Verdict::Next } else { Verdict::Waiting };
            assert_eq!((why.verdict, why.position), (verdict, Some(place)), "#{}", task.number);
            let score = why.score.unwrap();
            let shown = Numbers::of(&self.profile);
            let has_goal = task.project.is_some_and(|project| self.with_goal.contains(&project));
            let exact = shown.score(task, self.depth(task.number), has_goal, ctx.now());
            // Whole points are shown, and a task of the future has no age.
            let queued_later = task.queued_at.unwrap() > ctx.now();
            assert!(queued_later || i128::from(score.total()) == exact.div_euclid(super::brute::POINT));
        }
        let is_other = |task: &&Task| expected.first().is_none_or(|best| best.number != task.number);
        let is_there = |task: &&Task| !self.deleted.contains(&task.number);
        let other = self.tasks.iter().rfind(|task| is_there(task) && is_other(task));
        if let Some(other) = other {
            assert_ne!(ctx.why(other.number, Some(claimer.clone())).await.verdict, Verdict::Next);
        }
    }
}

async fn queue(ctx: &TestStore, claimer: &Claimer, scope: QueueScope) -> Vec<Task> {
    let claimer = claimer.clone();
    let queue = Queue { claimer, scope, offset: 0, limit: 1_000, now: ctx.now() };
    let page = ctx.store.read(queue).await.unwrap();
    assert_eq!(page.total, i64::try_from(page.entries.len()).unwrap());
    page.entries.into_iter().map(|entry| entry.task).collect()
}
