//! Limits: how much may be handed out at once, exactly.

use std::collections::BTreeMap;

use extraboard_core::gate::{Account, Claimer, Gate, LimitScope, Limits, Nothing};
use extraboard_core::id::TaskNumber;
use extraboard_core::kind::Kind;
use extraboard_core::project::Project;
use extraboard_core::reason::Reason;
use extraboard_core::report::Report;
use extraboard_core::state::Verb;
use extraboard_core::status::Status;
use extraboard_core::why::Obstacle;
use extraboard_store::error::Error;
use extraboard_store::verbs::{Claimed, ProjectEdit, ProjectRef, TaskDraft, TaskEdit};

use crate::harness::{TestStore, person, puller};

fn of_kind(kind: Kind) -> TaskDraft {
    TaskDraft { kind, ..TaskDraft::new(kind.as_str()) }
}

fn within(project: &Project) -> TaskDraft {
    TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new(project.name.clone()) }
}

async fn add(ctx: &TestStore, count: usize, draft: TaskDraft) {
    for _ in 0..count {
        ctx.create(draft.clone()).await;
    }
}

fn account(name: &str) -> Account {
    Account { provider: "anthropic".to_owned(), account: name.to_owned() }
}

fn on(name: &str, account: Account) -> Claimer {
    Claimer { account: Some(account), ..puller(name) }
}

/// Claims one by one for these claimers; returns what each got, by title.
async fn singly(ctx: &TestStore, claimers: &[Claimer]) -> Vec<Result<String, Nothing>> {
    let mut got = Vec::new();
    for claimer in claimers {
        got.push(ctx.claim_as(claimer).await.map(|claimed| claimed.task.title));
    }
    got
}

/// Claims for these claimers in one batch.
async fn together(ctx: &TestStore, claimers: &[Claimer]) -> Vec<Result<String, Nothing>> {
    let requests = claimers.iter().map(|claimer| ctx.request_of(claimer)).collect();
    let answers = ctx.claim_all(requests).await.into_iter();
    answers.map(|answer| answer.unwrap().map(|claimed| claimed.task.title)).collect()
}

fn got(words: &[&str]) -> Vec<Result<String, Nothing>> {
    let answer = |word: &&str| match *word {
        "(limit)" => Err(Nothing::Limit),
        title => Ok(title.to_owned()),
    };
    words.iter().map(answer).collect()
}

pub(crate) async fn l7_a_limit_of_a_kind_counts_running_and_ending(ctx: &TestStore) {
    add(ctx, 4, of_kind(Kind::Code)).await;
    add(ctx, 1, of_kind(Kind::Plan)).await;
    ctx.limits(Limits { kinds: BTreeMap::from([(Kind::Code, 2)]), ..Limits::default() }).await;
    let coder = Claimer { kinds: vec![Kind::Code], ..puller("a") };
    let [one, _two] = [ctx.claim_as(&coder).await.unwrap(), ctx.claim_as(&coder).await.unwrap()];
    assert_eq!(ctx.claim_as(&coder).await.unwrap_err(), Nothing::Limit);
    // What was told to end still runs somewhere.
    ctx.terminate(&one.dispatch, Reason::CooperativePreemption).await;
    assert_eq!(ctx.claim_as(&coder).await.unwrap_err(), Nothing::Limit);
    assert_eq!(ctx.claim().await.task.title, "plan");
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    ctx.report(&one, Report::Release).await;
    assert_eq!(ctx.claim_as(&coder).await.unwrap().task.title, "code");
    assert_eq!(ctx.claim_as(&coder).await.unwrap_err(), Nothing::Limit);
}

pub(crate) async fn l7_a_canceled_task_counts_until_its_dispatch_is_closed(ctx: &TestStore) {
    add(ctx, 2, TaskDraft::new("t")).await;
    ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
    let claimed = ctx.claim().await;
    ctx.apply(claimed.task.number, Verb::Cancel).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    ctx.pass(extraboard_core::clock::Span::from_mins(1));
    assert_eq!(ctx.sweep().await, 1);
    ctx.claim().await;
}

pub(crate) async fn l7_an_edit_of_the_kind_does_not_move_what_is_counted(ctx: &TestStore) {
    add(ctx, 2, of_kind(Kind::Code)).await;
    ctx.limits(Limits { kinds: BTreeMap::from([(Kind::Code, 1)]), ..Limits::default() }).await;
    let claimed = ctx.claim().await;
    let edit = TaskEdit { kind: Some(Kind::Plan), ..TaskEdit::default() };
    ctx.edit(claimed.task.number, edit).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    ctx.complete(&claimed).await;
    assert_eq!(ctx.claim().await.task.title, "code");
}

pub(crate) async fn limits_of_projects_are_general_or_their_own(ctx: &TestStore) {
    let [general, own, free] =
        [ctx.project("general").await, ctx.project("own").await, ctx.project("free").await];
    let run_limit = |limit| ProjectEdit { run_limit: Some(limit), ..ProjectEdit::default() };
    ctx.edit_project(&own, run_limit(Some(2))).await;
    ctx.edit_project(&free, run_limit(Some(99))).await;
    for project in [&general, &own, &free] {
        add(ctx, 3, within(project)).await;
    }
    let only = |project: &Project| Claimer { project: Some(project.number), ..puller("a") };
    // Until somebody says so only a project's own limit counts.
    assert_eq!(singly(ctx, &vec![only(&general); 2]).await, got(&["general", "general"]));
    assert_eq!(singly(ctx, &vec![only(&own); 3]).await, got(&["own", "own", "(limit)"]));
    ctx.limits(Limits { project: Some(1), ..Limits::default() }).await;
    assert_eq!(singly(ctx, &[only(&general)]).await, got(&["(limit)"]));
    assert_eq!(singly(ctx, &vec![only(&free); 3]).await, got(&["free", "free", "free"]));
    // A task without a project is nobody's.
    add(ctx, 2, TaskDraft::new("outside")).await;
    assert_eq!(singly(ctx, &vec![puller("a"); 3]).await, got(&["outside", "outside", "(limit)"]));
    ctx.edit_project(&own, run_limit(None)).await;
    ctx.limits(Limits { project: Some(3), ..Limits::default() }).await;
    assert_eq!(singly(ctx, &vec![puller("a"); 2]).await, got(&["general", "own"]));
}

pub(crate) async fn limits_of_agents_are_general_or_by_name(ctx: &TestStore) {
    add(ctx, 9, TaskDraft::new("t")).await;
    let agents = BTreeMap::from([("strong".to_owned(), 2), ("off".to_owned(), 0)]);
    ctx.limits(Limits { agent: Some(1), agents, ..Limits::default() }).await;
    let claimers = ["a", "a", "strong", "strong", "strong", "off", "b"].map(puller);
    let expected = got(&["t", "(limit)", "t", "t", "(limit)", "(limit)", "t"]);
    assert_eq!(singly(ctx, &claimers).await, expected);
    // Persons and whoever gives no name have no limit.
    for caller in [person(), extraboard_core::caller::Caller::Anonymous] {
        for _ in 0..2 {
            let claimer = Claimer::anyone(caller.to_string(), extraboard_core::doors::Door::Pull);
            let request =
                extraboard_store::verbs::ClaimRequest { caller: caller.clone(), claimer, ..ctx.request("") };
            ctx.claim_with(request).await.unwrap().unwrap();
        }
    }
}

pub(crate) async fn limits_of_accounts_count_what_is_worked_on_there(ctx: &TestStore) {
    add(ctx, 9, TaskDraft::new("t")).await;
    ctx.limits(Limits { account: Some(2), ..Limits::default() }).await;
    let team = account("team");
    let claimers =
        [on("a", team.clone()), on("b", team.clone()), on("c", team), on("c", account("own")), puller("c")];
    assert_eq!(singly(ctx, &claimers).await, got(&["t", "t", "(limit)", "t", "t"]));
    let gates = ctx.why(TaskNumber(9), Some(claimers[0].clone())).await.obstacles;
    let gate = Gate::Limit { scope: LimitScope::Account, of: "anthropic/team".to_owned(), limit: 2, used: 2 };
    assert!(gates.contains(&Obstacle::Gate(gate)), "{gates:?}");
}

pub(crate) async fn the_total_is_the_limit_of_everything(ctx: &TestStore) {
    add(ctx, 3, of_kind(Kind::Code)).await;
    add(ctx, 3, of_kind(Kind::Plan)).await;
    ctx.limits(Limits { total: Some(2), ..Limits::default() }).await;
    let [one, _other] = [ctx.claim().await, ctx.claim().await];
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    assert_eq!(ctx.queue_titles().await, Vec::<String>::new());
    ctx.complete(&one).await;
    ctx.claim().await;
    // A limit that is lowered ends nothing; one that is raised counts at once.
    ctx.limits(Limits { total: Some(0), ..Limits::default() }).await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    ctx.limits(Limits { total: Some(3), ..Limits::default() }).await;
    ctx.claim().await;
    ctx.limits(Limits::default()).await;
    ctx.claim().await;
}

/// Fills a line in which kinds alternate and more stand at the head than may be handed out.
async fn mixed_line(ctx: &TestStore) -> [Project; 2] {
    let projects = [ctx.project("one").await, ctx.project("other").await];
    for index in 0..80_usize {
        let small = i64::try_from(index).unwrap();
        let kind = if index < 66 { Kind::Code } else { Kind::ALL[index % Kind::ALL.len()] };
        let draft = if index % 3 == 0 { TaskDraft::new("") } else { within(&projects[index % 2]) };
        ctx.create(TaskDraft { title: index.to_string(), kind, boost: 100 - small, ..draft }).await;
    }
    projects
}

pub(crate) async fn limits_count_within_a_batch(ctx: &TestStore) {
    let limits = || Limits {
        total: Some(15),
        kinds: BTreeMap::from([(Kind::Code, 4), (Kind::Plan, 1)]),
        project: Some(3),
        agent: Some(4),
        account: Some(3),
        ..Limits::default()
    };
    let claimers: Vec<_> = (0..30)
        .map(|index| match index % 3 {
            0 => on(["a", "b", "c"][index % 7 % 3], account("team")),
            1 => Claimer { kinds: vec![Kind::Code, Kind::Signal], ..puller("d") },
            _ => puller(["e", "f"][index % 2]),
        })
        .collect();
    mixed_line(ctx).await;
    ctx.limits(limits()).await;
    let other = TestStore::sqlite().await;
    mixed_line(&other).await;
    other.limits(limits()).await;
    let (together, singly) = (together(ctx, &claimers).await, singly(&other, &claimers).await);
    assert_eq!(
        together.iter().map(|got| got.as_ref().ok()).collect::<Vec<_>>(),
        singly.iter().map(|got| got.as_ref().ok()).collect::<Vec<_>>()
    );
    let handed_out = together.iter().filter(|got| got.is_ok()).count();
    assert!((5..=15).contains(&handed_out), "{handed_out}");
}

pub(crate) async fn a_batch_that_reaches_a_limit_says_so(ctx: &TestStore) {
    add(ctx, 3, TaskDraft::new("t")).await;
    ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
    assert_eq!(together(ctx, &vec![puller("a"); 3]).await, got(&["t", "(limit)", "(limit)"]));
}

/// Asks for one particular task and expects to be told why not.
async fn check_refused(ctx: &TestStore, claimer: &Claimer, number: TaskNumber, why: &str) {
    let refused = ctx.start_as(claimer, number).await.unwrap_err();
    assert!(matches!(refused, Error::NotReady { .. }), "{refused}");
    assert_eq!(refused.to_string(), format!("issue #{number} cannot be started now: {why}"));
}

pub(crate) async fn a_task_asked_for_by_name_obeys_limits(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        tasks.push(ctx.create(TaskDraft { kind: Kind::Code, ..within(&project) }).await.number);
    }
    let claimer = on("a", account("team"));
    let opened = ctx.start_as(&claimer, tasks[0]).await.unwrap().opened.unwrap();
    let cases = [
        (Limits { total: Some(1), ..Limits::default() }, "1 of at most 1 are handed out"),
        (
            Limits { kinds: BTreeMap::from([(Kind::Code, 1)]), ..Limits::default() },
            "1 of at most 1 of kind code are handed out",
        ),
        (
            Limits { project: Some(1), ..Limits::default() },
            "1 of at most 1 of project payments are handed out",
        ),
        (Limits { agent: Some(1), ..Limits::default() }, "1 of at most 1 of agent agent:a are handed out"),
        (
            Limits { account: Some(1), ..Limits::default() },
            "1 of at most 1 of account anthropic/team are handed out",
        ),
    ];
    for (limits, why) in cases {
        ctx.limits(limits).await;
        check_refused(ctx, &claimer, tasks[1], why).await;
        assert_eq!(ctx.get(tasks[1]).await.fence.0, 0);
    }
    // An ending dispatch counts here, too, and what was opened this way counts for claims.
    ctx.limits(Limits { total: Some(1), ..Limits::default() }).await;
    ctx.terminate(&opened, Reason::CooperativePreemption).await;
    check_refused(ctx, &claimer, tasks[1], "1 of at most 1 are handed out").await;
    assert_eq!(ctx.try_claim().await.unwrap_err(), Nothing::Limit);
    let task = ctx.get(tasks[0]).await;
    ctx.report(&Claimed { task, dispatch: opened }, Report::Release).await;
    ctx.start_as(&claimer, tasks[1]).await.unwrap();
}

pub(crate) async fn a_person_asks_by_name_for_anything_but_what_is_limited_or_paused(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let needs = extraboard_core::capabilities::Capabilities::parse("rust").unwrap();
    let draft = TaskDraft { needs, owner: Some("bob".to_owned()), ..within(&project) };
    let task = ctx.create(draft).await.number;
    check_refused(ctx, &puller("a"), task, "the claimer lacks rust").await;
    let paused = |status| ProjectEdit { status: Some(status), ..ProjectEdit::default() };
    ctx.edit_project(&project, paused(extraboard_core::project::ProjectStatus::Paused)).await;
    let refused = ctx.ask(person(), task, Status::InProgress).await.unwrap_err();
    assert!(refused.to_string().ends_with("project payments is paused"), "{refused}");
    ctx.edit_project(&project, paused(extraboard_core::project::ProjectStatus::Active)).await;
    ctx.limits(Limits { total: Some(0), agent: Some(0), ..Limits::default() }).await;
    let refused = ctx.ask(person(), task, Status::InProgress).await.unwrap_err();
    assert!(refused.to_string().ends_with("0 of at most 0 are handed out"), "{refused}");
    ctx.limits(Limits { agent: Some(0), ..Limits::default() }).await;
    let patched = ctx.ask(person(), task, Status::InProgress).await.unwrap();
    assert_eq!(patched.opened.unwrap().holder, "person:ann");
}
