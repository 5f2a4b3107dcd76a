//! Broken prompts: a template that cannot be written never stops the line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::gate::Nothing;
use extraboard_core::id::{Fence, TaskNumber};
use extraboard_core::inbox::InboxKind;
use extraboard_core::state::{State, Verb};
use extraboard_core::status::Status;
use extraboard_core::task::{Place, Task};
use extraboard_core::template::Version;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimBatch, TaskDraft, TaskEdit, TaskPatch, TemplateDelete, TemplateEdit, TemplateRef,
};
use serde_json::Value as Json;
use tokio::task::JoinSet;

use crate::harness::{Answer, TestStore, person};
use crate::prompting::scribe;

const FIVE_MINUTES: Span = Span::from_mins(5);
/// How many tasks one claim puts aside at most.
const PUT_ASIDE_MAX: usize = 64;

impl TestStore {
    /// Adds a template that cannot be written for tasks titled `bad`.
    async fn break_bad(&self) -> Version {
        let template = self.bare_template("a", TemplateEdit::default()).await;
        self.version(&template, "broken for bad").await
    }

    async fn add_all(&self, titles: &[&str]) -> Vec<TaskNumber> {
        let mut numbers = Vec::new();
        for title in titles {
            numbers.push(self.add(title).await.number);
        }
        numbers
    }

    /// Puts the one task aside that stands in line.
    async fn put_aside(&self) -> Task {
        let bad = self.add("bad").await.number;
        assert_eq!(self.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
        let task = self.get(bad).await;
        assert!(task.prompt_broken);
        task
    }

    /// Lists the tasks whose prompts wait for a person.
    async fn broken_numbers(&self) -> Vec<TaskNumber> {
        self.broken_prompts().await.into_iter().map(|item| item.task).collect()
    }
}

fn titles(answers: Vec<Answer>) -> Vec<String> {
    answers.into_iter().filter_map(|answer| answer.unwrap().ok()).map(|claimed| claimed.task.title).collect()
}

pub(crate) async fn a11_a_task_whose_prompt_is_broken_stays_queued_and_the_next_is_handed_out(
    ctx: &TestStore,
) {
    ctx.break_bad().await;
    let [bad, good] = [ctx.add("bad").await, ctx.add("good").await];
    let claimed = ctx.claim_prompted().await;
    assert_eq!(claimed.task.number, good.number);
    let put_aside = ctx.get(bad.number).await;
    let error = "template a version 1: nothing can be written for bad";
    let due = ctx.now().plus(FIVE_MINUTES);
    let expected = Task {
        not_before: Some(due),
        prompt_broken: true,
        last_error: Some(error.to_owned()),
        ..bad.clone()
    };
    assert_eq!(put_aside, expected);
    assert_eq!(
        (put_aside.state, put_aside.fence, put_aside.place()),
        (State::Queued, Fence(0), Place::Timer(due))
    );
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM dispatch").await, 1);
    let inbox = ctx.broken_prompts().await;
    assert_eq!((inbox.len(), inbox[0].task, inbox[0].kind), (1, bad.number, InboxKind::BrokenPrompt));
    assert_eq!(inbox[0].text.as_deref(), Some(error));
    let told = ctx.events().await;
    let told: Vec<_> = told.iter().filter(|event| event.event_type == EventType::TaskNeedsPerson).collect();
    let data: Json = serde_json::from_str(&told[0].data).unwrap();
    assert_eq!((told.len(), told[0].task, told[0].dispatch), (1, Some(bad.number), None));
    assert_eq!((&data["reason"], &data["state"]), (&"prompt_broken".into(), &"queued".into()));
    assert_eq!(data["error"], error);
}

pub(crate) async fn a11_it_is_tried_again_and_asked_for_once(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    let bad = ctx.put_aside().await;
    assert_eq!(ctx.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
    ctx.pass(FIVE_MINUTES);
    assert_eq!(ctx.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
    assert_eq!(ctx.get(bad.number).await.not_before, Some(ctx.now().plus(FIVE_MINUTES)));
    assert_eq!(ctx.broken_numbers().await, [bad.number]);
    // Whatever mended it, what is handed out waits for nobody.
    let mended = TaskEdit { title: Some("good".to_owned()), ..TaskEdit::default() };
    ctx.edit(bad.number, mended).await;
    ctx.pass(FIVE_MINUTES);
    let claimed = ctx.claim_prompted().await;
    assert_eq!((claimed.task.number, claimed.task.fence), (bad.number, Fence(1)));
    assert_eq!(claimed.dispatch.version, Some(version.id));
    assert!(!claimed.task.prompt_broken);
    assert_eq!(ctx.get(bad.number).await, claimed.task);
    assert_eq!(ctx.broken_numbers().await, []);
}

pub(crate) async fn a11_in_a_batch_everybody_else_is_served_as_ever(ctx: &TestStore) {
    ctx.break_bad().await;
    ctx.add_all(&["first", "bad", "second", "third", "fourth", "fifth"]).await;
    let requests: Vec<_> = ["a", "b", "c", "d"].iter().map(|name| ctx.request(name)).collect();
    // Whoever would have got the broken one gets what is left for them.
    assert_eq!(titles(ctx.claim_prompted_all(requests).await), ["first", "fourth", "second", "third"]);
    assert_eq!(ctx.broken_numbers().await, [TaskNumber(2)]);
    assert_eq!(ctx.queue_titles().await, ["fifth"]);
}

pub(crate) async fn a11_a_batch_of_broken_tasks_is_told_so(ctx: &TestStore) {
    ctx.break_bad().await;
    ctx.add_all(&["bad", "good", "bad"]).await;
    let keyed = ctx.keyed("a", "k");
    let requests = vec![keyed.clone(), ctx.request("b"), keyed, ctx.request("c")];
    let answers = ctx.claim_prompted_all(requests).await;
    let told: Vec<_> =
        answers.into_iter().map(|answer| answer.unwrap().map(|claimed| claimed.task.title)).collect();
    // A key that got something keeps it, one that got nothing is free.
    let nothing = || Err(Nothing::NotBefore);
    assert_eq!(told, [nothing(), Ok("good".to_owned()), nothing(), nothing()]);
    assert_eq!(ctx.broken_numbers().await, [TaskNumber(1), TaskNumber(3)]);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM idempotency").await, 0);
}

pub(crate) async fn a11_a_crowd_of_broken_tasks_is_put_aside_in_turns(ctx: &TestStore) {
    ctx.break_bad().await;
    for _ in 0..70 {
        ctx.add("bad").await;
    }
    ctx.add("good").await;
    // One transaction goes only so far, and says that it should be asked again.
    let answer = ctx.claim_prompted_all(vec![ctx.request("a")]).await.pop().unwrap();
    assert!(matches!(answer, Err(Error::PutAside)), "{answer:?}");
    assert_eq!(ctx.broken_numbers().await.len(), PUT_ASIDE_MAX);
    assert_eq!(ctx.queue_titles().await.len(), 71 - PUT_ASIDE_MAX);
    ctx.audit().await;
    assert_eq!(ctx.claim_prompted().await.task.title, "good");
    assert_eq!(ctx.broken_numbers().await.len(), 70);
    assert_eq!(ctx.queue_titles().await, Vec::<String>::new());
}

pub(crate) async fn a_good_version_leaves_a_moment_that_somebody_set(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    let broken = ctx.put_aside().await.number;
    let later = ctx.now().plus(Span::from_days(9));
    ctx.edit(broken, TaskEdit { not_before: Some(Some(later)), ..TaskEdit::default() }).await;
    ctx.supersede(&version, "good").await;
    let task = ctx.get(broken).await;
    assert_eq!((task.not_before, task.prompt_broken), (Some(later), false));
    assert_eq!(ctx.broken_numbers().await, []);
}

pub(crate) async fn a11_a_good_version_puts_them_back_in_line_at_once(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    let [first, second] = [ctx.put_aside().await.number, ctx.put_aside().await.number];
    let waiting =
        ctx.create(TaskDraft { not_before: Some(ctx.now().plus(FIVE_MINUTES)), ..TaskDraft::new("t") });
    let waiting = waiting.await.number;
    let good = ctx.supersede(&version, "good").await;
    assert_eq!(ctx.broken_numbers().await, []);
    assert_eq!(ctx.queue_titles().await, ["bad", "bad"]);
    for number in [first, second] {
        let task = ctx.get(number).await;
        assert_eq!((task.place(), task.prompt_broken, task.not_before), (Place::Line, false, None));
    }
    // What waits for another moment goes on waiting.
    assert!(matches!(ctx.get(waiting).await.place(), Place::Timer(_)));
    ctx.audit().await;
    for number in [first, second] {
        let claimed = ctx.claim_prompted().await;
        assert_eq!((claimed.task.number, claimed.dispatch.version), (number, Some(good.id)));
    }
}

pub(crate) async fn a11_another_broken_version_asks_again(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    let bad = ctx.put_aside().await.number;
    ctx.supersede(&version, "broken").await;
    assert_eq!(ctx.broken_numbers().await, []);
    assert_eq!(ctx.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
    let inbox = ctx.broken_prompts().await;
    assert_eq!((inbox.len(), inbox[0].task), (1, bad));
    assert_eq!(inbox[0].text.as_deref(), Some("template a version 2: nothing can be written for bad"));
}

pub(crate) async fn a11_without_its_template_it_is_handed_out_without_a_prompt(ctx: &TestStore) {
    ctx.break_bad().await;
    let bad = ctx.put_aside().await.number;
    let (template, epoch) = (TemplateRef::new("a"), ctx.version_id());
    Box::pin(ctx.store.write(TemplateDelete { ctx: ctx.ctx(person()), template, epoch })).await.unwrap();
    let claimed = ctx.claim_prompted().await;
    assert_eq!((claimed.task.number, claimed.dispatch.prompt), (bad, None));
    assert_eq!(ctx.broken_numbers().await, []);
}

pub(crate) async fn a11_whatever_ends_its_waiting_closes_the_item(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    for verb in [Verb::Cancel, Verb::Park, Verb::Close] {
        let bad = ctx.put_aside().await.number;
        assert_eq!(ctx.broken_numbers().await, [bad]);
        ctx.apply(bad, verb).await;
        assert_eq!(ctx.broken_numbers().await, [], "{verb}");
        ctx.audit().await;
    }
    let parked = ctx.put_aside().await.number;
    ctx.apply(parked, Verb::Park).await;
    let admitted = ctx.apply(parked, Verb::Admit).await;
    assert!(!admitted.prompt_broken);
    assert_eq!(ctx.broken_numbers().await, []);
    ctx.apply(parked, Verb::Cancel).await;
    let reopened = ctx.apply(parked, Verb::Reopen).await;
    assert_eq!((reopened.prompt_broken, reopened.place()), (false, Place::Line));
    ctx.delete(parked).await;
    let deleted = ctx.put_aside().await.number;
    ctx.delete(deleted).await;
    assert_eq!(ctx.broken_numbers().await, []);
    // A better template finds nothing to put back.
    ctx.supersede(&version, "good").await;
    assert_eq!(ctx.queue_titles().await, Vec::<String>::new());
}

pub(crate) async fn a11_asked_for_by_name_it_is_not_ready_and_nothing_changes(ctx: &TestStore) {
    let version = ctx.break_bad().await;
    let bad = ctx.add("bad").await;
    let events = ctx.events().await;
    let refused = ctx.start_prompted(bad.number).await.unwrap_err();
    assert!(matches!(refused, Error::NotReady { .. }), "{refused}");
    let told = refused.to_string();
    assert!(told.contains("template a version 1: nothing can be written for bad"), "{told}");
    // An edit that came along with it is not kept either.
    let edit = TaskEdit { boost: Some(7), ..TaskEdit::default() };
    let patch = ctx.patching(person(), bad.number, edit, Some(Status::InProgress));
    let patch = TaskPatch { render: ctx.scribe.clone(), ..patch };
    assert!(matches!(Box::pin(ctx.store.write(patch)).await, Err(Error::NotReady { .. })));
    assert_eq!((ctx.get(bad.number).await, ctx.events().await), (bad.clone(), events));
    assert_eq!(ctx.broken_numbers().await, []);
    assert_eq!(ctx.queue_titles().await, ["bad"]);
    // What was put aside waits for its moment, and then is handed out by name as well.
    assert_eq!(ctx.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
    assert!(matches!(ctx.start_prompted(bad.number).await, Err(Error::NotReady { .. })));
    ctx.edit(bad.number, TaskEdit { title: Some("good".to_owned()), ..TaskEdit::default() }).await;
    ctx.pass(FIVE_MINUTES);
    let opened = ctx.start_prompted(bad.number).await.unwrap();
    assert_eq!((opened.task.prompt_broken, opened.opened.unwrap().version), (false, Some(version.id)));
    assert_eq!(ctx.broken_numbers().await, []);
}

pub(crate) async fn a11_a_later_moment_somebody_set_is_kept(ctx: &TestStore) {
    ctx.break_bad().await;
    let bad = ctx.put_aside().await.number;
    let later = ctx.now().plus(Span::from_days(1));
    ctx.edit(bad, TaskEdit { not_before: Some(Some(later)), ..TaskEdit::default() }).await;
    ctx.pass(FIVE_MINUTES);
    assert_eq!(ctx.try_claim_prompted().await.unwrap_err(), Nothing::NotBefore);
    assert_eq!(ctx.get(bad).await.not_before, Some(later));
}

/// Claims in batches until nothing is left, and notes what was claimed how often.
async fn claim_until_empty(
    ctx: &TestStore,
    store: &extraboard_store::Store,
    size: usize,
    seen: &Mutex<HashMap<TaskNumber, usize>>,
) {
    let render = scribe();
    for _ in 0..200 {
        let requests = (0..size).map(|_| ctx.request("a")).collect();
        let batch = ClaimBatch { render: render.clone(), ..ctx.batch(requests) };
        let answers = Box::pin(store.write(batch)).await.unwrap();
        // Whoever is told to look again does so.
        let again = answers.iter().any(|answer| matches!(answer, Err(Error::PutAside)));
        let answers = answers.into_iter().filter(|answer| !matches!(answer, Err(Error::PutAside)));
        let claimed: Vec<_> = answers.filter_map(|answer| answer.unwrap().ok()).collect();
        if claimed.is_empty() && !again {
            return;
        }
        for one in claimed {
            *seen.lock().unwrap().entry(one.task.number).or_default() += 1;
        }
    }
    panic!("the line never ends");
}

pub(crate) async fn a11_claims_and_promotions_at_once_lose_and_double_nothing(ctx: &Arc<TestStore>) {
    const TASKS: usize = 120;
    let mut version = ctx.break_bad().await;
    for number in 0..TASKS {
        ctx.add(if number % 3 == 0 { "bad" } else { "good" }).await;
    }
    let seen: Arc<Mutex<HashMap<TaskNumber, usize>>> = Arc::default();
    let stores = ctx.replicas().await;
    let mut running = JoinSet::new();
    for index in 0..6 {
        let (ctx, store, seen) = (Arc::clone(ctx), Arc::clone(&stores[index % 2]), Arc::clone(&seen));
        running.spawn(async move { claim_until_empty(&ctx, &store, 1 + index % 3, &seen).await });
    }
    for content in ["broken for bad", "broken", "broken for good", "text"] {
        version = ctx.supersede(&version, content).await;
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    ctx.audit().await;
    // What a claim put aside while a good version came in waits for its own moment.
    ctx.pass(FIVE_MINUTES);
    claim_until_empty(ctx, &ctx.store, 10, &seen).await;
    let times: Vec<_> = seen.lock().unwrap().values().copied().collect();
    assert_eq!(times, [1; TASKS]);
    assert_eq!(ctx.broken_numbers().await, []);
}
