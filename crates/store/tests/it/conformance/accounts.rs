//! Provider accounts that refuse: nothing is started on them until they work again.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::event::EventType;
use extraboard_core::gate::{Account, AccountGate, Claimer, Nothing};
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::State;
use extraboard_core::task::Place;
use extraboard_store::error::Error;
use extraboard_store::verbs::{Claimed, GateClear, GateList};

use crate::harness::{TestStore, person, puller};

fn account(provider: &str, account: &str) -> Account {
    Account { provider: provider.to_owned(), account: account.to_owned() }
}

fn team() -> Account {
    account("anthropic", "team")
}

fn on(account: Account) -> Claimer {
    Claimer { account: Some(account), adapter: Some("claude".to_owned()), ..puller("a") }
}

fn refused(retry_after: Option<Span>, provider: Option<&str>) -> Report {
    Report::Fail {
        class: FailureClass::RateLimited,
        retryable: Retryable::Yes,
        retry_after,
        error: None,
        provider: provider.map(str::to_owned),
    }
}

async fn gates(ctx: &TestStore) -> Vec<(Account, AccountGate)> {
    ctx.store.read(GateList).await.unwrap()
}

/// Returns until when an account is left alone.
async fn until(ctx: &TestStore, account: &Account) -> Option<Timestamp> {
    gates(ctx).await.into_iter().find(|(found, _)| found == account).map(|(_, gate)| gate.until)
}

/// Claims on the account though its gate may be closed: by waiting for it.
async fn claim_when_open(ctx: &TestStore, account: &Account) -> Claimed {
    if let Some(until) = until(ctx, account).await
        && until > ctx.now()
    {
        ctx.pass(until.since(ctx.now()));
    }
    ctx.claim_as(&on(account.clone())).await.unwrap()
}

pub(crate) async fn l8_a_refusal_stops_selection_on_its_account_alone(ctx: &TestStore) {
    for title in ["first", "second", "third"] {
        ctx.add(title).await;
    }
    let claimed = ctx.claim_as(&on(team())).await.unwrap();
    assert_eq!(claimed.dispatch.account, Some(team()));
    assert_eq!(claimed.dispatch.adapter.as_deref(), Some("claude"));
    let after = ctx.report(&claimed, refused(Some(Span::from_secs(30)), None)).await.task;
    // Others may have the task at once; it has spent nothing.
    assert_eq!(
        (after.state, after.place(), after.counters),
        (State::Queued, Place::Line, claimed.task.counters)
    );
    assert_eq!(ctx.claim_as(&on(team())).await.unwrap_err(), Nothing::RateLimited);
    assert_eq!(ctx.claim_as(&on(account("anthropic", "own"))).await.unwrap().task.title, "first");
    assert_eq!(ctx.claim_as(&on(account("openai", "team"))).await.unwrap().task.title, "second");
    let by_name = ctx.start_as(&on(team()), extraboard_core::id::TaskNumber(3)).await.unwrap_err();
    assert!(matches!(by_name, Error::NotReady { .. }), "{by_name}");
    assert!(by_name.to_string().ends_with("anthropic/team refuses work for a while"), "{by_name}");
    ctx.pass(Span::from_micros(29_999_999));
    assert_eq!(ctx.claim_as(&on(team())).await.unwrap_err(), Nothing::RateLimited);
    ctx.pass(Span::from_micros(1));
    assert_eq!(ctx.claim_as(&on(team())).await.unwrap().task.title, "third");
}

pub(crate) async fn l8_refusals_double_the_wait_to_64_seconds(ctx: &TestStore) {
    ctx.add("t").await;
    let mut waits = Vec::new();
    for hits in 1..=8 {
        let claimed = claim_when_open(ctx, &team()).await;
        ctx.report(&claimed, refused(None, None)).await;
        let [(_, gate)] = gates(ctx).await[..] else { panic!("one account refused") };
        assert_eq!(gate.hits, hits);
        waits.push(gate.until.since(ctx.now()).as_secs());
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 64, 64]);
    let claimed = claim_when_open(ctx, &team()).await;
    ctx.report(&claimed, refused(Some(Span::from_mins(10)), None)).await;
    assert_eq!(until(ctx, &team()).await, Some(ctx.now().plus(Span::from_mins(10))));
}

pub(crate) async fn l8_a_gate_never_shrinks(ctx: &TestStore) {
    for title in ["first", "second", "third"] {
        ctx.add(title).await;
    }
    let mut claimed = Vec::new();
    for _ in 0..3 {
        claimed.push(ctx.claim_as(&on(team())).await.unwrap());
    }
    ctx.report(&claimed[0], refused(Some(Span::from_mins(5)), None)).await;
    let closed = ctx.now().plus(Span::from_mins(5));
    for one in &claimed[1..] {
        ctx.pass(Span::from_secs(1));
        ctx.report(one, refused(Some(Span::from_secs(1)), None)).await;
        assert_eq!(until(ctx, &team()).await, Some(closed));
    }
    assert_eq!(gates(ctx).await[0].1.hits, 3);
    let limited =
        ctx.events().await.into_iter().filter(|event| event.event_type == EventType::AccountLimited);
    assert_eq!(limited.count(), 3);
}

pub(crate) async fn l9_success_clears_the_gate(ctx: &TestStore) {
    for title in ["first", "second", "third"] {
        ctx.add(title).await;
    }
    let [one, other] = [ctx.claim_as(&on(team())).await.unwrap(), ctx.claim_as(&on(team())).await.unwrap()];
    ctx.report(&one, refused(Some(Span::from_mins(5)), None)).await;
    assert_eq!(ctx.claim_as(&on(team())).await.unwrap_err(), Nothing::RateLimited);
    ctx.complete(&other).await;
    assert_eq!(gates(ctx).await, []);
    let again = ctx.claim_as(&on(team())).await.unwrap();
    // It begins anew.
    ctx.report(&again, refused(None, None)).await;
    assert_eq!(until(ctx, &team()).await, Some(ctx.now().plus(Span::from_secs(2))));
}

pub(crate) async fn l9_only_success_of_the_same_account_clears(ctx: &TestStore) {
    for index in 0..5 {
        ctx.add(&index.to_string()).await;
    }
    let mut claimed = Vec::new();
    for account in [Some(team()), Some(team()), Some(account("anthropic", "own")), None] {
        claimed.push(ctx.claim_as(&Claimer { account, ..puller("a") }).await.unwrap());
    }
    ctx.report(&claimed[0], refused(None, None)).await;
    ctx.fail(&claimed[1], FailureClass::ExecutionFailed).await;
    ctx.complete(&claimed[2]).await;
    ctx.complete(&claimed[3]).await;
    assert!(until(ctx, &team()).await.is_some());
}

pub(crate) async fn l9_a_person_may_clear_a_gate(ctx: &TestStore) {
    ctx.add("t").await;
    let claimed = ctx.claim_as(&on(team())).await.unwrap();
    ctx.report(&claimed, refused(None, None)).await;
    let clear = |account| GateClear { ctx: ctx.ctx(person()), account };
    assert!(!ctx.store.write(clear(account("anthropic", ""))).await.unwrap());
    assert!(ctx.store.write(clear(team())).await.unwrap());
    assert!(!ctx.store.write(clear(team())).await.unwrap());
    ctx.claim_as(&on(team())).await.unwrap();
    let cleared =
        ctx.events().await.into_iter().filter(|event| event.event_type == EventType::AccountCleared);
    assert_eq!(cleared.count(), 1);
}

pub(crate) async fn l8_who_names_no_account_is_not_gated(ctx: &TestStore) {
    for title in ["first", "second"] {
        ctx.add(title).await;
    }
    let claimed = ctx.claim().await;
    let after = ctx.report(&claimed, refused(Some(Span::from_secs(30)), None)).await.task;
    assert_eq!(gates(ctx).await, []);
    // There is no gate to close, so the task itself waits.
    assert_eq!(after.place(), Place::Timer(ctx.now().plus(Span::from_secs(30))));
    assert_eq!(ctx.claim().await.task.title, "second");
}

pub(crate) async fn l8_a_refusal_may_name_its_provider_only_when_it_comes(ctx: &TestStore) {
    for title in ["first", "second"] {
        ctx.add(title).await;
    }
    let claimed = ctx.claim().await;
    ctx.report(&claimed, refused(Some(Span::from_secs(30)), Some("openai"))).await;
    let closed = ctx.now().plus(Span::from_secs(30));
    assert_eq!(gates(ctx).await, [(account("openai", ""), AccountGate { hits: 1, until: closed })]);
    assert_eq!(ctx.claim_as(&on(account("openai", ""))).await.unwrap_err(), Nothing::RateLimited);
    ctx.claim_as(&on(account("openai", "own"))).await.unwrap();
    // What was claimed on an account is refused by that account, whatever the report says.
    let named = ctx.claim_as(&on(team())).await.unwrap();
    ctx.report(&named, refused(None, Some("openai"))).await;
    assert_eq!(gates(ctx).await.len(), 2);
    assert!(until(ctx, &team()).await.is_some());
}
