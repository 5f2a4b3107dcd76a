//! Why: one answer for every task, in the words and by the functions of the claim.

use std::collections::BTreeMap;

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::event::EventType;
use extraboard_core::gate::{Account, Claimer, Gate, LimitScope, Limits};
use extraboard_core::id::{Pos, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::project::ProjectStatus;
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_core::why::{Obstacle, Verdict};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ProjectEdit, ProjectRef, Seed, SeedSort, TaskBump, TaskDraft, TaskEdit, Why, WhyAnswer,
};

use super::blockers::blocked_by;
use super::rank::depth_first;
use super::tasks::task_in;
use crate::harness::{TestStore, below, person, puller};

/// What is told of each obstacle: its word, what it is, and what would take it away.
fn told(why: &WhyAnswer) -> Vec<(&'static str, String, String)> {
    why.obstacles.iter().map(|one| (one.word(), one.detail(), one.change())).collect()
}

fn texts(texts: &[(&'static str, &str, &str)]) -> Vec<(&'static str, String, String)> {
    texts.iter().map(|(word, detail, change)| (*word, (*detail).to_owned(), (*change).to_owned())).collect()
}

pub(crate) async fn every_state_has_its_verdict(ctx: &TestStore) {
    let cases = [
        (State::Triage, Verdict::Blocked, "admit it"),
        (State::Backlog, Verdict::Blocked, "admit it"),
        (State::Running, Verdict::Running, "nothing"),
        (State::InReview, Verdict::Blocked, "approve it, or send it back"),
        (State::Blocked, Verdict::Blocked, "retry it"),
        (State::Done, Verdict::Impossible, "reopen it"),
        (State::Failed, Verdict::Blocked, "retry it"),
        (State::TimedOut, Verdict::Blocked, "retry it"),
        (State::Canceled, Verdict::Impossible, "reopen it"),
    ];
    for (state, verdict, change) in cases {
        let task = task_in(ctx, state).await.unwrap();
        let why = ctx.why(task.number, None).await;
        assert_eq!((why.verdict, why.position), (verdict, None), "{state}");
        assert_eq!(told(&why), texts(&[("state", &format!("it is {state}"), change)]));
        assert_eq!(why.view.task, task);
        assert_eq!(why.view.dispatch.is_some(), state == State::Running);
        ctx.delete(task.number).await;
    }
    let task = task_in(ctx, State::Queued).await.unwrap();
    let why = ctx.why(task.number, None).await;
    assert_eq!((why.verdict, why.position, why.obstacles), (Verdict::Next, Some(1), vec![]));
    let missing = Why { task: TaskRef::Number(TaskNumber(999)), claimer: None, now: ctx.now() };
    assert!(matches!(ctx.store.read(missing).await, Err(Error::NoTask(_))));
}

pub(crate) async fn what_holds_a_task_is_named_one_by_one(ctx: &TestStore) {
    let [one, other] = [ctx.add("one").await.number, ctx.add("other").await.number];
    ctx.claim().await;
    let parent = ctx.create(TaskDraft { state: State::Triage, ..TaskDraft::new("parent") }).await.number;
    let draft = TaskDraft {
        gated_by_parent: true,
        artifact: Some("a.md".to_owned()),
        blocked_by: blocked_by(ctx, "", &[one, other]).blocked_by,
        ..below(parent, "held")
    };
    let task = ctx.create(draft).await.number;
    let why = ctx.why(task, None).await;
    assert_eq!((why.verdict, why.position), (Verdict::Held, None));
    let expected = texts(&[
        (
            "blocker",
            &format!("it is blocked by #{one}, which is running"),
            &format!("finish or cancel #{one}, or take the relation back"),
        ),
        (
            "blocker",
            &format!("it is blocked by #{other}, which is queued"),
            &format!("finish or cancel #{other}, or take the relation back"),
        ),
        (
            "parent",
            &format!("its parent #{parent} is triage"),
            &format!("finish #{parent}, or do not gate it by its parent"),
        ),
        ("artifact", "the artifact a.md is missing", "provide a.md"),
    ]);
    assert_eq!(told(&why), expected);
    assert!(why.obstacles.iter().all(|obstacle| obstacle.until().is_none()));
    ctx.apply(task, Verb::Park).await;
    let parked = ctx.why(task, None).await;
    assert_eq!((parked.verdict, parked.score, parked.obstacles.len()), (Verdict::Blocked, None, 5));
}

pub(crate) async fn what_goes_by_itself_says_when(ctx: &TestStore) {
    let due = ctx.now().plus(Span::from_mins(3));
    let later = ctx.create(TaskDraft { not_before: Some(due), ..TaskDraft::new("later") }).await.number;
    let why = ctx.why(later, None).await;
    assert_eq!((why.verdict, why.obstacles[0].until()), (Verdict::Waiting, Some(due)));
    let expected = [("not_before", "its moment has not come", "wait for its moment, or take that back")];
    assert_eq!(told(&why), texts(&expected));

    let reopened = ctx.add("reopened").await.number;
    ctx.claim().await;
    ctx.apply(reopened, Verb::Cancel).await;
    ctx.apply(reopened, Verb::Reopen).await;
    let why = ctx.why(reopened, None).await;
    let ends = ctx.now().plus(Span::from_mins(1));
    assert_eq!((why.verdict, why.obstacles[0].until()), (Verdict::Waiting, Some(ends)));
    let expected =
        [("ending", "its last dispatch has not ended yet", "its holder reports, or its lease ends")];
    assert_eq!(told(&why), texts(&expected));

    let task = ctx.add("t").await.number;
    let account = Account { provider: "anthropic".to_owned(), account: "team".to_owned() };
    let claimer = Claimer { account: Some(account.clone()), ..puller("a") };
    let refused = Report::Fail {
        class: FailureClass::RateLimited,
        retryable: Retryable::Yes,
        retry_after: Some(Span::from_secs(90)),
        error: None,
        provider: None,
    };
    ctx.report(&ctx.claim_as(&claimer).await.unwrap(), refused).await;
    let why = ctx.why(task, Some(claimer)).await;
    let opens = ctx.now().plus(Span::from_secs(90));
    assert_eq!(why.obstacles, [Obstacle::Gate(Gate::RateLimited(account, opens))]);
    assert_eq!((why.verdict, why.obstacles[0].until()), (Verdict::Waiting, Some(opens)));
    let expected = "anthropic/team refuses work for a while";
    assert_eq!(told(&why), texts(&[("rate_limited", expected, "wait, or work on another account")]));
    assert_eq!(ctx.why(task, None).await.verdict, Verdict::Next);
}

pub(crate) async fn every_gate_says_what_is_closed_and_what_would_open_it(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let other = ctx.project("other").await;
    let task = ctx
        .create(TaskDraft {
            kind: Kind::Code,
            doors: Doors::new([Door::Push, Door::Run]).unwrap(),
            needs: Capabilities::parse("rust,sql,go").unwrap(),
            owner: Some("ann".to_owned()),
            project: Some(ProjectRef::Id(project.id)),
            ..TaskDraft::new("t")
        })
        .await
        .number;
    let status = Some(ProjectStatus::Paused);
    ctx.edit_project(&project, ProjectEdit { status, ..ProjectEdit::default() }).await;
    let kinds = BTreeMap::from([(Kind::Code, 0)]);
    let agents = BTreeMap::from([("a".to_owned(), 0)]);
    ctx.limits(Limits { total: Some(0), kinds, agents, project: Some(0), ..Limits::default() }).await;
    let claimer = Claimer {
        project: Some(other.number),
        kinds: vec![Kind::Plan],
        capabilities: Capabilities::parse("sql").unwrap(),
        ..puller("a")
    };
    let raised = "raise the limit";
    let for_anyone = [
        ("paused", "project payments is paused", "resume project payments"),
        ("limit", "0 of at most 0 are handed out", raised),
        ("limit", "0 of at most 0 of kind code are handed out", raised),
        ("limit", "0 of at most 0 of project payments are handed out", raised),
    ];
    let why = ctx.why(task, Some(claimer)).await;
    assert_eq!((why.verdict, why.position), (Verdict::Impossible, None));
    let mut expected = texts(&[
        ("no_match", "the claimer asks for another project", "ask without that filter"),
        ("no_match", "the claimer does not ask for code", "ask without that filter"),
        ("no_match", "it leaves by push or run only", "allow that door"),
        ("no_match", "the claimer lacks go, rust", "claim with go, rust, or drop the need"),
        ("no_match", "it is for agents of ann", "claim for ann"),
    ]);
    expected.extend(texts(&for_anyone));
    expected.extend(texts(&[("limit", "0 of at most 0 of agent agent:a are handed out", raised)]));
    assert_eq!(told(&why), expected);
    // For anyone only what is closed to everybody counts.
    let why = ctx.why(task, None).await;
    assert_eq!((why.verdict, told(&why)), (Verdict::Blocked, texts(&for_anyone)));
}

pub(crate) async fn a_position_is_exact_and_the_next_claim_takes_the_first(ctx: &TestStore) {
    depth_first(ctx).await;
    for (index, kind) in Kind::ALL.iter().enumerate() {
        for _ in 0..=index % 3 {
            ctx.create(TaskDraft { kind: *kind, ..TaskDraft::new("t") }).await;
        }
        ctx.pass(Span::from_mins(13));
    }
    for (place, entry) in (1..).zip(ctx.entries().await) {
        let why = ctx.why(entry.task.number, None).await;
        assert_eq!((why.position, why.score), (Some(place), Some(entry.score)));
        let behind = [(place > 1).then_some(Obstacle::Behind(place - 1))];
        assert_eq!(why.obstacles, behind.into_iter().flatten().collect::<Vec<_>>());
        assert_eq!(why.verdict, if place == 1 { Verdict::Next } else { Verdict::Waiting });
    }
    let queue = ctx.entries().await;
    let second = ctx.why(queue[1].task.number, None).await;
    let change = "work off what is ahead of it, or raise its boost";
    assert_eq!(told(&second), texts(&[("behind", "1 is ahead of it", change)]));
    for entry in queue {
        assert_eq!(ctx.why(entry.task.number, None).await.verdict, Verdict::Next);
        assert_eq!(ctx.claim().await.task.number, entry.task.number);
    }
}

pub(crate) async fn a_position_is_that_of_the_claimer_who_asks(ctx: &TestStore) {
    let project = ctx.project("paused").await;
    let drafts = [
        TaskDraft { owner: Some("ann".to_owned()), ..TaskDraft::new("ann's") },
        TaskDraft { kind: Kind::Plan, ..TaskDraft::new("plan") },
        TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("paused") },
    ];
    for draft in drafts {
        ctx.create(TaskDraft { boost: 100, ..draft }).await;
    }
    let task = ctx.add("t").await.number;
    let status = Some(ProjectStatus::Paused);
    ctx.edit_project(&project, ProjectEdit { status, ..ProjectEdit::default() }).await;
    let position = async |claimer| ctx.why(task, claimer).await.position.unwrap();
    // For anyone: somebody's agent will take the owned one first.
    assert_eq!(position(None).await, 3);
    assert_eq!(position(Some(puller("a"))).await, 2);
    assert_eq!(position(Some(Claimer { owner: Some("ann".to_owned()), ..puller("a") })).await, 3);
    let picky = Claimer { kinds: vec![Kind::Task], ..puller("a") };
    assert_eq!(position(Some(picky.clone())).await, 1);
    assert_eq!(ctx.why(task, Some(picky.clone())).await.verdict, Verdict::Next);
    assert_eq!(ctx.claim_as(&picky).await.unwrap().task.number, task);
}

pub(crate) async fn a_position_is_counted_to_a_thousand(ctx: &TestStore) {
    let (first, now) = (100_001, ctx.now());
    let seed = Seed { first, last: first + 1_199, now, sort: SeedSort::Pipeline };
    ctx.store.write(seed).await.unwrap();
    let queue = ctx.entries().await;
    assert_eq!(queue.len(), 1_200);
    for (place, shown, ahead) in [
        (1, 1, None),
        (2, 2, Some("1 is ahead of it")),
        (999, 999, Some("998 are ahead of it")),
        (1_000, 1_000, Some("999 are ahead of it")),
        (1_001, 1_000, Some("1000 or more are ahead of it")),
        (1_200, 1_000, Some("1000 or more are ahead of it")),
    ] {
        let why = ctx.why(queue[place - 1].task.number, None).await;
        assert_eq!(why.position, Some(shown), "{place}");
        let detail = why.obstacles.first().map(Obstacle::detail);
        assert_eq!(detail.as_deref(), ahead, "{place}");
    }
    ctx.database.raw("DELETE FROM line; DELETE FROM task").await.unwrap();
}

pub(crate) async fn the_answer_is_of_one_snapshot_and_tells_the_last_decisions(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    ctx.sequence().await;
    assert_eq!(ctx.why(task, None).await.pos, Pos(1));
    for by in 1..=6 {
        ctx.pass(Span::from_secs(1));
        let bump = TaskBump { ctx: ctx.ctx(person()), task: TaskRef::Number(task), by };
        ctx.store.write(bump).await.unwrap();
    }
    ctx.add("other").await;
    ctx.sequence().await;
    ctx.pass(Span::from_secs(1));
    let at = ctx.now();
    ctx.claim().await;
    ctx.sequence().await;
    let why = ctx.why(task, None).await;
    assert_eq!(why.pos, Pos(9));
    let decisions: Vec<_> =
        why.decisions.iter().map(|one| (one.pos, one.event_type, one.actor.as_str())).collect();
    let edited = |pos| (Some(Pos(pos)), EventType::TaskEdited, "person:ann");
    let opened = (Some(Pos(9)), EventType::DispatchOpened, "agent:a");
    assert_eq!(decisions, [opened, edited(7), edited(6), edited(5), edited(4)]);
    assert_eq!(why.decisions[0].at, at);
    assert!(why.decisions[1].data.contains("boost"), "{}", why.decisions[1].data);
}

/// Fails unless a claimer is told the same by a claim, by asking why and by name.
async fn check_same_word(ctx: &TestStore, claimer: &Claimer, task: TaskNumber) {
    let nothing = ctx.claim_as(claimer).await.unwrap_err();
    let why = ctx.why(task, Some(claimer.clone())).await;
    let words: Vec<_> = why.obstacles.iter().map(Obstacle::word).collect();
    let word = match nothing.as_str() {
        "held" => "blocker",
        word => word,
    };
    assert_eq!(words, [word]);
    let refused = ctx.start_as(claimer, task).await.unwrap_err();
    if nothing.as_str() != "held" {
        let expected = format!("issue #{task} cannot be started now: {}", why.obstacles[0].detail());
        assert_eq!(refused.to_string(), expected);
    }
    assert!(matches!(refused, Error::NotReady { .. }), "{refused}");
}

pub(crate) async fn the_words_are_those_of_a_claim_that_gets_nothing(ctx: &TestStore) {
    let blocker = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("b") }).await.number;
    let held = ctx.create(blocked_by(ctx, "held", &[blocker])).await.number;
    check_same_word(ctx, &puller("a"), held).await;
    ctx.delete(held).await;
    let due = Some(ctx.now().plus(Span::from_mins(1)));
    let later = ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("later") }).await.number;
    check_same_word(ctx, &puller("a"), later).await;
    ctx.delete(later).await;
    let task = ctx.add("t").await.number;
    check_same_word(ctx, &Claimer { kinds: vec![Kind::Plan], ..puller("a") }, task).await;
    let push = Doors::new([Door::Push]).unwrap();
    ctx.edit(task, TaskEdit { doors: Some(push), ..TaskEdit::default() }).await;
    check_same_word(ctx, &puller("a"), task).await;
    ctx.delete(task).await;
    let task = ctx.add("t").await.number;
    for limits in [
        Limits { total: Some(0), ..Limits::default() },
        Limits { kinds: BTreeMap::from([(Kind::Task, 0)]), ..Limits::default() },
        Limits { agent: Some(0), ..Limits::default() },
    ] {
        ctx.limits(limits).await;
        check_same_word(ctx, &puller("a"), task).await;
    }
    let scope = ctx.why(task, Some(puller("a"))).await.obstacles;
    assert!(matches!(scope[..], [Obstacle::Gate(Gate::Limit { scope: LimitScope::Agent, .. })]));
}
