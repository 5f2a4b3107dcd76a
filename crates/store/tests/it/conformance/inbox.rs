//! Questions, answers, comments, and what waits for a person.

use extraboard_core::clock::Span;
use extraboard_core::comment::{AuthorType, CommentKind};
use extraboard_core::event::EventType;
use extraboard_core::id::{CommentId, InboxId, TaskNumber, TaskRef};
use extraboard_core::inbox::InboxKind;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    Comment, CommentCreate, CommentList, InboxDismiss, InboxItem, InboxList, InboxTask, TaskAnswer, TaskDraft,
};

use crate::harness::{TestStore, agent, person};

impl TestStore {
    async fn inbox(&self) -> Vec<InboxItem> {
        let list = InboxList { kinds: Vec::new(), limit: 100, offset: 0 };
        let page = self.store.read(list).await.unwrap();
        assert_eq!(page.total, i64::try_from(page.items.len()).unwrap());
        page.items
    }

    async fn kinds(&self) -> Vec<(TaskNumber, InboxKind)> {
        self.inbox().await.into_iter().map(|item| (item.task, item.kind)).collect()
    }

    async fn asked(&self, question: &str) -> TaskNumber {
        let claimed = self.claim().await;
        self.report(&claimed, Report::Ask { question: Some(question.to_owned()) }).await;
        claimed.task.number
    }

    pub(super) async fn answer(&self, task: TaskNumber, answer: &str) -> Result<State, Error> {
        let (ctx, task, answer) = (self.ctx(person()), TaskRef::Number(task), answer.to_owned());
        self.store.write(TaskAnswer { ctx, task, answer }).await.map(|view| view.task.state)
    }

    async fn comments(&self, task: TaskNumber) -> Vec<Comment> {
        self.store.read(CommentList { task: TaskRef::Number(task) }).await.unwrap()
    }
}

pub(crate) async fn what_is_asked_waits_for_an_answer_and_comes_back_with_it(ctx: &TestStore) {
    ctx.add("t").await;
    let task = ctx.asked("Which one?").await;
    let blocked = ctx.get(task).await;
    assert_eq!((blocked.state, blocked.question.as_deref()), (State::Blocked, Some("Which one?")));
    let inbox = ctx.inbox().await;
    assert_eq!((inbox[0].kind, inbox[0].text.as_deref()), (InboxKind::Question, Some("Which one?")));
    assert_eq!((inbox[0].task, inbox[0].title.as_str()), (task, "t"));
    assert_eq!(ctx.answer(task, "The left one").await.unwrap(), State::Queued);
    assert_eq!(ctx.inbox().await, []);
    let claimed = ctx.claim().await;
    assert_eq!(claimed.task.answer.as_deref(), Some("The left one"));
    let said: Vec<_> = ctx.comments(task).await.into_iter().map(|said| (said.kind, said.body)).collect();
    let expected = [(CommentKind::Question, "Which one?"), (CommentKind::Answer, "The left one")];
    assert_eq!(said, expected.map(|(kind, body)| (kind, body.to_owned())));
    let events = ctx.events().await;
    assert!(events.iter().any(|event| event.event_type == EventType::TaskAnswered));
    ctx.audit().await;
}

pub(crate) async fn a_second_question_forgets_the_first_answer(ctx: &TestStore) {
    ctx.add("t").await;
    let task = ctx.asked("one?").await;
    ctx.answer(task, "1").await.unwrap();
    ctx.asked("two?").await;
    let blocked = ctx.get(task).await;
    assert_eq!((blocked.question.as_deref(), blocked.answer), (Some("two?"), None));
    assert_eq!(ctx.kinds().await, [(task, InboxKind::Question)]);
}

pub(crate) async fn only_a_person_answers_and_only_what_is_blocked(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    assert!(matches!(ctx.answer(task, "no").await, Err(Error::NoMove { verb: Verb::Answer, .. })));
    ctx.asked("?").await;
    let by_agent =
        TaskAnswer { ctx: ctx.ctx(agent("a")), task: TaskRef::Number(task), answer: "mine".to_owned() };
    assert!(matches!(ctx.store.write(by_agent).await, Err(Error::NoMove { .. })));
    assert_eq!(ctx.get(task).await.state, State::Blocked);
    assert_eq!(ctx.comments(task).await.len(), 1);
}

pub(crate) async fn the_inbox_holds_what_waits_for_a_person_and_nothing_else(ctx: &TestStore) {
    let dead = ctx.create(TaskDraft { max_retries: 0, ..TaskDraft::new("dead") }).await.number;
    let claimed = ctx.claim().await;
    ctx.fail(&claimed, FailureClass::ExecutionFailed).await;
    assert_eq!(ctx.kinds().await, [(dead, InboxKind::DeadLetter)]);
    let setup = ctx.add("no login").await.number;
    let claimed = ctx.claim().await;
    ctx.fail(&claimed, FailureClass::Setup).await;
    assert_eq!(ctx.kinds().await, [(dead, InboxKind::DeadLetter), (setup, InboxKind::Blocked)]);
    let only = InboxList { kinds: vec![InboxKind::Blocked], limit: 10, offset: 0 };
    let page = ctx.store.read(only).await.unwrap();
    assert_eq!((page.total, page.items[0].task), (1, setup));
    ctx.apply(dead, Verb::Retry).await;
    ctx.delete(setup).await;
    assert_eq!(ctx.inbox().await, []);
}

pub(crate) async fn an_item_that_was_put_away_stays_so_until_the_task_fails_again(ctx: &TestStore) {
    ctx.add("t").await;
    let task = ctx.asked("?").await;
    let item = ctx.inbox().await[0].id;
    let dismiss = || InboxDismiss { ctx: ctx.ctx(person()), item };
    assert_eq!(ctx.store.read(InboxTask { item }).await.unwrap(), task);
    ctx.store.write(dismiss()).await.unwrap();
    assert_eq!((ctx.inbox().await, ctx.get(task).await.state), (vec![], State::Blocked));
    assert!(matches!(ctx.store.write(dismiss()).await, Err(Error::NoInboxItem(gone)) if gone == item));
    ctx.apply(task, Verb::Retry).await;
    ctx.asked("again?").await;
    assert_eq!(ctx.kinds().await, [(task, InboxKind::Question)]);
    let missing = InboxDismiss { ctx: ctx.ctx(person()), item: InboxId(999) };
    assert!(matches!(ctx.store.write(missing).await, Err(Error::NoInboxItem(_))));
}

pub(crate) async fn comments_are_kept_in_order_with_who_said_them(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    let other = ctx.add("other").await.number;
    let say = |number: TaskNumber, body: &str, parent| CommentCreate {
        ctx: ctx.ctx(agent("a")),
        task: TaskRef::Number(number),
        body: body.to_owned(),
        author: None,
        author_type: None,
        parent,
    };
    let first = ctx.store.write(say(task, "first", None)).await.unwrap();
    ctx.pass(Span::from_secs(-5));
    let reply = ctx.store.write(say(task, "reply", Some(first.id))).await.unwrap();
    let named = CommentCreate {
        author: Some("Ann".to_owned()),
        author_type: Some(AuthorType::Human),
        ..say(task, "third", None)
    };
    let named = ctx.store.write(named).await.unwrap();
    assert_eq!((first.author.as_str(), first.author_type), ("agent:a", AuthorType::Agent));
    assert_eq!((named.author.as_str(), named.author_type), ("Ann", AuthorType::Human));
    assert_eq!(ctx.comments(task).await, [first.clone(), reply, named]);
    for parent in [first.id, CommentId(999)] {
        let refused = ctx.store.write(say(other, "wrong", Some(parent))).await;
        assert!(matches!(refused, Err(Error::Invalid { field: "parentId", .. })));
    }
    assert_eq!(ctx.comments(other).await, []);
}
