//! Rules: their versions, and how waiting tasks come to stand by new ones, turn by turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use extraboard_core::event::EventType;
use extraboard_core::gate::Limits;
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::priority::Priority;
use extraboard_core::profile::{Goal, Profile, ProfileName, Ranking};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ProjectRef, Rerank, Reranked, RulesChange, RulesEdit, RulesInit, RulesRead, TaskDraft,
};
use tokio::task::JoinSet;

use crate::harness::{TestStore, person};

/// More than two turns.
const TASKS: usize = 1_100;
/// How many turns they take: full ones, the rest, and one that finds nothing more.
const TURNS: usize = 4;
const WRITERS: usize = 16;

/// Adds tasks of mixed kinds and priorities.
async fn fill(ctx: &Arc<TestStore>, project: Option<&ProjectRef>) {
    let mut running = JoinSet::new();
    for writer in 0..WRITERS {
        let (ctx, project) = (Arc::clone(ctx), project.cloned());
        running.spawn(async move {
            for index in (writer..TASKS).step_by(WRITERS) {
                let points = 1 + i64::try_from(index * 37 % 100).unwrap();
                let draft = TaskDraft {
                    kind: Kind::ALL[index % Kind::ALL.len()],
                    priority: Priority::new(points).unwrap(),
                    project: project.clone(),
                    ..TaskDraft::new("t")
                };
                ctx.create(draft).await;
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

fn depth_first() -> RulesEdit {
    RulesEdit { profile: Some(Profile::shipped(ProfileName::DepthFirst)), ..RulesEdit::default() }
}

async fn turn(ctx: &TestStore) -> Reranked {
    ctx.store.write(Rerank { ctx: ctx.desk() }).await.unwrap()
}

async fn is_reranking(ctx: &TestStore) -> bool {
    ctx.store.read(RulesRead).await.unwrap().1
}

/// Fails unless the queue is in the order a profile gives, reckoned task by task.
async fn check_queue(ctx: &TestStore, profile: &Profile, goal: Goal) {
    let entries = ctx.entries().await;
    let ranking = Ranking { profile: profile.clone(), goal };
    let orders: Vec<_> =
        entries.iter().map(|entry| entry.task.rank(&ranking).unwrap().order(profile, ctx.now())).collect();
    assert!(orders.is_sorted());
}

pub(crate) async fn a_profile_change_moves_tasks_in_turns_and_claims_go_on(ctx: &Arc<TestStore>) {
    fill(ctx, None).await;
    let depth_first = depth_first();
    ctx.rules(depth_first.clone()).await;
    assert!(is_reranking(ctx).await);
    let mut claimed = Vec::new();
    for _ in 0..TURNS {
        assert_eq!(turn(ctx).await, Reranked::More);
        claimed.push(ctx.claim().await.task.number);
        ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("new") }).await;
        ctx.audit().await;
    }
    ctx.rerank().await;
    assert!(!is_reranking(ctx).await);
    claimed.sort_unstable();
    claimed.dedup();
    assert_eq!(claimed.len(), TURNS);
    let entries = ctx.entries().await;
    assert_eq!(entries.len(), TASKS);
    assert!(entries.iter().all(|entry| !claimed.contains(&entry.task.number)));
    check_queue(ctx, &depth_first.profile.unwrap(), Goal::None).await;
    let events = ctx.events().await;
    let count = |event_type| events.iter().filter(|event| event.event_type == event_type).count();
    assert_eq!((count(EventType::RulesChanged), count(EventType::RulesApplied)), (1, 1));
}

pub(crate) async fn a_re_rank_goes_on_after_a_crash_between_turns(ctx: &Arc<TestStore>) {
    let other = Arc::new(ctx.another().await);
    fill(&other, None).await;
    let depth_first = depth_first();
    other.rules(depth_first.clone()).await;
    assert_eq!(turn(&other).await, Reranked::More);
    let moved = "SELECT COUNT(*) FROM line WHERE level > 0";
    assert_eq!(other.database.raw_int(moved).await, 500);
    let Ok(other) = Arc::try_unwrap(other) else { panic!("somebody else has the store") };
    let other = other.reopened().await;
    assert!(is_reranking(&other).await);
    other.claim().await;
    other.audit().await;
    assert_eq!(turn(&other).await, Reranked::More);
    assert!(other.database.raw_int(moved).await >= 999);
    other.rerank().await;
    assert!(!is_reranking(&other).await);
    other.audit().await;
    check_queue(&other, &depth_first.profile.unwrap(), Goal::None).await;
}

pub(crate) async fn a_change_during_a_re_rank_is_followed_by_another(ctx: &Arc<TestStore>) {
    fill(ctx, None).await;
    ctx.rules(depth_first()).await;
    assert_eq!(turn(ctx).await, Reranked::More);
    let mut pipeline = Profile::shipped(ProfileName::Pipeline);
    pipeline.set("code", 999).unwrap();
    ctx.rules(RulesEdit { profile: Some(pipeline.clone()), ..RulesEdit::default() }).await;
    ctx.rerank().await;
    assert!(!is_reranking(ctx).await);
    ctx.audit().await;
    check_queue(ctx, &pipeline, Goal::None).await;
}

pub(crate) async fn a_goal_moves_the_tasks_of_its_project_in_turns(ctx: &Arc<TestStore>) {
    let project = ctx.project("payments").await;
    let foreign = ctx.add("foreign").await;
    fill(ctx, Some(&ProjectRef::Id(project.id))).await;
    ctx.goal(&project).await;
    for _ in 0..TURNS {
        assert_eq!(turn(ctx).await, Reranked::More);
    }
    assert_eq!(turn(ctx).await, Reranked::Done);
    ctx.audit().await;
    ctx.delete(foreign.number).await;
    check_queue(ctx, &Profile::shipped(ProfileName::Pipeline), Goal::Active).await;
}

pub(crate) async fn a_database_takes_its_first_rules_once(ctx: &TestStore) {
    let (unset, _) = ctx.store.read(RulesRead).await.unwrap();
    assert_eq!((unset.version, unset.profile.name), (0, ProfileName::Pipeline));
    assert!(unset.limits.is_empty());
    let [one, other] = ctx.replicas().await;
    let limited = |total| RulesInit {
        edit: RulesEdit { limits: Some(Limits { total, ..Limits::default() }), ..RulesEdit::default() },
    };
    let (one, other) = tokio::join!(one.write(limited(Some(1))), other.write(limited(Some(2))));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one, other);
    assert_eq!(one.version, 1);
    let again = ctx.store.write(RulesInit { edit: depth_first() }).await.unwrap();
    assert_eq!(again, one);
    assert!(!is_reranking(ctx).await);
    assert_eq!(ctx.store.read(RulesRead).await.unwrap().0, one);
}

pub(crate) async fn a_change_of_rules_may_name_the_version_it_has_seen(ctx: &TestStore) {
    let change = |if_version, poll_interval_secs| RulesChange {
        ctx: ctx.ctx(person()),
        edit: RulesEdit { poll_interval_secs: Some(poll_interval_secs), ..RulesEdit::default() },
        if_version,
    };
    assert_eq!(ctx.store.write(change(Some(0), 5)).await.unwrap().version, 1);
    for stale in [0, 2] {
        let refused = ctx.store.write(change(Some(stale), 6)).await.unwrap_err();
        assert!(matches!(refused, Error::Conflict(_)), "{refused}");
        assert!(refused.to_string().contains("version 1"), "{refused}");
    }
    assert_eq!(ctx.store.read(RulesRead).await.unwrap().0.poll_interval_secs, 5);
    assert_eq!(ctx.store.write(change(None, 7)).await.unwrap().version, 2);
    let events = ctx.events().await;
    let changed = events.iter().filter(|event| event.event_type == EventType::RulesChanged);
    assert_eq!(changed.count(), 2);
    assert!(!is_reranking(ctx).await);
}

pub(crate) async fn two_changes_that_saw_the_same_version_are_not_both_taken(ctx: &TestStore) {
    let [one, other] = ctx.replicas().await;
    for version in 0..20 {
        let change = |secs| RulesChange {
            ctx: ctx.ctx(person()),
            edit: RulesEdit { poll_interval_secs: Some(secs), ..RulesEdit::default() },
            if_version: Some(version),
        };
        let secs = 2 * version + 2;
        let (one, other) = tokio::join!(one.write(change(secs)), other.write(change(secs + 1)));
        let refused = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(matches!(refused[..], [Error::Conflict(_)]), "{refused:?}");
        assert_eq!(ctx.store.read(RulesRead).await.unwrap().0.version, version + 1);
    }
}

pub(crate) async fn every_number_and_every_limit_comes_back_as_it_was_written(ctx: &TestStore) {
    for name in ProfileName::ALL {
        let mut profile = Profile::shipped(*name);
        for (number, key) in (1..).zip(Profile::keys()) {
            profile.set(key, number).unwrap();
        }
        let limits = Limits {
            total: Some(50),
            kinds: Kind::ALL.iter().copied().zip(0..).collect(),
            project: Some(4),
            agent: Some(3),
            agents: BTreeMap::from([("räuber 'x'".to_owned(), 0), ("b".to_owned(), 9)]),
            account: Some(2),
        };
        let edit = RulesEdit {
            profile: Some(profile.clone()),
            limits: Some(limits.clone()),
            poll_interval_secs: Some(17),
        };
        let written = ctx.rules(edit).await;
        let (read, _) = ctx.store.read(RulesRead).await.unwrap();
        assert_eq!(read, written);
        assert_eq!((&read.profile, &read.limits, read.poll_interval_secs), (&profile, &limits, 17));
        ctx.rerank().await;
    }
}

pub(crate) async fn what_enters_during_a_re_rank_stands_by_the_new_rules(ctx: &TestStore) {
    for title in ["first", "second"] {
        ctx.add(title).await;
    }
    let held = ctx.claim().await;
    ctx.rules(depth_first()).await;
    // It leaves and enters again before its turn comes.
    ctx.report(&held, extraboard_core::report::Report::Release).await;
    let level = |number: TaskNumber| format!("SELECT level FROM line WHERE task = {number}");
    assert_eq!(ctx.database.raw_int(&level(held.task.number)).await, 60);
    assert_eq!(ctx.database.raw_int(&level(TaskNumber(2))).await, 0);
    ctx.rerank().await;
    assert_eq!(ctx.database.raw_int(&level(TaskNumber(2))).await, 60);
}
