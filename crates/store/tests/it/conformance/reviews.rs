//! Reviews of prompts, and the one task to make a better version.

use extraboard_core::caller::Caller;
use extraboard_core::clock::Span;
use extraboard_core::comment::AuthorType;
use extraboard_core::event::EventType;
use extraboard_core::id::{TaskId, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::review::{Marks, Review, Reviews, Score};
use extraboard_core::state::{State, Verb};
use extraboard_core::task::Task;
use extraboard_core::template::Version;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ProjectDelete, ProjectRef, ReviewCreate, ReviewList, ReviewTaken, TaskGet, TemplateDelete, TemplateEdit,
    TemplateRef,
};
use serde_json::Value as Json;

use crate::harness::{TestStore, agent, person};
use crate::prompting::at_once;

const fn marks(clarity: i64, completeness: i64, relevance: i64) -> Marks {
    Marks { clarity, completeness, relevance }
}

const LOW: Marks = marks(2, 2, 2);
const HIGH: Marks = marks(5, 5, 5);

impl TestStore {
    /// Makes a review of a version's prompt for the first task.
    fn reviewing(&self, version: &Version, marks: Marks) -> ReviewCreate {
        ReviewCreate {
            ctx: self.ctx(agent("a")),
            id: self.review_id(),
            version: version.id,
            task: TaskRef::Number(TaskNumber(1)),
            dispatch: None,
            marks,
            feedback: None,
            author_type: None,
            author: None,
            improvement: (self.task_id(), [self.label_id(), self.label_id()]),
        }
    }

    async fn try_review(&self, review: ReviewCreate) -> Result<ReviewTaken, Error> {
        Box::pin(self.store.write(review)).await
    }

    async fn review(&self, version: &Version, marks: Marks) -> Review {
        let taken = self.try_review(self.reviewing(version, marks)).await.unwrap();
        assert!(!taken.is_repeated);
        taken.review
    }

    /// Reviews as often as it takes to ask for a better version.
    async fn review_badly(&self, version: &Version) {
        for _ in 0..3 {
            self.review(version, LOW).await;
        }
    }

    async fn reviews(&self, version: &Version) -> Reviews {
        self.version_now(version).await.1.reviews
    }

    /// Returns the task to make a better version, if there is one.
    async fn improvement(&self, version: &Version) -> Option<Task> {
        let id: TaskId = self.version_now(version).await.1.improvement?;
        Some(self.store.read(TaskGet { task: TaskRef::Id(id) }).await.unwrap().task)
    }

    async fn improvements(&self) -> i64 {
        self.database.raw_int("SELECT COUNT(*) FROM task WHERE title LIKE 'Improve prompt template: %'").await
    }
}

pub(crate) async fn t13_the_moving_average_of_two_reviews(ctx: &TestStore) {
    ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    ctx.review(&version, marks(5, 4, 3)).await;
    assert_eq!(ctx.reviews(&version).await.score, Some(Score(4_000_000)));
    ctx.review(&version, marks(2, 1, 3)).await;
    // Three parts of the newest and seven of what was before: 0.3 × 2 + 0.7 × 4.
    let expected =
        Reviews { count: 2, score: Some(Score(3_400_000)), clarity: 7, completeness: 5, relevance: 6 };
    assert_eq!(ctx.reviews(&version).await, expected);
    ctx.review(&version, marks(1, 1, 2)).await;
    // 0.3 × 4/3 + 0.7 × 3.4, to the millionth.
    assert_eq!(ctx.reviews(&version).await.score, Some(Score(2_780_000)));
}

pub(crate) async fn a_review_comes_back_as_it_was_written(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    let others = ctx.template("b", TemplateEdit::default()).await;
    let first = ctx.review(&version, marks(1, 2, 3)).await;
    let expected = Review {
        id: first.id,
        version: version.id,
        task: task.id,
        marks: marks(1, 2, 3),
        feedback: None,
        author_type: AuthorType::Agent,
        author: "agent:a".to_owned(),
        created_at: ctx.now(),
    };
    assert_eq!(first, expected);
    ctx.pass(Span::from_secs(1));
    let said = ReviewCreate {
        ctx: ctx.ctx(person()),
        feedback: Some("too 'long'\nby far".to_owned()),
        author: Some("Ann".to_owned()),
        ..ctx.reviewing(&version, HIGH)
    };
    let second = ctx.try_review(said).await.unwrap().review;
    assert_eq!((second.author_type, second.author.as_str()), (AuthorType::Human, "Ann"));
    ctx.review(&others, HIGH).await;
    // Those of all versions of the template, and of no other.
    let newer = ctx.supersede(&version, "new").await;
    ctx.pass(Span::from_secs(1));
    let third = ctx.review(&newer, HIGH).await;
    let list = |offset, limit| ReviewList { template: TemplateRef::new("a"), offset, limit };
    let page = ctx.store.read(list(0, 10)).await.unwrap();
    assert_eq!(page, (vec![third, second.clone(), first], 3));
    assert_eq!(ctx.store.read(list(1, 1)).await.unwrap(), (vec![second], 3));
    let told = ctx.events().await;
    let told: Vec<_> = told.iter().filter(|event| event.event_type == EventType::ReviewCreated).collect();
    let data: Json = serde_json::from_str(&told[0].data).unwrap();
    assert_eq!((told.len(), told[0].task), (4, Some(task.number)));
    assert_eq!((&data["slug"], &data["score"]), (&"a".into(), &2.0.into()));
}

pub(crate) async fn a_review_of_what_is_not_there_is_refused(ctx: &TestStore) {
    let task = ctx.add("t").await.number;
    let version = ctx.template("a", TemplateEdit::default()).await;
    let unknown = ReviewCreate { version: ctx.version_id(), ..ctx.reviewing(&version, LOW) };
    let refused = ctx.try_review(unknown).await.unwrap_err();
    assert!(matches!(refused, Error::NoVersion(_)), "{refused}");
    let nowhere = ReviewCreate { task: TaskRef::Number(TaskNumber(9)), ..ctx.reviewing(&version, LOW) };
    let refused = ctx.try_review(nowhere).await.unwrap_err();
    assert!(matches!(refused, Error::NoTask(_)), "{refused}");
    ctx.delete(task).await;
    let refused = ctx.try_review(ctx.reviewing(&version, LOW)).await.unwrap_err();
    assert!(matches!(refused, Error::NoTask(_)), "{refused}");
    assert_eq!(ctx.reviews(&version).await, Reviews::default());
    let (template, epoch) = (TemplateRef::new("a"), ctx.version_id());
    Box::pin(ctx.store.write(TemplateDelete { ctx: ctx.ctx(person()), template, epoch })).await.unwrap();
    let other = ctx.add("other").await;
    let gone = ReviewCreate { task: TaskRef::Id(other.id), ..ctx.reviewing(&version, LOW) };
    let refused = ctx.try_review(gone).await.unwrap_err();
    assert!(matches!(refused, Error::NoVersion(_)), "{refused}");
}

pub(crate) async fn a_dispatch_reviews_its_prompt_once(ctx: &TestStore) {
    ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    let dispatch = Some(ctx.claim_prompted().await.dispatch.id);
    let review = |marks| ReviewCreate { dispatch, ..ctx.reviewing(&version, marks) };
    let first = ctx.try_review(review(LOW)).await.unwrap();
    ctx.pass(Span::from_secs(1));
    let again = ctx.try_review(review(LOW)).await.unwrap();
    assert_eq!((again.review, first.is_repeated, again.is_repeated), (first.review, false, true));
    let worded = ReviewCreate { feedback: Some("hm".to_owned()), ..review(LOW) };
    for other in [review(HIGH), worded] {
        let refused = ctx.try_review(other).await.unwrap_err();
        assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    }
    assert_eq!(ctx.reviews(&version).await.count, 1);
    // Whoever has no dispatch may say something twice.
    ctx.review(&version, LOW).await;
    assert_eq!(ctx.reviews(&version).await.count, 2);
}

pub(crate) async fn eight_reviews_of_one_dispatch_at_once_are_one(ctx: &TestStore) {
    ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    let dispatch = Some(ctx.claim_prompted().await.dispatch.id);
    let reviews = (0..8).map(|_| ReviewCreate { dispatch, ..ctx.reviewing(&version, LOW) }).collect();
    let taken: Vec<_> = at_once(ctx, reviews).await.into_iter().map(Result::unwrap).collect();
    assert!(taken.iter().all(|other| other.review == taken[0].review));
    assert_eq!(taken.iter().filter(|taken| taken.is_repeated).count(), 7);
    assert_eq!((ctx.reviews(&version).await.count, ctx.improvements().await), (1, 0));
}

pub(crate) async fn t14_three_low_reviews_ask_for_a_better_version(ctx: &TestStore) {
    ctx.add("t").await;
    let project = ctx.project("payments").await;
    let bound = Some(Some(ProjectRef::Id(project.id)));
    let version = ctx.template("a", TemplateEdit { project: bound, ..TemplateEdit::default() }).await;
    for feedback in ["first word", "second\nword"] {
        let said = ReviewCreate { feedback: Some(feedback.to_owned()), ..ctx.reviewing(&version, LOW) };
        ctx.try_review(said).await.unwrap();
        ctx.pass(Span::from_secs(1));
        assert_eq!(ctx.improvement(&version).await, None);
    }
    let third = ReviewCreate { feedback: Some("third word".to_owned()), ..ctx.reviewing(&version, LOW) };
    let wanted = third.improvement.0;
    ctx.try_review(third).await.unwrap();
    let task = ctx.improvement(&version).await.unwrap();
    assert_eq!((task.id, task.title.as_str()), (wanted, "Improve prompt template: a"));
    assert_eq!((task.kind, task.state, task.priority.points()), (Kind::Task, State::Queued, 50));
    assert_eq!(task.project_id, Some(project.id));
    let labels: Vec<_> =
        task.labels.iter().map(|label| (label.name.as_str(), label.color.as_str())).collect();
    assert_eq!(labels, [("meta", "#6b7280"), ("prompt-improvement", "#f59e0b")]);
    let told = task.description.unwrap();
    assert!(told.starts_with("Version 1 of the prompt template `a` (the a) should be better."), "{told}");
    let words = ["third word", "second\n  word", "first word"].map(|word| told.find(word).unwrap());
    assert!(words.is_sorted(), "the newest come first: {told}");
    assert!(told.contains("reviews: 3\n") && told.contains("moving average: 2.00\n"), "{told}");
    let event = ctx.events().await.into_iter().find(|event| event.task_id == Some(wanted)).unwrap();
    assert_eq!((event.event_type, event.actor), (EventType::TaskCreated, Caller::Desk.to_string()));
    // Further ones find it there.
    ctx.review_badly(&version).await;
    assert_eq!((ctx.improvements().await, ctx.reviews(&version).await.count), (1, 6));
    assert_eq!(ctx.improvement(&version).await.map(|task| task.id), Some(wanted));
}

pub(crate) async fn t14_good_reviews_ask_for_nothing_until_there_are_fifteen(ctx: &TestStore) {
    ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    for _ in 0..14 {
        ctx.review(&version, HIGH).await;
    }
    assert_eq!(ctx.improvements().await, 0);
    ctx.review(&version, HIGH).await;
    assert_eq!(ctx.improvements().await, 1);
    ctx.review(&version, HIGH).await;
    assert_eq!(ctx.improvements().await, 1);
}

pub(crate) async fn t14_eight_low_reviews_at_once_ask_once(ctx: &TestStore) {
    ctx.add("t").await;
    for slug in ["a", "b", "c"] {
        let version = ctx.template(slug, TemplateEdit::default()).await;
        let reviews = (0..8).map(|_| ctx.reviewing(&version, LOW)).collect();
        for taken in at_once(ctx, reviews).await {
            taken.unwrap();
        }
        let expected =
            Reviews { count: 8, score: Some(Score(2_000_000)), clarity: 16, completeness: 16, relevance: 16 };
        assert_eq!(ctx.reviews(&version).await, expected);
        assert!(ctx.improvement(&version).await.is_some());
    }
    assert_eq!(ctx.improvements().await, 3);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM label").await, 2);
}

pub(crate) async fn t14_templates_that_are_bad_at_once_share_the_labels(ctx: &TestStore) {
    ctx.add("t").await;
    let mut reviews = Vec::new();
    for number in 0..8 {
        let version = ctx.template(&format!("t-{number}"), TemplateEdit::default()).await;
        ctx.review(&version, LOW).await;
        ctx.review(&version, LOW).await;
        reviews.push(ctx.reviewing(&version, LOW));
    }
    for taken in at_once(ctx, reviews).await {
        taken.unwrap();
    }
    assert_eq!(ctx.improvements().await, 8);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM label").await, 2);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM task_label").await, 16);
}

pub(crate) async fn t14_labels_that_are_there_stay_as_they_are(ctx: &TestStore) {
    ctx.add("t").await;
    let meta = ctx.label("meta", "pink").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    ctx.review_badly(&version).await;
    let labels = ctx.improvement(&version).await.unwrap().labels;
    assert_eq!((labels[0].id, labels[0].color.as_str(), labels.len()), (meta.id, "pink", 2));
}

pub(crate) async fn t15_a_slug_that_begins_another_does_not_collide(ctx: &TestStore) {
    ctx.add("t").await;
    let long = ctx.template("a-b", TemplateEdit::default()).await;
    let short = ctx.template("a", TemplateEdit::default()).await;
    ctx.review_badly(&long).await;
    assert_eq!(ctx.improvement(&short).await, None);
    ctx.review_badly(&short).await;
    let titles = [ctx.improvement(&long).await.unwrap().title, ctx.improvement(&short).await.unwrap().title];
    assert_eq!(titles, ["Improve prompt template: a-b", "Improve prompt template: a"]);
}

pub(crate) async fn a_version_is_asked_to_be_better_once_and_a_new_one_anew(ctx: &TestStore) {
    ctx.add("t").await;
    let version = ctx.template("a", TemplateEdit::default()).await;
    ctx.review_badly(&version).await;
    let first = ctx.improvement(&version).await.unwrap();
    ctx.apply(first.number, Verb::Close).await;
    for _ in 0..20 {
        ctx.review(&version, LOW).await;
    }
    assert_eq!(ctx.improvements().await, 1);
    let newer = ctx.supersede(&version, "new").await;
    assert_eq!(ctx.reviews(&newer).await, Reviews::default());
    ctx.review_badly(&newer).await;
    let second = ctx.improvement(&newer).await.unwrap();
    assert_ne!(second.id, first.id);
    assert!(second.description.unwrap().starts_with("Version 2 of"));
    assert_eq!(ctx.improvements().await, 2);
    assert_eq!(ctx.database.raw_int("SELECT COUNT(*) FROM label").await, 2);
}

pub(crate) async fn a_template_of_a_project_that_is_gone_can_be_reviewed(ctx: &TestStore) {
    ctx.add("t").await;
    let project = ctx.project("payments").await;
    let bound = Some(Some(ProjectRef::Id(project.id)));
    let version = ctx.template("a", TemplateEdit { project: bound, ..TemplateEdit::default() }).await;
    let delete = ProjectDelete { ctx: ctx.ctx(person()), project: ProjectRef::Id(project.id) };
    ctx.store.write(delete).await.unwrap();
    ctx.review_badly(&version).await;
    assert_eq!(ctx.improvement(&version).await.unwrap().project, None);
}
