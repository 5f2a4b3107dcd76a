//! Why a claimer gets nothing: each reason, and which one is told where there are several.

use std::collections::BTreeMap;

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::gate::{Account, Claimer, Limits, Nothing};
use extraboard_core::kind::Kind;
use extraboard_core::project::{Project, ProjectStatus};
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_store::verbs::{Claimed, ProjectEdit, ProjectRef, TaskDraft, TaskEdit};

use super::blockers::blocked_by;
use crate::harness::{TestStore, below, puller};

fn account() -> Account {
    Account { provider: "anthropic".to_owned(), account: String::new() }
}

fn on_account() -> Claimer {
    Claimer { account: Some(account()), ..puller("a") }
}

/// Closes the gate of the account, for an hour.
async fn refuse(ctx: &TestStore, claimed: &Claimed) {
    let report = Report::Fail {
        class: FailureClass::RateLimited,
        retryable: Retryable::Yes,
        retry_after: Some(Span::from_mins(60)),
        error: None,
        provider: None,
    };
    ctx.report(claimed, report).await;
}

async fn paused(ctx: &TestStore) -> Project {
    let project = ctx.project("paused").await;
    let status = Some(ProjectStatus::Paused);
    ctx.edit_project(&project, ProjectEdit { status, ..ProjectEdit::default() }).await;
    project
}

fn within(project: &Project, kind: Kind) -> TaskDraft {
    TaskDraft { project: Some(ProjectRef::Id(project.id)), kind, ..TaskDraft::new("t") }
}

async fn nothing(ctx: &TestStore) -> Nothing {
    ctx.try_claim().await.unwrap_err()
}

pub(crate) async fn what_waits_for_nobody_is_empty(ctx: &TestStore) {
    assert_eq!(nothing(ctx).await, Nothing::Empty);
    for state in [State::Triage, State::Backlog] {
        ctx.create(TaskDraft { state, ..TaskDraft::new("t") }).await;
    }
    let running = ctx.add("running").await.number;
    ctx.claim().await;
    assert_eq!(nothing(ctx).await, Nothing::Empty);
    // Reopened while its old dispatch has not ended: it stands nowhere yet.
    ctx.apply(running, Verb::Cancel).await;
    ctx.apply(running, Verb::Reopen).await;
    assert_eq!(nothing(ctx).await, Nothing::Empty);
}

pub(crate) async fn blockers_parents_and_artifacts_are_held(ctx: &TestStore) {
    let blocker = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("t") }).await.number;
    let drafts = [
        blocked_by(ctx, "blocked", &[blocker]),
        TaskDraft { gated_by_parent: true, ..below(blocker, "child") },
        TaskDraft { artifact: Some("a".to_owned()), ..TaskDraft::new("artifact") },
    ];
    for draft in drafts {
        let held = ctx.create(draft).await.number;
        assert_eq!(nothing(ctx).await, Nothing::Held);
        ctx.delete(held).await;
        assert_eq!(nothing(ctx).await, Nothing::Empty);
    }
}

pub(crate) async fn each_gate_has_its_word(ctx: &TestStore) {
    let project = paused(ctx).await;
    let task = ctx.create(within(&project, Kind::Task)).await.number;
    assert_eq!(nothing(ctx).await, Nothing::Paused);
    ctx.delete(task).await;

    let task = ctx.add("t").await.number;
    ctx.limits(Limits { kinds: BTreeMap::from([(Kind::Task, 0)]), ..Limits::default() }).await;
    assert_eq!(nothing(ctx).await, Nothing::Limit);
    ctx.limits(Limits::default()).await;

    refuse(ctx, &ctx.claim_as(&on_account()).await.unwrap()).await;
    assert_eq!(ctx.claim_as(&on_account()).await.unwrap_err(), Nothing::RateLimited);
    ctx.delete(task).await;

    let due = Some(ctx.now().plus(Span::from_secs(1)));
    let task = ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("t") }).await.number;
    assert_eq!(nothing(ctx).await, Nothing::NotBefore);
    ctx.delete(task).await;
}

pub(crate) async fn what_is_not_for_this_claimer_is_no_match(ctx: &TestStore) {
    let [mine, other] = [ctx.project("mine").await, ctx.project("other").await];
    let needs = Capabilities::parse("rust,sql").unwrap();
    let cases = [
        (TaskDraft { doors: Doors::new([Door::Push]).unwrap(), ..TaskDraft::new("door") }, puller("a")),
        (TaskDraft { needs: needs.clone(), ..TaskDraft::new("needs") }, {
            let capabilities = Capabilities::parse("rust").unwrap();
            Claimer { capabilities, ..puller("a") }
        }),
        (TaskDraft { owner: Some("ann".to_owned()), ..TaskDraft::new("owner") }, {
            Claimer { owner: Some("bob".to_owned()), ..puller("a") }
        }),
        (within(&other, Kind::Task), Claimer { project: Some(mine.number), ..puller("a") }),
        (TaskDraft::new("project"), Claimer { project: Some(mine.number), ..puller("a") }),
        (TaskDraft::new("kind"), Claimer { kinds: vec![Kind::Code, Kind::Plan], ..puller("a") }),
    ];
    for (draft, claimer) in cases {
        let task = ctx.create(draft).await;
        assert_eq!(ctx.claim_as(&claimer).await.unwrap_err(), Nothing::NoMatch, "{}", task.title);
        ctx.delete(task.number).await;
    }
}

pub(crate) async fn a_claimer_is_handed_what_it_can_do_for_whom_it_works(ctx: &TestStore) {
    let needs = |words| Capabilities::parse(words).unwrap();
    let owner = || Some("ann".to_owned());
    for draft in [
        TaskDraft { needs: needs("rust,sql"), owner: owner(), ..TaskDraft::new("both") },
        TaskDraft { owner: owner(), kind: Kind::Code, ..TaskDraft::new("owned code") },
        TaskDraft { needs: needs("RUST"), ..TaskDraft::new("rust") },
        TaskDraft { kind: Kind::Plan, ..TaskDraft::new("free plan") },
    ] {
        ctx.create(TaskDraft { boost: 100, ..draft }).await;
    }
    ctx.add("free").await;
    let claimer = |words, owner: Option<String>, kinds: &[Kind]| Claimer {
        capabilities: needs(words),
        owner,
        kinds: kinds.to_vec(),
        ..puller("a")
    };
    let title = async |claimer| ctx.claim_as(&claimer).await.map(|claimed| claimed.task.title);
    // Whoever can do nothing in particular and works for nobody gets what needs neither.
    assert_eq!(title(claimer("", None, &[])).await.unwrap(), "free plan");
    assert_eq!(title(claimer("Rust,go", None, &[Kind::Task])).await.unwrap(), "rust");
    assert_eq!(title(claimer("", owner(), &[Kind::Code, Kind::Plan])).await.unwrap(), "owned code");
    assert_eq!(title(claimer("sql,rust", Some("bob".to_owned()), &[])).await.unwrap(), "free");
    assert_eq!(title(claimer("sql,rust", None, &[])).await, Err(Nothing::NoMatch));
    assert_eq!(title(claimer("sql,rust", owner(), &[])).await.unwrap(), "both");
}

pub(crate) async fn the_reason_that_passes_soonest_is_told(ctx: &TestStore) {
    let blocker = ctx.create(TaskDraft { state: State::Backlog, ..TaskDraft::new("t") }).await.number;
    ctx.create(blocked_by(ctx, "held", &[blocker])).await;
    assert_eq!(nothing(ctx).await, Nothing::Held);
    let due = Some(ctx.now().plus(Span::from_mins(1)));
    ctx.create(TaskDraft { not_before: due, ..TaskDraft::new("later") }).await;
    assert_eq!(nothing(ctx).await, Nothing::NotBefore);
    ctx.create(TaskDraft { owner: Some("ann".to_owned()), ..TaskDraft::new("owned") }).await;
    assert_eq!(nothing(ctx).await, Nothing::NoMatch);
    let project = paused(ctx).await;
    ctx.create(within(&project, Kind::Task)).await;
    assert_eq!(nothing(ctx).await, Nothing::Paused);
    ctx.limits(Limits { kinds: BTreeMap::from([(Kind::Code, 0)]), ..Limits::default() }).await;
    ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("limited") }).await;
    assert_eq!(nothing(ctx).await, Nothing::Limit);
    ctx.create(TaskDraft { kind: Kind::Plan, ..TaskDraft::new("free") }).await;
    refuse(ctx, &ctx.claim_as(&on_account()).await.unwrap()).await;
    assert_eq!(ctx.claim_as(&on_account()).await.unwrap_err(), Nothing::RateLimited);
    assert_eq!(ctx.claim().await.task.title, "free");
}

pub(crate) async fn all_gates_of_a_task_have_to_open(ctx: &TestStore) {
    ctx.add("free").await;
    let free = ctx.claim_as(&on_account()).await.unwrap();
    refuse(ctx, &free).await;
    ctx.delete(free.task.number).await;
    let why = async || ctx.claim_as(&on_account()).await.unwrap_err();
    // Each of these is closed for one more reason, and that one lasts longer.
    let task = ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("t") }).await.number;
    assert_eq!(why().await, Nothing::RateLimited);
    ctx.limits(Limits { total: Some(0), ..Limits::default() }).await;
    assert_eq!(why().await, Nothing::Limit);
    let project = paused(ctx).await;
    let edit = TaskEdit { project: Some(Some(ProjectRef::Id(project.id))), ..TaskEdit::default() };
    ctx.edit(task, edit).await;
    assert_eq!(why().await, Nothing::Paused);
    let edit = TaskEdit { owner: Some(Some("ann".to_owned())), ..TaskEdit::default() };
    ctx.edit(task, edit).await;
    assert_eq!(why().await, Nothing::NoMatch);
}

pub(crate) async fn each_claimer_of_a_batch_is_told_its_own_reason(ctx: &TestStore) {
    ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("t") }).await;
    ctx.limits(Limits { agents: BTreeMap::from([("limited".to_owned(), 0)]), ..Limits::default() }).await;
    let claimers =
        [puller("limited"), Claimer { kinds: vec![Kind::Plan], ..puller("a") }, puller("a"), puller("a")];
    let requests = claimers.iter().map(|claimer| ctx.request_of(claimer)).collect();
    let answers = ctx.claim_all(requests).await.into_iter();
    let answers: Vec<_> = answers.map(|answer| answer.unwrap().map(|claimed| claimed.task.title)).collect();
    // Reasons are told of the line as it is after the batch.
    let empty = Err(Nothing::Empty);
    assert_eq!(answers, [empty.clone(), empty.clone(), Ok("t".to_owned()), empty]);
    ctx.create(TaskDraft { kind: Kind::Code, ..TaskDraft::new("t") }).await;
    let requests = claimers[..2].iter().map(|claimer| ctx.request_of(claimer)).collect();
    let reasons: Vec<_> =
        ctx.claim_all(requests).await.into_iter().map(|answer| answer.unwrap().unwrap_err()).collect();
    assert_eq!(reasons, [Nothing::Limit, Nothing::NoMatch]);
}
