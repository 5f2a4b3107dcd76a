//! Ranks under writers that overlap: what enters the line, and what changes its order.

use extraboard_core::gate::Nothing;
use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::project::GoalStatus;
use extraboard_store::verbs::{
    GoalCreate, GoalDelete, GoalEdit, GoalGet, GoalPatch, HeadAdvance, ProjectEdit, ProjectPatch, ProjectRef,
    Rerank, Reranked, RulesChange, RulesEdit, TaskDraft,
};

use super::{EVENTS, FIRST_LANE, Hold, RANK_LOCK, begin, finished, until_waiting, until_waiting_or};
use crate::harness::{TestStore, person};

fn depth_first() -> RulesEdit {
    RulesEdit { profile: Some(Profile::shipped(ProfileName::DepthFirst)), ..RulesEdit::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_during_a_re_rank_waits_for_the_turn() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    for kind in [Kind::Plan, Kind::Code] {
        ctx.create(TaskDraft { kind, ..TaskDraft::new(kind.as_str()) }).await;
    }
    ctx.rules(depth_first()).await;
    // The turn has locked its tasks, taken them out of line, and cannot put them back.
    let ranks = Hold::of(&ctx, RANK_LOCK).await;
    let turn = begin(&one, Rerank { ctx: ctx.desk() });
    until_waiting(&ctx.database, 1).await;
    let claim = begin(&other, ctx.batch(vec![ctx.request("a"), ctx.request("b"), ctx.request("c")]));
    until_waiting(&ctx.database, 2).await;
    ranks.let_go().await;
    assert_eq!(finished(turn).await.unwrap(), Reranked::More);
    let answers = finished(claim).await.unwrap().into_iter().map(Result::unwrap);
    let mut answers: Vec<_> = answers.map(|answer| answer.map(|claimed| claimed.task.title)).collect();
    assert_eq!(answers.pop(), Some(Err(Nothing::Empty)));
    answers.sort();
    assert_eq!(answers, [Ok("code".to_owned()), Ok("plan".to_owned())]);
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_re_rank_during_a_claim_leaves_what_was_claimed_alone() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    for title in ["first", "second"] {
        ctx.add(title).await;
    }
    ctx.rules(depth_first()).await;
    let events = Hold::of(&ctx, EVENTS).await;
    let claim = begin(&one, ctx.batch(vec![ctx.request("a")]));
    until_waiting(&ctx.database, 1).await;
    let turn = begin(&other, Rerank { ctx: ctx.desk() });
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    let claimed = finished(claim).await.unwrap().pop().unwrap().unwrap().unwrap();
    assert_eq!(finished(turn).await.unwrap(), Reranked::More);
    ctx.rerank().await;
    ctx.audit().await;
    assert_eq!(ctx.entries().await.len(), 1);
    assert_ne!(ctx.claim().await.task.number, claimed.task.number);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_goal_that_changes_waits_for_what_enters_the_line() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    let project = ctx.project("payments").await;
    let goal = ctx.goal(&project).await.id;
    ctx.rerank().await;
    // The task is ranked with the goal and not in line yet.
    let lane = Hold::of(&ctx, FIRST_LANE).await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("t") };
    let create = begin(&one, ctx.creation(draft));
    until_waiting(&ctx.database, 1).await;
    let edit = GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
    let patch = GoalPatch { ctx: ctx.ctx(person()), goal, edit };
    let desk = ctx.desk();
    let change = tokio::spawn(async move {
        other.write(patch).await?;
        while other.write(Rerank { ctx: desk.clone() }).await? == Reranked::More {}
        Ok::<_, extraboard_store::error::Error>(())
    });
    until_waiting_or(&ctx.database, 2, &change).await;
    lane.let_go().await;
    finished(create).await.unwrap();
    finished(change).await.unwrap();
    ctx.audit().await;
    assert_eq!(ctx.entries().await[0].score.goal_bonus, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_enters_the_line_waits_for_a_goal_that_changes() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    let project = ctx.project("payments").await;
    let goal = ctx.goal(&project).await.id;
    ctx.rerank().await;
    let events = Hold::of(&ctx, EVENTS).await;
    let edit = GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
    let change = begin(&one, GoalPatch { ctx: ctx.ctx(person()), goal, edit });
    until_waiting(&ctx.database, 1).await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("t") };
    let create = begin(&other, ctx.creation(draft));
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    finished(change).await.unwrap();
    finished(create).await.unwrap();
    // It stands right without a re-rank, which may have passed its number already.
    ctx.database.raw("DELETE FROM rerank").await.unwrap();
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_enters_the_line_waits_for_rules_that_change() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    let events = Hold::of(&ctx, EVENTS).await;
    let change = RulesChange { ctx: ctx.ctx(person()), edit: depth_first(), if_version: None };
    let change = begin(&one, change);
    until_waiting(&ctx.database, 1).await;
    let create = begin(&other, ctx.creation(TaskDraft::new("t")));
    until_waiting(&ctx.database, 2).await;
    events.let_go().await;
    finished(change).await.unwrap();
    finished(create).await.unwrap();
    ctx.database.raw("DELETE FROM rerank").await.unwrap();
    ctx.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_goal_given_up_while_a_project_takes_it_does_not_count() {
    for (deletes, project_first) in [(false, false), (false, true), (true, false), (true, true)] {
        let ctx = TestStore::postgres().await;
        let [one, other] = ctx.replicas().await;
        let project = ctx.project("payments").await;
        let (title, edit) = ("a goal".to_owned(), GoalEdit::default());
        let create = GoalCreate { ctx: ctx.ctx(person()), id: ctx.goal_id(), title, edit };
        let goal = ctx.store.write(create).await.unwrap().id;
        let take = ProjectPatch {
            ctx: ctx.ctx(person()),
            project: ProjectRef::Id(project.id),
            edit: ProjectEdit { goal: Some(Some(goal)), ..ProjectEdit::default() },
        };
        let give_up = || {
            if deletes {
                let delete = begin(&one, GoalDelete { ctx: ctx.ctx(person()), goal });
                return tokio::spawn(async { finished(delete).await });
            }
            let edit = GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
            let patch = begin(&one, GoalPatch { ctx: ctx.ctx(person()), goal, edit });
            tokio::spawn(async { finished(patch).await.map(drop) })
        };
        let events = Hold::of(&ctx, EVENTS).await;
        let (taking, giving);
        if project_first {
            taking = begin(&other, take);
            until_waiting(&ctx.database, 1).await;
            giving = give_up();
        } else {
            giving = give_up();
            until_waiting(&ctx.database, 1).await;
            taking = begin(&other, take);
        }
        until_waiting(&ctx.database, 2).await;
        events.let_go().await;
        giving.await.unwrap().unwrap();
        finished(taking).await.unwrap();
        assert_eq!(ctx.store.read(GoalGet { goal }).await.is_err(), deletes);
        let counted = ctx.database.raw_int("SELECT goal_active FROM project").await;
        assert_eq!(counted, 0, "deletes {deletes}, project first {project_first}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_that_move_on_wait_for_what_enters_the_line() {
    let ctx = TestStore::postgres().await;
    let [one, other] = ctx.replicas().await;
    let project = ctx.project("payments").await;
    ctx.create(TaskDraft { kind: Kind::Plan, boost: 9, ..TaskDraft::new("ahead") }).await;
    // The task is behind the head, so it leaves that alone, and not in line yet.
    let lane = Hold::of(&ctx, FIRST_LANE).await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("entering") };
    let create = begin(&one, ctx.creation(draft));
    until_waiting(&ctx.database, 1).await;
    assert_eq!(ctx.claim().await.task.title, "ahead");
    let advance = begin(&other, HeadAdvance);
    until_waiting_or(&ctx.database, 2, &advance).await;
    lane.let_go().await;
    finished(create).await.unwrap();
    finished(advance).await.unwrap();
    ctx.audit().await;
    assert_eq!(ctx.claim().await.task.title, "entering");
}
