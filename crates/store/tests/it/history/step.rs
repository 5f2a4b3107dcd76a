//! The steps of a history, and what each of them should do.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Span;
use extraboard_core::dispatch::{ENDING_LEASE, PULL_LEASE};
use extraboard_core::doors::Doors;
use extraboard_core::gate::{Claimer, Limits};
use extraboard_core::graph::{DEPTH_MAX, RelationType};
use extraboard_core::id::{ArtifactId, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::{GoalStatus, ProjectStatus};
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ArtifactProvide, ClaimRequest, GoalEdit, GoalPatch, PriorityEdit, ProjectEdit, ProjectRef,
    RelationDelete, Side, TaskDelete, TaskDraft, TaskEdit, TaskReorder,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::world::{HandOut, World, claimers};
use crate::harness::{TestStore, completed, failed, person};

const PATHS: [&str; 2] = ["a.md", "b.md"];

/// What a new task is made of.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    kind: Kind,
    points: i64,
    boost: i64,
    queued: bool,
    parent: Option<Index>,
    gated: bool,
    project: Option<usize>,
    needs: &'static str,
    owner: Option<&'static str>,
    artifact: Option<usize>,
    blockers: Vec<Index>,
    doors: u8,
    wait_secs: Option<i64>,
}

/// A change of one field.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Points(i64),
    Boost(i64),
    Kind(Kind),
    Needs(&'static str),
    Owner(Option<&'static str>),
    Project(Option<usize>),
    Gated(bool),
    Wait(Option<i64>),
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create(Draft),
    Edit(Index, Edit),
    Reparent(Index, Option<Index>),
    Relate(Index, Index),
    Unrelate(Index),
    Move(Index, Verb),
    Delete(Index),
    Claim(Vec<usize>),
    Report(Index, Said),
    Goal(usize, GoalStatus),
    Status(usize, ProjectStatus),
    RunLimit(usize, Option<i64>),
    Limits(Limits),
    Profile(ProfileName, Vec<(&'static str, i64)>),
    Provide(Index, usize),
    Reorder(Index, Index, bool),
    Sweep,
    Pass(i64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Said {
    Done,
    Failed,
    Crashed,
    Released,
    RateLimited(i64),
}

fn any_draft() -> impl Strategy<Value = Draft> {
    let kind = select(vec![Kind::Code, Kind::Code, Kind::Plan, Kind::Task]);
    let index = any::<Index>;
    let graph = (
        proptest::option::weighted(0.3, index()),
        prop::bool::weighted(0.4),
        proptest::option::weighted(0.5, 0usize..2),
        proptest::collection::vec(index(), 0..3),
        proptest::option::weighted(0.15, 0usize..2),
    );
    let lane = (
        select(vec!["", "", "", "rust", "rust,sql"]),
        select(vec![None, None, None, Some("ann")]),
        select(vec![7u8, 7, 7, 1, 4]),
        proptest::option::weighted(0.15, 1i64..5_000),
    );
    (kind, 1i64..=100, select(vec![0i64, 0, 0, 0, 0, 15, -40]), prop::bool::weighted(0.85), graph, lane)
        .prop_map(|(kind, points, boost, queued, graph, lane)| Draft {
            kind,
            points,
            boost,
            queued,
            parent: graph.0,
            gated: graph.1,
            project: graph.2,
            blockers: graph.3,
            artifact: graph.4,
            needs: lane.0,
            owner: lane.1,
            doors: lane.2,
            wait_secs: lane.3,
        })
}

fn any_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1i64..=100).prop_map(Edit::Points),
        (-60i64..60).prop_map(Edit::Boost),
        select(vec![Kind::Code, Kind::Plan, Kind::Task]).prop_map(Edit::Kind),
        select(vec!["", "rust"]).prop_map(Edit::Needs),
        select(vec![None, Some("ann"), Some("bob")]).prop_map(Edit::Owner),
        proptest::option::of(0usize..2).prop_map(Edit::Project),
        any::<bool>().prop_map(Edit::Gated),
        proptest::option::of(1i64..5_000).prop_map(Edit::Wait),
    ]
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let limit = || proptest::option::weighted(0.3, 0i64..4);
    (limit(), limit(), limit(), limit(), limit(), limit()).prop_map(
        |(total, code, project, agent, named, account)| Limits {
            total,
            kinds: code.map(|limit| (Kind::Code, limit)).into_iter().collect(),
            project,
            agent,
            agents: named.map(|limit| ("b".to_owned(), limit)).into_iter().collect(),
            account,
        },
    )
}

fn any_profile() -> impl Strategy<Value = Step> {
    let name = select(vec![ProfileName::Pipeline, ProfileName::DepthFirst, ProfileName::DepthFirst]);
    let changes = select(vec![
        vec![],
        vec![],
        vec![("age_boost_per_minute", 3), ("age_boost_max", 10)],
        vec![("age_boost_max", 0), ("patience_per_hour", 2)],
        vec![("priority_weight", 1), ("goal_bonus", 7)],
        vec![("age_boost_per_day", 0)],
        vec![("age_boost_per_minute", 0), ("age_boost_max", 0), ("patience_per_hour", 5)],
        vec![("patience_per_hour", 0)],
    ]);
    (name, changes).prop_map(|(name, changes)| Step::Profile(name, changes))
}

fn any_said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => Just(Said::Done),
        2 => Just(Said::Failed),
        1 => Just(Said::Crashed),
        2 => Just(Said::Released),
        1 => (0i64..200).prop_map(Said::RateLimited),
    ]
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let verbs = [Verb::Admit, Verb::Park, Verb::Cancel, Verb::Retry, Verb::Reopen, Verb::Close];
    let status = select(vec![ProjectStatus::Active, ProjectStatus::Paused, ProjectStatus::Canceled]);
    let goal = select(vec![GoalStatus::Active, GoalStatus::Achieved]);
    // Mostly small steps of time, some past caps and leases, a few back.
    let secs = prop_oneof![4 => 0..200i64, 3 => 1_000..8_000i64, 1 => 100_000..400_000i64, 1 => -4_000..0i64];
    prop_oneof![
        9 => any_draft().prop_map(Step::Create),
        3 => (index(), any_edit()).prop_map(|(task, edit)| Step::Edit(task, edit)),
        2 => (index(), proptest::option::of(index())).prop_map(|(task, parent)| Step::Reparent(task, parent)),
        3 => (index(), index()).prop_map(|(blocker, blocked)| Step::Relate(blocker, blocked)),
        1 => index().prop_map(Step::Unrelate),
        4 => (index(), select(verbs.to_vec())).prop_map(|(task, verb)| Step::Move(task, verb)),
        1 => index().prop_map(Step::Delete),
        6 => proptest::collection::vec(0usize..6, 1..7).prop_map(Step::Claim),
        5 => (index(), any_said()).prop_map(|(out, said)| Step::Report(out, said)),
        2 => (0usize..2, goal).prop_map(|(project, status)| Step::Goal(project, status)),
        1 => (0usize..2, status).prop_map(|(project, status)| Step::Status(project, status)),
        1 => (0usize..2, proptest::option::of(0i64..3)).prop_map(|(project, limit)| Step::RunLimit(project, limit)),
        3 => any_limits().prop_map(Step::Limits),
        2 => any_profile(),
        1 => (index(), 0usize..2).prop_map(|(task, path)| Step::Provide(task, path)),
        1 => (index(), index(), any::<bool>()).prop_map(|(task, other, before)| Step::Reorder(task, other, before)),
        1 => Just(Step::Sweep),
        4 => secs.prop_map(Step::Pass),
    ]
}

impl Step {
    pub(crate) async fn run(self, ctx: &TestStore, world: &mut World) {
        let living: Vec<_> = world
            .tasks
            .iter()
            .map(|task| task.number)
            .filter(|number| !world.deleted.contains(number))
            .collect();
        match self {
            Self::Create(draft) => create(ctx, world, draft, &living).await,
            Self::Pass(secs) => ctx.pass(Span::from_secs(secs)),
            Self::Sweep => sweep(ctx, world).await,
            Self::Claim(names) => claim(ctx, world, &names).await,
            Self::Report(index, said) => report(ctx, world, index, said).await,
            Self::Unrelate(index) => unrelate(ctx, world, index).await,
            Self::Limits(limits) => {
                ctx.limits(limits.clone()).await;
                world.limits = limits;
            }
            Self::Profile(name, changes) => profile(ctx, world, name, &changes).await,
            Self::Goal(project, status) => goal(ctx, world, project, status).await,
            Self::Status(project, status) => {
                let edit = ProjectEdit { status: Some(status), ..ProjectEdit::default() };
                ctx.edit_project(&world.projects[project], edit).await;
                world.states.get_mut(&world.projects[project].number).unwrap().status = status;
            }
            Self::RunLimit(project, limit) => {
                let edit = ProjectEdit { run_limit: Some(limit), ..ProjectEdit::default() };
                ctx.edit_project(&world.projects[project], edit).await;
                world.states.get_mut(&world.projects[project].number).unwrap().run_limit = limit;
            }
            _ if living.is_empty() => {}
            step => Box::pin(step.run_on(ctx, world, &living)).await,
        }
    }

    /// Does what is done to a task that is there.
    async fn run_on(self, ctx: &TestStore, world: &mut World, living: &[TaskNumber]) {
        let pick = |index: Index| *index.get(living);
        match self {
            Self::Edit(task, change) => Box::pin(edit(ctx, world, pick(task), change)).await,
            Self::Reparent(task, parent) => reparent(ctx, world, pick(task), parent.map(pick)).await,
            Self::Relate(first, then) => relate(ctx, world, pick(first), pick(then)).await,
            Self::Move(task, verb) => apply(ctx, world, pick(task), verb).await,
            Self::Delete(task) => delete(ctx, world, pick(task)).await,
            Self::Provide(task, path) => provide(ctx, world, pick(task), PATHS[path]).await,
            Self::Reorder(task, other, before) => {
                reorder(ctx, world, pick(task), pick(other), before).await;
            }
            _ => unreachable!("steps of the desk are done above"),
        }
    }
}

async fn profile(ctx: &TestStore, world: &mut World, name: ProfileName, changes: &[(&'static str, i64)]) {
    let mut profile = Profile::shipped(name);
    for (key, number) in changes {
        profile.set(key, *number).unwrap();
    }
    ctx.profile(profile.clone()).await;
    world.profile = profile;
}

async fn create(ctx: &TestStore, world: &mut World, draft: Draft, living: &[TaskNumber]) {
    let pick = |index: &Index| (!living.is_empty()).then(|| *index.get(living));
    let parent = draft.parent.as_ref().and_then(pick);
    let mut blockers: Vec<_> = draft.blockers.iter().filter_map(pick).collect();
    blockers.sort_unstable();
    blockers.dedup();
    let made = ctx.store.write(
        ctx.creation(TaskDraft {
            kind: draft.kind,
            priority: Priority::new(draft.points).unwrap(),
            boost: draft.boost,
            state: if draft.queued { State::Queued } else { State::Backlog },
            parent: parent.map(TaskRef::Number),
            gated_by_parent: draft.gated,
            project: draft.project.map(|project| ProjectRef::Id(world.projects[project].id)),
            needs: Capabilities::parse(draft.needs).unwrap(),
            owner: draft.owner.map(str::to_owned),
            artifact: draft.artifact.map(|path| PATHS[path].to_owned()),
            doors: Doors::from_bits(draft.doors.into()).unwrap(),
            not_before: draft.wait_secs.map(|secs| ctx.now().plus(Span::from_secs(secs))),
            blocked_by: blockers
                .iter()
                .map(|blocker| {
                    (ctx.relating(*blocker, RelationType::Blocks, *blocker).id, TaskRef::Number(*blocker))
                })
                .collect(),
            ..TaskDraft::new("t")
        }),
    );
    let made = made.await;
    let too_deep = parent.is_some_and(|parent| world.depth(parent) + 1 > DEPTH_MAX);
    if too_deep {
        assert!(matches!(made, Err(Error::Invalid { .. })), "{made:?}");
        return;
    }
    let made = made.unwrap();
    world.parents.extend(parent.map(|parent| (made.number, parent)));
    world.tasks.push(made.clone());
    let found = ctx.store.read(extraboard_store::verbs::RelationList { task: TaskRef::Number(made.number) });
    for related in found.await.unwrap().related {
        world.relations.push((related.relation.id, related.relation.from, related.relation.to));
    }
    assert_eq!(
        world.relations.iter().filter(|(_, _, blocked)| *blocked == made.number).count(),
        blockers.len()
    );
}

async fn edit(ctx: &TestStore, world: &mut World, task: TaskNumber, change: Edit) {
    let mut edit = TaskEdit::default();
    match change {
        Edit::Points(points) => edit.priority = Some(PriorityEdit::Points(Priority::new(points).unwrap())),
        Edit::Boost(boost) => edit.boost = Some(boost),
        Edit::Kind(kind) => edit.kind = Some(kind),
        Edit::Needs(needs) => edit.needs = Some(Capabilities::parse(needs).unwrap()),
        Edit::Owner(owner) => edit.owner = Some(owner.map(str::to_owned)),
        Edit::Project(project) => {
            edit.project = Some(project.map(|project| ProjectRef::Id(world.projects[project].id)));
        }
        Edit::Gated(gated) => edit.gated_by_parent = Some(gated),
        Edit::Wait(secs) => edit.not_before = Some(secs.map(|secs| ctx.now().plus(Span::from_secs(secs)))),
    }
    let closes = edit.gated_by_parent == Some(true)
        && !world.task(task).gated_by_parent
        && world.parents.get(&task).is_some_and(|parent| reaches(world, task, *parent));
    let edited = ctx.store.write(ctx.patching(person(), task, edit, None)).await;
    assert_eq!(matches!(edited, Err(Error::Cycle(_))), closes, "{edited:?}");
    assert_eq!(edited.is_err(), closes, "{edited:?}");
}

/// Tells whether one task waits for another, through anything that is not deleted.
fn reaches(world: &World, from: TaskNumber, to: TaskNumber) -> bool {
    let mut seen = std::collections::HashSet::from([from]);
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if at == to {
            return true;
        }
        let blocked =
            world.relations.iter().filter(|(_, blocker, _)| *blocker == at).map(|(_, _, then)| *then);
        let gated = world
            .parents
            .iter()
            .filter(|(child, parent)| **parent == at && world.task(**child).gated_by_parent);
        let next: Vec<_> = blocked.chain(gated.map(|(child, _)| *child)).collect();
        stack.extend(next.into_iter().filter(|then| !world.deleted.contains(then) && seen.insert(*then)));
    }
    false
}

fn height(world: &World, task: TaskNumber) -> i64 {
    let children = world.parents.iter().filter(|(_, parent)| **parent == task);
    children.map(|(child, _)| height(world, *child) + 1).max().unwrap_or(0)
}

fn is_below(world: &World, task: TaskNumber, above: TaskNumber) -> bool {
    task == above || world.parents.get(&task).is_some_and(|parent| is_below(world, *parent, above))
}

async fn reparent(ctx: &TestStore, world: &mut World, task: TaskNumber, parent: Option<TaskNumber>) {
    let edit = TaskEdit { parent: Some(parent.map(TaskRef::Number)), ..TaskEdit::default() };
    let done = ctx.store.write(ctx.patching(person(), task, edit, None)).await;
    let Some(parent) = parent else {
        done.unwrap();
        world.parents.remove(&task);
        return;
    };
    let cycle =
        is_below(world, parent, task) || (world.task(task).gated_by_parent && reaches(world, task, parent));
    let too_deep =
        !is_below(world, parent, task) && world.depth(parent) + 1 + height(world, task) > DEPTH_MAX;
    assert_eq!(done.is_err(), cycle || too_deep, "{done:?}");
    if done.is_ok() {
        world.parents.insert(task, parent);
    }
}

async fn relate(ctx: &TestStore, world: &mut World, first: TaskNumber, then: TaskNumber) {
    let known = world.relations.iter().any(|(_, from, to)| (*from, *to) == (first, then));
    let done = ctx.block(first, then).await;
    if first == then {
        assert!(matches!(done, Err(Error::Invalid { .. })), "{done:?}");
        return;
    }
    let cycle = reaches(world, then, first);
    assert_eq!(matches!(done, Err(Error::Cycle(_))), cycle && !known, "{done:?}");
    if let Ok(created) = done {
        assert_eq!(created.existed, known);
        if !known {
            world.relations.push((created.related.relation.id, first, then));
        }
    }
}

async fn unrelate(ctx: &TestStore, world: &mut World, index: Index) {
    if world.relations.is_empty() {
        return;
    }
    let (relation, _, _) = world.relations.remove(index.index(world.relations.len()));
    ctx.store.write(RelationDelete { ctx: ctx.ctx(person()), relation }).await.unwrap();
}

/// Tells the hand-out of a task to end, if it has one.
fn end(ctx: &TestStore, world: &mut World, task: TaskNumber) {
    let out = world.hand_outs.iter_mut().find(|out| out.open && out.claimed.task.number == task);
    if let Some(out) = out {
        out.lease_until = out.lease_until.min(ctx.now().plus(ENDING_LEASE));
    }
}

async fn apply(ctx: &TestStore, world: &mut World, task: TaskNumber, verb: Verb) {
    let allowed = world.task(task).state.after(verb).is_ok();
    let moved = ctx.try_move(person(), task, verb).await;
    assert_eq!(moved.is_ok(), allowed, "{moved:?}");
    if allowed && matches!(verb, Verb::Cancel | Verb::Close) {
        end(ctx, world, task);
    }
}

async fn delete(ctx: &TestStore, world: &mut World, task: TaskNumber) {
    ctx.store.write(TaskDelete { ctx: ctx.ctx(person()), task: TaskRef::Number(task) }).await.unwrap();
    end(ctx, world, task);
    world.deleted.insert(task);
}

async fn claim(ctx: &TestStore, world: &mut World, names: &[usize]) {
    let all = claimers(&world.projects);
    let claimers: Vec<Claimer> = names.iter().map(|index| all[*index].clone()).collect();
    let expected = world.deal(&claimers, ctx.now());
    let requests = claimers.iter().map(|claimer| {
        let name = claimer.name.strip_prefix("agent:").unwrap();
        ClaimRequest { claimer: claimer.clone(), ..ctx.request(name) }
    });
    let answers = ctx.claim_all(requests.collect()).await;
    for ((claimer, expected), answer) in claimers.into_iter().zip(expected).zip(answers) {
        let answer = answer.unwrap();
        assert_eq!(answer.as_ref().ok().map(|claimed| claimed.task.number), expected, "{}", claimer.name);
        if let Ok(claimed) = answer {
            let lease_until = ctx.now().plus(PULL_LEASE);
            world.hand_outs.push(HandOut { claimed, claimer, open: true, lease_until });
        }
    }
}

async fn report(ctx: &TestStore, world: &mut World, index: Index, said: Said) {
    let open: Vec<_> = (0..world.hand_outs.len()).filter(|out| world.hand_outs[*out].open).collect();
    if open.is_empty() {
        return;
    }
    let out = &mut world.hand_outs[*index.get(&open)];
    let report = match said {
        Said::Done => completed("{}"),
        Said::Failed => failed(FailureClass::ExecutionFailed),
        Said::Crashed => failed(FailureClass::Crash),
        Said::Released => Report::Release,
        Said::RateLimited(secs) => Report::Fail {
            class: FailureClass::RateLimited,
            retryable: Retryable::Yes,
            retry_after: Some(Span::from_secs(secs)),
            error: None,
            provider: None,
        },
    };
    ctx.report(&out.claimed, report).await;
    out.open = false;
    let Some(account) = out.claimer.account.clone() else { return };
    match said {
        Said::Done => drop(world.accounts.remove(&account)),
        Said::RateLimited(secs) => {
            let (hits, until) = world.accounts.remove(&account).unwrap_or_default();
            let wait = secs.max(2i64.pow(u32::try_from(hits + 1).unwrap().min(6)));
            let later = until.max(ctx.now().plus(Span::from_secs(wait)));
            world.accounts.insert(account, (hits + 1, later));
        }
        _ => {}
    }
}

async fn sweep(ctx: &TestStore, world: &mut World) {
    ctx.sweep().await;
    for out in &mut world.hand_outs {
        out.open = out.open && out.lease_until > ctx.now();
    }
}

async fn goal(ctx: &TestStore, world: &mut World, project: usize, status: GoalStatus) {
    let edit = GoalEdit { status: Some(status), ..GoalEdit::default() };
    let goal = world.goals[project].id;
    ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal, edit }).await.unwrap();
    ctx.rerank().await;
    let number = world.projects[project].number;
    if status == GoalStatus::Active {
        world.with_goal.insert(number);
    } else {
        world.with_goal.remove(&number);
    }
}

async fn provide(ctx: &TestStore, world: &mut World, task: TaskNumber, path: &str) {
    let id = ArtifactId::from_uuid("01890000-0000-7000-8000-000000000000".parse().unwrap());
    // One id for each path of each project is all there can be.
    let project = world.task(task).project;
    let known = world.provided.contains(&(project, path.to_owned()));
    let id = if known { id } else { ctx.artifact_id() };
    let (task, path) = (TaskRef::Number(task), path.to_owned());
    let provide = ArtifactProvide { ctx: ctx.ctx(person()), id, task, path: path.clone(), content: None };
    assert_eq!(ctx.store.write(provide).await.unwrap().existed, known);
    world.provided.insert((project, path));
}

async fn reorder(ctx: &TestStore, world: &mut World, task: TaskNumber, other: TaskNumber, before: bool) {
    let side = if before { Side::Before } else { Side::After };
    let reorder = TaskReorder {
        ctx: ctx.ctx(person()),
        task: TaskRef::Number(task),
        side,
        other: TaskRef::Number(other),
    };
    let line = world.line(ctx.now());
    let place =
        |line: &[extraboard_core::task::Task], number| line.iter().position(|task| task.number == number);
    let both = place(&line, task).is_some() && place(&line, other).is_some() && task != other;
    let moved = ctx.store.write(reorder).await;
    assert_eq!(moved.is_ok(), both, "{moved:?}");
    if let Ok(moved) = moved {
        let found = world.tasks.iter_mut().find(|found| found.number == task).unwrap();
        *found = moved.task;
        let line = world.line(ctx.now());
        let (mine, others) = (place(&line, task).unwrap(), place(&line, other).unwrap());
        assert_eq!(mine < others, before);
    }
}
