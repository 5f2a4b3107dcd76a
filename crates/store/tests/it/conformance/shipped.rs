//! Templates that come with the program: added once, kept up, and never against anybody's will.

use extraboard_core::template::{Conditions, Version, VersionStatus};
use extraboard_store::verbs::{
    Shipped, TemplateDelete, TemplateEdit, TemplateGet, TemplateList, TemplateRef, TemplatesInit,
};

use crate::harness::{TestStore, person};
use crate::prompting::at_once;

impl TestStore {
    /// Brings templates of these slugs, each with a text, as a newly started server does.
    fn shipping(&self, texts: &[(&str, &str)]) -> TemplatesInit {
        let shipped = |(slug, text): &(&str, &str)| Shipped {
            id: self.template_id(),
            version: self.version_id(),
            slug: (*slug).to_owned(),
            name: format!("the {slug}"),
            description: "comes along".to_owned(),
            conditions: Conditions { labels: vec!["x".to_owned()], ..Conditions::default() },
            specificity: 30,
            content: (*text).to_owned(),
        };
        TemplatesInit { ctx: self.desk(), shipped: texts.iter().map(shipped).collect() }
    }

    async fn ship(&self, texts: &[(&str, &str)]) -> usize {
        Box::pin(self.store.write(self.shipping(texts))).await.unwrap()
    }

    async fn active(&self, slug: &str) -> Version {
        let template = TemplateRef::new(slug);
        self.store.read(TemplateGet { template }).await.unwrap().active.unwrap()
    }

    async fn text_in_use(&self, slug: &str) -> (i64, String) {
        let active = self.active(slug).await;
        (active.number, active.content)
    }
}

pub(crate) async fn shipped_templates_are_added_once(ctx: &TestStore) {
    assert_eq!(ctx.ship(&[("a", "one"), ("b", "one")]).await, 2);
    let view = ctx.store.read(TemplateGet { template: TemplateRef::new("a") }).await.unwrap();
    assert_eq!((view.template.name.as_str(), view.template.specificity), ("the a", 30));
    assert_eq!(view.template.conditions.labels, ["x"]);
    assert_eq!(view.template.description.as_deref(), Some("comes along"));
    let active = view.active.unwrap();
    assert_eq!((active.number, active.author.as_str()), (1, "extraboard"));
    let events = ctx.events().await.len();
    assert_eq!(ctx.ship(&[("a", "one"), ("b", "one")]).await, 0);
    assert_eq!(ctx.events().await.len(), events);
    assert_eq!(ctx.ship(&[("a", "one"), ("b", "one"), ("c", "one")]).await, 1);
    assert_eq!(ctx.store.read(TemplateList { offset: 0, limit: 10 }).await.unwrap().1, 3);
}

pub(crate) async fn a_shipped_template_that_was_deleted_stays_deleted(ctx: &TestStore) {
    ctx.ship(&[("a", "one")]).await;
    let (template, epoch) = (TemplateRef::new("a"), ctx.version_id());
    Box::pin(ctx.store.write(TemplateDelete { ctx: ctx.ctx(person()), template, epoch })).await.unwrap();
    for text in ["one", "two"] {
        assert_eq!(ctx.ship(&[("a", text)]).await, 0);
    }
    assert_eq!(ctx.store.read(TemplateList { offset: 0, limit: 10 }).await.unwrap().1, 0);
}

pub(crate) async fn the_programs_own_text_is_kept_up(ctx: &TestStore) {
    ctx.ship(&[("a", "one")]).await;
    let first = ctx.active("a").await;
    assert_eq!(ctx.ship(&[("a", "two")]).await, 1);
    assert_eq!(ctx.text_in_use("a").await, (2, "two".to_owned()));
    assert_eq!(ctx.version_now(&first).await.1.status, VersionStatus::Retired);
    assert_eq!(ctx.ship(&[("a", "two")]).await, 0);
    // An older server that starts again does not turn it back.
    assert_eq!(ctx.ship(&[("a", "one")]).await, 0);
    assert_eq!(ctx.text_in_use("a").await, (2, "two".to_owned()));
    ctx.label("x", "gray").await;
    ctx.create(super::labels::labelled("t", &["x"])).await;
    assert!(ctx.claim_prompted().await.dispatch.prompt.unwrap().starts_with("a v2: two\n"));
}

pub(crate) async fn what_a_person_wrote_is_not_overwritten(ctx: &TestStore) {
    ctx.ship(&[("used", "one"), ("drafted", "one")]).await;
    ctx.supersede(&ctx.active("used").await, "mine").await;
    let (drafted, _) = ctx.version_now(&ctx.active("drafted").await).await;
    ctx.version(&drafted, "mine, some day").await;
    ctx.bare_template("own", TemplateEdit::default()).await;
    let own = ctx.template("own-text", TemplateEdit::default()).await;
    let later = [("used", "two"), ("drafted", "two"), ("own", "two"), ("own-text", "two")];
    assert_eq!(ctx.ship(&later).await, 0);
    assert_eq!(ctx.text_in_use("used").await, (2, "mine".to_owned()));
    assert_eq!(ctx.text_in_use("drafted").await, (1, "one".to_owned()));
    assert_eq!(ctx.active("own-text").await, own);
    let bare = ctx.store.read(TemplateGet { template: TemplateRef::new("own") }).await.unwrap();
    assert_eq!(bare.active, None);
}

pub(crate) async fn a_text_that_was_taken_out_of_use_stays_so(ctx: &TestStore) {
    ctx.ship(&[("a", "one")]).await;
    let first = ctx.active("a").await;
    ctx.ship(&[("a", "two")]).await;
    // A person prefers the old one.
    Box::pin(ctx.store.write(ctx.promoting(&first))).await.unwrap();
    for text in ["two", "three"] {
        assert_eq!(ctx.ship(&[("a", text)]).await, 0);
        assert_eq!(ctx.text_in_use("a").await, (1, "one".to_owned()));
    }
}

pub(crate) async fn servers_that_start_at_once_add_and_keep_up_together(ctx: &TestStore) {
    for text in ["one", "two"] {
        let texts = [("a", text), ("b", text), ("c", text)];
        let written = at_once(ctx, (0..8).map(|_| ctx.shipping(&texts)).collect()).await;
        let written: usize = written.into_iter().map(Result::unwrap).sum();
        assert_eq!(written, 3, "{text}");
    }
    for slug in ["a", "b", "c"] {
        assert_eq!(ctx.text_in_use(slug).await, (2, "two".to_owned()), "{slug}");
    }
}
