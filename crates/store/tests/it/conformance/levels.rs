//! Levels: what is closed at the head of one hides nothing behind it.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::gate::{Claimer, Limits};
use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_core::why::Verdict;
use extraboard_store::verbs::TaskDraft;

use crate::harness::TestStore;

fn of(kind: Kind, title: &str) -> TaskDraft {
    TaskDraft { kind, ..TaskDraft::new(title) }
}

pub(crate) async fn a_closed_head_of_a_level_does_not_hide_the_rest_of_it(ctx: &TestStore) {
    ctx.profile(Profile::shipped(ProfileName::DepthFirst)).await;
    for index in 0..3 {
        let needs = Capabilities::parse("gpu").unwrap();
        ctx.create(TaskDraft { needs, ..of(Kind::Code, &format!("closed {index}")) }).await;
    }
    let open = ctx.create(of(Kind::Code, "open")).await;
    ctx.create(of(Kind::Plan, "lower level")).await;
    let claimer = Claimer::anyone("agent:a", extraboard_core::doors::Door::Pull);
    assert_eq!(ctx.why(open.number, Some(claimer)).await.verdict, Verdict::Next);
    assert_eq!(ctx.claim().await.task.title, "open");
    assert_eq!(ctx.claim().await.task.title, "lower level");
}

pub(crate) async fn many_levels_are_read_only_as_far_as_they_matter(ctx: &TestStore) {
    ctx.profile(Profile::shipped(ProfileName::DepthFirst)).await;
    for boost in 0..60 {
        ctx.create(TaskDraft { boost: boost * 7 % 60, ..of(Kind::Task, "t") }).await;
    }
    let mut boosts = Vec::new();
    for _ in 0..4 {
        let requests = (0..15).map(|_| ctx.request("a")).collect();
        for answer in ctx.claim_all(requests).await {
            boosts.push(answer.unwrap().unwrap().task.boost);
        }
    }
    assert_eq!(boosts, (0..60).rev().collect::<Vec<_>>());
}

pub(crate) async fn behind_a_reached_limit_the_order_still_shows(ctx: &TestStore) {
    let tasks = [ctx.add("1").await, ctx.add("2").await, ctx.add("3").await];
    ctx.limits(Limits { total: Some(0), ..Limits::default() }).await;
    for (place, task) in (1..).zip(&tasks) {
        let why = ctx.why(task.number, None).await;
        assert_eq!((why.verdict, why.position), (Verdict::Blocked, Some(place)), "{}", task.title);
    }
}
