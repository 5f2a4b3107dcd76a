//! Templates: which one a task's prompt is made by.

use extraboard_core::clock::Span;
use extraboard_core::doors::Door;
use extraboard_core::event::EventType;
use extraboard_core::gate::Claimer;
use extraboard_core::kind::Kind;
use extraboard_core::project::Project;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::template::{Conditions, SPECIFICITY_DEFAULT, Template};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimRequest, ProjectRef, TaskDraft, TemplateDelete, TemplateEdit, TemplateGet, TemplateList,
    TemplatePatch, TemplateRef,
};

use super::labels::labelled;
use crate::harness::{TestStore, below, person};
use crate::prompting::{at_once, slug_of};

/// Returns a template that asks for something, and is used before one that asks for nothing.
fn asks(conditions: Conditions) -> TemplateEdit {
    TemplateEdit { conditions: Some(conditions), specificity: Some(50), ..TemplateEdit::default() }
}

fn specific(specificity: i64) -> TemplateEdit {
    TemplateEdit { specificity: Some(specificity), ..TemplateEdit::default() }
}

fn bound_to(project: &Project) -> TemplateEdit {
    TemplateEdit { project: Some(Some(ProjectRef::Id(project.id))), ..TemplateEdit::default() }
}

fn of_project(project: &Project) -> TaskDraft {
    TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("t") }
}

impl TestStore {
    fn patching_template(&self, slug: &str, edit: TemplateEdit) -> TemplatePatch {
        let template = TemplateRef::new(slug);
        TemplatePatch { ctx: self.ctx(person()), template, edit, epoch: self.version_id() }
    }

    async fn delete_template(&self, slug: &str) -> Result<(), Error> {
        let (template, epoch) = (TemplateRef::new(slug), self.version_id());
        Box::pin(self.store.write(TemplateDelete { ctx: self.ctx(person()), template, epoch })).await
    }

    async fn slugs(&self) -> Vec<String> {
        let (templates, total) = self.store.read(TemplateList { offset: 0, limit: 100 }).await.unwrap();
        assert_eq!(total, i64::try_from(templates.len()).unwrap());
        templates.into_iter().map(|template| template.slug).collect()
    }

    /// Hands a new task out and returns which template it was made a prompt by.
    async fn slug_for(&self, draft: TaskDraft) -> String {
        let number = self.create(draft).await.number;
        let claimed = self.claim_prompted().await;
        assert_eq!(claimed.task.number, number);
        self.complete(&claimed).await;
        slug_of(&claimed).unwrap_or("none").to_owned()
    }

    /// Adds a template that asks for something beside one that asks for nothing.
    async fn particular_and_any(&self, conditions: Conditions) {
        self.template("any", specific(0)).await;
        self.template("particular", asks(conditions)).await;
    }
}

pub(crate) async fn a_template_comes_back_as_it_was_written(ctx: &TestStore) {
    let project = ctx.project("payments").await;
    let created = ctx.bare_template("triage", TemplateEdit::default()).await;
    let plain = Template {
        id: created.id,
        slug: "triage".to_owned(),
        name: "the triage".to_owned(),
        description: None,
        conditions: Conditions::default(),
        specificity: SPECIFICITY_DEFAULT,
        project: None,
        active_version: None,
        created_at: ctx.now(),
        updated_at: ctx.now(),
    };
    assert_eq!(created, plain);
    ctx.pass(Span::from_secs(1));
    let conditions = Conditions {
        kind: Some(Kind::Signal),
        signal_source: Some("sentry".to_owned()),
        labels: vec!["bug".to_owned(), "web".to_owned()],
        has_failed_sessions: Some(false),
        hypothesis_confidence: Some(0.75),
        door: Some(Door::Run),
        project: None,
    };
    let edit = TemplateEdit {
        name: Some("Triage".to_owned()),
        description: Some(Some("of signals".to_owned())),
        conditions: Some(conditions.clone()),
        condition_project: Some(ProjectRef::Name("payments".to_owned())),
        specificity: Some(100),
        ..bound_to(&project)
    };
    let edited = ctx.store.write(ctx.patching_template("triage", edit)).await.unwrap();
    let expected = Template {
        name: "Triage".to_owned(),
        description: Some("of signals".to_owned()),
        conditions: Conditions { project: Some(project.id), ..conditions },
        specificity: 100,
        project: Some(project.id),
        updated_at: ctx.now(),
        ..plain
    };
    assert_eq!(edited, expected);
    let version = ctx.version(&edited, "text").await;
    let view = ctx.store.read(TemplateGet { template: TemplateRef::Id(edited.id) }).await.unwrap();
    let in_use = Template { active_version: Some(version.id), ..expected.clone() };
    assert_eq!((view.template, view.active), (in_use.clone(), Some(version)));
    // What is not named stays, what is cleared goes.
    let clear = TemplateEdit { description: Some(None), project: Some(None), ..TemplateEdit::default() };
    let cleared = ctx.store.write(ctx.patching_template("triage", clear)).await.unwrap();
    assert_eq!(cleared, Template { description: None, project: None, ..in_use });
}

pub(crate) async fn templates_are_listed_and_told_of(ctx: &TestStore) {
    for slug in ["b", "a-b", "a"] {
        ctx.bare_template(slug, TemplateEdit::default()).await;
    }
    assert_eq!(ctx.slugs().await, ["a", "a-b", "b"]);
    let (page, total) = ctx.store.read(TemplateList { offset: 1, limit: 1 }).await.unwrap();
    assert_eq!((page[0].slug.as_str(), page.len(), total), ("a-b", 1, 3));
    ctx.store.write(ctx.patching_template("b", specific(1))).await.unwrap();
    ctx.delete_template("a-b").await.unwrap();
    assert_eq!(ctx.slugs().await, ["a", "b"]);
    let told: Vec<_> = ctx.events().await.into_iter().map(|event| event.event_type).collect();
    assert_eq!(told[..3], [EventType::TemplateCreated; 3]);
    assert_eq!(told[3..], [EventType::TemplateEdited, EventType::TemplateDeleted]);
}

pub(crate) async fn two_templates_never_share_a_slug(ctx: &TestStore) {
    ctx.bare_template("a", TemplateEdit::default()).await;
    let refused = ctx.store.write(ctx.templating("a", TemplateEdit::default())).await.unwrap_err();
    assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    ctx.delete_template("a").await.unwrap();
    let gone = ctx.delete_template("a").await.unwrap_err();
    assert!(matches!(gone, Error::NoTemplate(_)), "{gone}");
    let creations = (0..8).map(|_| ctx.templating("a", TemplateEdit::default())).collect();
    let refused: Vec<_> = at_once(ctx, creations).await.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 7);
    assert!(refused.iter().all(|refused| matches!(refused, Error::Conflict(_))), "{refused:?}");
    assert_eq!(ctx.slugs().await, ["a"]);
}

pub(crate) async fn a_template_of_a_project_nobody_knows_is_refused(ctx: &TestStore) {
    let nowhere = || Some(ProjectRef::Name("nowhere".to_owned()));
    let bound = TemplateEdit { project: Some(nowhere()), ..TemplateEdit::default() };
    let asking = TemplateEdit { condition_project: nowhere(), ..asks(Conditions::default()) };
    for (edit, expected) in [(bound, "projectId"), (asking, "conditions.projectId")] {
        let refused = ctx.store.write(ctx.templating("a", edit)).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid { field, .. } if field == expected), "{refused}");
    }
    assert_eq!(ctx.slugs().await, Vec::<String>::new());
}

pub(crate) async fn t1_a_template_that_asks_for_nothing_is_for_every_task(ctx: &TestStore) {
    ctx.template("any", TemplateEdit::default()).await;
    for kind in Kind::ALL {
        assert_eq!(ctx.slug_for(TaskDraft { kind: *kind, ..TaskDraft::new("t") }).await, "any", "{kind}");
    }
}

pub(crate) async fn t2_all_conditions_must_hold(ctx: &TestStore) {
    let source = Some("sentry".to_owned());
    let conditions =
        Conditions { kind: Some(Kind::Signal), signal_source: source.clone(), ..Conditions::default() };
    ctx.particular_and_any(conditions).await;
    let both = TaskDraft { kind: Kind::Signal, signal_source: source.clone(), ..TaskDraft::new("t") };
    assert_eq!(ctx.slug_for(both.clone()).await, "particular");
    assert_eq!(ctx.slug_for(TaskDraft { kind: Kind::Task, ..both.clone() }).await, "any");
    let elsewhere = Some("github".to_owned());
    assert_eq!(ctx.slug_for(TaskDraft { signal_source: elsewhere, ..both.clone() }).await, "any");
    // T4: what came from nowhere never matches a source.
    assert_eq!(ctx.slug_for(TaskDraft { signal_source: None, ..both }).await, "any");
}

pub(crate) async fn t3_every_label_is_needed(ctx: &TestStore) {
    for name in ["bug", "web", "api"] {
        ctx.label(name, "gray").await;
    }
    let labels = vec!["bug".to_owned(), "web".to_owned()];
    ctx.particular_and_any(Conditions { labels, ..Conditions::default() }).await;
    for (names, expected) in [
        (&["bug", "web"][..], "particular"),
        (&["api", "bug", "web"], "particular"),
        (&["bug"], "any"),
        (&["api"], "any"),
        (&[], "any"),
    ] {
        assert_eq!(ctx.slug_for(labelled("t", names)).await, expected, "{names:?}");
    }
}

pub(crate) async fn t5_a_task_without_a_project_is_of_no_project(ctx: &TestStore) {
    let [own, other] = [ctx.project("own").await, ctx.project("other").await];
    ctx.template("any", specific(0)).await;
    let condition_project = Some(ProjectRef::Id(own.id));
    ctx.template("particular", TemplateEdit { condition_project, ..asks(Conditions::default()) }).await;
    assert_eq!(ctx.slug_for(of_project(&own)).await, "particular");
    assert_eq!(ctx.slug_for(of_project(&other)).await, "any");
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "any");
}

pub(crate) async fn t6_failed_sessions_are_those_of_the_task_and_of_its_siblings(ctx: &TestStore) {
    ctx.template("fresh", asks(Conditions { has_failed_sessions: Some(false), ..Conditions::default() }))
        .await;
    ctx.template("again", asks(Conditions { has_failed_sessions: Some(true), ..Conditions::default() }))
        .await;
    let parent = ctx.add("parent").await.number;
    let parent_claim = ctx.claim_prompted().await;
    ctx.create(below(parent, "first")).await;
    let first = ctx.claim_prompted().await;
    assert_eq!(slug_of(&first), Some("fresh"));
    // What was given back has not failed.
    ctx.report(&first, Report::Release).await;
    let first = ctx.claim_prompted().await;
    assert_eq!(slug_of(&first), Some("fresh"));
    ctx.fail(&first, FailureClass::ExecutionFailed).await;
    ctx.create(below(parent, "second")).await;
    let second = ctx.claim_prompted().await;
    assert_eq!((second.task.title.as_str(), slug_of(&second)), ("second", Some("again")));
    ctx.pass(Span::from_days(1));
    let first = ctx.claim_prompted().await;
    assert_eq!((first.task.title.as_str(), slug_of(&first)), ("first", Some("again")));
    // Neither the parent nor anybody's cousin is a sibling.
    assert_eq!(ctx.slug_for(TaskDraft::new("alone")).await, "fresh");
    ctx.report(&parent_claim, Report::Release).await;
    assert_eq!(slug_of(&ctx.claim_prompted().await), Some("fresh"));
}

pub(crate) async fn t6_a_lapsed_lease_is_a_failed_session(ctx: &TestStore) {
    ctx.particular_and_any(Conditions { has_failed_sessions: Some(true), ..Conditions::default() }).await;
    ctx.add("t").await;
    assert_eq!(slug_of(&ctx.claim_prompted().await), Some("any"));
    ctx.lapse().await;
    ctx.pass(Span::from_days(1));
    assert_eq!(slug_of(&ctx.claim_prompted().await), Some("particular"));
}

pub(crate) async fn t7_confidence_is_at_least_what_is_asked_for(ctx: &TestStore) {
    ctx.particular_and_any(Conditions { hypothesis_confidence: Some(0.8), ..Conditions::default() }).await;
    for (hypothesis, expected) in [
        (Some(r#"{"confidence":0.8}"#), "particular"),
        (Some(r#"{"confidence":1}"#), "particular"),
        (Some(r#"{"confidence":0.79}"#), "any"),
        (Some(r#"{"confidence":"high"}"#), "any"),
        (Some("{}"), "any"),
        (None, "any"),
    ] {
        let draft = TaskDraft { hypothesis: hypothesis.map(str::to_owned), ..TaskDraft::new("t") };
        assert_eq!(ctx.slug_for(draft).await, expected, "{hypothesis:?}");
    }
}

pub(crate) async fn a_door_matches_exactly(ctx: &TestStore) {
    ctx.particular_and_any(Conditions { door: Some(Door::Run), ..Conditions::default() }).await;
    for (door, expected) in [(Door::Run, "particular"), (Door::Pull, "any"), (Door::Push, "any")] {
        ctx.add("t").await;
        let request = ClaimRequest { claimer: Claimer::anyone("agent:a", door), ..ctx.request("a") };
        let claimed = ctx.claim_prompted_with(request).await.unwrap().unwrap();
        assert_eq!(slug_of(&claimed), Some(expected), "{door}");
    }
}

pub(crate) async fn t8_the_most_particular_template_is_used_and_the_slug_decides_ties(ctx: &TestStore) {
    ctx.template("b", specific(10)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "b");
    ctx.template("a", specific(10)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "a");
    ctx.template("z", specific(11)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "z");
    // `-` comes before letters, as bytes do.
    ctx.template("za", specific(12)).await;
    ctx.template("z-b", specific(12)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "z-b");
}

pub(crate) async fn t9_a_task_no_template_is_for_has_no_prompt(ctx: &TestStore) {
    ctx.template("code", asks(Conditions { kind: Some(Kind::Code), ..Conditions::default() })).await;
    ctx.add("t").await;
    let claimed = ctx.claim_prompted().await;
    assert_eq!((claimed.dispatch.prompt, claimed.dispatch.version), (None, None));
    assert!(!ctx.get(claimed.task.number).await.prompt_broken);
}

pub(crate) async fn t10_a_template_of_the_project_beats_a_more_particular_one(ctx: &TestStore) {
    let [own, other] = [ctx.project("own").await, ctx.project("other").await];
    ctx.template("particular", specific(100)).await;
    ctx.template("own", TemplateEdit { specificity: Some(0), ..bound_to(&own) }).await;
    assert_eq!(ctx.slug_for(of_project(&own)).await, "own");
    assert_eq!(ctx.slug_for(of_project(&other)).await, "particular");
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "particular");
}

pub(crate) async fn a_template_of_another_project_never_matches(ctx: &TestStore) {
    let [own, other] = [ctx.project("own").await, ctx.project("other").await];
    ctx.template("others", bound_to(&other)).await;
    assert_eq!(ctx.slug_for(of_project(&own)).await, "none");
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "none");
    assert_eq!(ctx.slug_for(of_project(&other)).await, "others");
}

pub(crate) async fn t11_a_draft_is_never_used(ctx: &TestStore) {
    ctx.bare_template("bare", specific(100)).await;
    let first = ctx.template("used", specific(10)).await;
    let (used, _) = ctx.version_now(&first).await;
    ctx.version(&used, "a draft").await;
    ctx.add("t").await;
    let claimed = ctx.claim_prompted().await;
    assert!(claimed.dispatch.prompt.unwrap().starts_with("used v1: text\n"));
    assert_eq!(claimed.dispatch.version, Some(first.id));
}

pub(crate) async fn a_deleted_template_is_not_used(ctx: &TestStore) {
    ctx.template("deleted", specific(100)).await;
    ctx.template("left", specific(10)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "deleted");
    ctx.delete_template("deleted").await.unwrap();
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "left");
    // Its slug is free, and what is made anew is another template.
    ctx.bare_template("deleted", specific(100)).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "left");
}

pub(crate) async fn an_edit_of_conditions_counts_for_the_next_claim(ctx: &TestStore) {
    ctx.particular_and_any(Conditions { kind: Some(Kind::Code), ..Conditions::default() }).await;
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "any");
    let edit = TemplateEdit { conditions: Some(Conditions::default()), ..TemplateEdit::default() };
    ctx.store.write(ctx.patching_template("particular", edit)).await.unwrap();
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "particular");
    ctx.store.write(ctx.patching_template("any", specific(51))).await.unwrap();
    assert_eq!(ctx.slug_for(TaskDraft::new("t")).await, "any");
}
