//! Versions of templates: numbered without gaps, and one of them in use.

use std::sync::Arc;

use extraboard_core::comment::AuthorType;
use extraboard_core::event::EventType;
use extraboard_core::review::{Reviews, Worked};
use extraboard_core::template::{Template, Version, VersionStatus};
use extraboard_store::Store;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimBatch, Render, TemplateDelete, TemplateEdit, TemplateRef, VersionCreate, VersionGet, VersionList,
    VersionPromote, VersionRef,
};

use crate::harness::{TestStore, agent, person};
use crate::prompting::{at_once, scribe};

use VersionStatus::{Active, Draft, Retired};

impl TestStore {
    async fn versions(&self, template: &Template) -> Vec<Version> {
        let list = VersionList { template: TemplateRef::Id(template.id), offset: 0, limit: 100 };
        let (versions, total) = self.store.read(list).await.unwrap();
        assert_eq!(total, i64::try_from(versions.len()).unwrap());
        versions
    }

    /// Lists the versions of a template, the newest first, and where they stand.
    async fn standings(&self, template: &Template) -> Vec<(i64, VersionStatus)> {
        self.versions(template).await.iter().map(|version| (version.number, version.status)).collect()
    }

    async fn try_promote(&self, template: &Template, version: VersionRef) -> Result<Version, Error> {
        let template = TemplateRef::Id(template.id);
        let promote = VersionPromote { ctx: self.ctx(person()), template, version, epoch: self.version_id() };
        Box::pin(self.store.write(promote)).await
    }

    /// Claims over a particular server; returns the first line of the prompt.
    async fn first_line_over(&self, store: &Store, render: &Render) -> String {
        self.add("t").await;
        let batch = ClaimBatch { render: render.clone(), ..self.batch(vec![self.request("a")]) };
        let claimed = Box::pin(store.write(batch)).await.unwrap().pop().unwrap().unwrap().unwrap();
        claimed.dispatch.prompt.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    }
}

pub(crate) async fn the_first_version_is_active_and_later_ones_are_drafts(ctx: &TestStore) {
    let template = ctx.bare_template("a", TemplateEdit::default()).await;
    let first = ctx.version(&template, "one").await;
    let expected = Version {
        id: first.id,
        template: template.id,
        number: 1,
        content: "one".to_owned(),
        changelog: None,
        author_type: AuthorType::Human,
        author: person().to_string(),
        status: Active,
        worked: Worked::default(),
        reviews: Reviews::default(),
        improvement: None,
        created_at: ctx.now(),
    };
    assert_eq!(first, expected);
    let create = VersionCreate {
        ctx: ctx.ctx(agent("a")),
        changelog: Some("better".to_owned()),
        ..ctx.versioning(&template, "two 'x'")
    };
    let second = Box::pin(ctx.store.write(create)).await.unwrap();
    assert_eq!((second.number, second.status, second.author_type), (2, Draft, AuthorType::Agent));
    let said = VersionCreate {
        author_type: Some(AuthorType::Agent),
        author: Some("the improver".to_owned()),
        ..ctx.versioning(&template, "three")
    };
    let third = Box::pin(ctx.store.write(said)).await.unwrap();
    assert_eq!((third.author_type, third.author.as_str()), (AuthorType::Agent, "the improver"));
    assert_eq!(ctx.versions(&template).await, [third, second, first.clone()]);
    let (template, _) = ctx.version_now(&first).await;
    assert_eq!(template.active_version, Some(first.id));
}

pub(crate) async fn versions_of_nothing_are_refused(ctx: &TestStore) {
    let template = ctx.bare_template("a", TemplateEdit::default()).await;
    let version = ctx.version(&template, "one").await;
    let others = ctx.template("b", TemplateEdit::default()).await;
    for missing in [VersionRef::Number(2), VersionRef::Id(others.id), VersionRef::Id(ctx.version_id())] {
        let refused = ctx.try_promote(&template, missing).await.unwrap_err();
        assert!(matches!(refused, Error::NoVersion(named) if named == missing), "{refused}");
    }
    let delete =
        TemplateDelete { ctx: ctx.ctx(person()), template: TemplateRef::new("a"), epoch: ctx.version_id() };
    Box::pin(ctx.store.write(delete)).await.unwrap();
    let refused = Box::pin(ctx.store.write(ctx.versioning(&template, "two"))).await.unwrap_err();
    assert!(matches!(refused, Error::NoTemplate(_)), "{refused}");
    let refused = ctx.try_promote(&template, VersionRef::Number(1)).await.unwrap_err();
    assert!(matches!(refused, Error::NoTemplate(_)), "{refused}");
    let refused = ctx.store.read(VersionGet { version: version.id }).await.unwrap_err();
    assert!(matches!(refused, Error::NoVersion(_)), "{refused}");
}

pub(crate) async fn versions_are_numbered_without_gaps_though_8_are_added_at_once(ctx: &TestStore) {
    let template = ctx.bare_template("a", TemplateEdit::default()).await;
    let added = at_once(ctx, (0..8).map(|_| ctx.versioning(&template, "text")).collect()).await;
    let mut numbers: Vec<_> = added.into_iter().map(|added| added.unwrap().number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    let mut standings = ctx.standings(&template).await;
    assert_eq!(standings.pop(), Some((1, Active)));
    assert!(standings.iter().all(|(_, status)| *status == Draft), "{standings:?}");
}

pub(crate) async fn t12_a_promotion_retires_the_version_that_was_in_use(ctx: &TestStore) {
    let template = ctx.bare_template("a", TemplateEdit::default()).await;
    let first = ctx.version(&template, "one").await;
    let second = ctx.version(&template, "two").await;
    let promoted = Box::pin(ctx.store.write(ctx.promoting(&second))).await.unwrap();
    assert_eq!(promoted, Version { status: Active, ..second.clone() });
    assert_eq!(ctx.standings(&template).await, [(2, Active), (1, Retired)]);
    let (template, _) = ctx.version_now(&first).await;
    assert_eq!(template.active_version, Some(second.id));
    // What was retired may come back, by its number as well.
    ctx.try_promote(&template, VersionRef::Number(1)).await.unwrap();
    assert_eq!(ctx.standings(&template).await, [(2, Retired), (1, Active)]);
    let told = ctx.events().await.into_iter().filter(|event| event.event_type == EventType::VersionPromoted);
    assert_eq!(told.count(), 2);
}

pub(crate) async fn t12_the_active_version_is_not_promoted_again(ctx: &TestStore) {
    let template = ctx.bare_template("a", TemplateEdit::default()).await;
    ctx.version(&template, "one").await;
    let refused = ctx.try_promote(&template, VersionRef::Number(1)).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "versionId", .. }), "{refused}");
    let second = ctx.version(&template, "two").await;
    let promoted = at_once(ctx, (0..8).map(|_| ctx.promoting(&second)).collect()).await;
    let refused: Vec<_> = promoted.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 7);
    let already = |refused: &Error| matches!(refused, Error::Invalid { field: "versionId", .. });
    assert!(refused.iter().all(already), "{refused:?}");
    assert_eq!(ctx.standings(&template).await, [(2, Active), (1, Retired)]);
}

pub(crate) async fn t12_of_eight_promotions_at_once_one_version_is_active(ctx: &TestStore) {
    for round in 0..5 {
        let template = ctx.bare_template(&format!("t-{round}"), TemplateEdit::default()).await;
        ctx.version(&template, "one").await;
        let mut promotions = Vec::new();
        for _ in 0..8 {
            promotions.push(ctx.promoting(&ctx.version(&template, "text").await));
        }
        for promoted in at_once(ctx, promotions).await {
            promoted.unwrap();
        }
        let standings = ctx.standings(&template).await;
        let count = |status| standings.iter().filter(|(_, other)| *other == status).count();
        assert_eq!((count(Active), count(Retired), count(Draft)), (1, 8, 0), "{standings:?}");
        let (template, _) = ctx.version_now(&ctx.versions(&template).await[0]).await;
        let active = ctx.versions(&template).await.into_iter().find(|version| version.status == Active);
        assert_eq!(template.active_version, active.map(|version| version.id));
    }
}

pub(crate) async fn a_claim_right_after_a_promotion_uses_the_new_version(ctx: &TestStore) {
    let servers = ctx.replicas().await.map(|store| (store, scribe()));
    let line = async |server: &(Arc<Store>, Render)| ctx.first_line_over(&server.0, &server.1).await;
    for server in &servers {
        assert_eq!(line(server).await, "");
    }
    let mut version = ctx.template("a", TemplateEdit::default()).await;
    for server in &servers {
        assert_eq!(line(server).await, "a v1: text");
    }
    // Whichever server it is promoted over, and whichever knew the old one.
    for number in 2..8 {
        let (template, _) = ctx.version_now(&version).await;
        version = ctx.version(&template, "new").await;
        let (store, _) = &servers[usize::try_from(number % 2).unwrap()];
        Box::pin(store.write(ctx.promoting(&version))).await.unwrap();
        for server in &servers {
            assert_eq!(line(server).await, format!("a v{number}: new"));
        }
    }
    let (template, epoch) = (TemplateRef::new("a"), ctx.version_id());
    Box::pin(servers[0].0.write(TemplateDelete { ctx: ctx.ctx(person()), template, epoch })).await.unwrap();
    for server in &servers {
        assert_eq!(line(server).await, "");
    }
}

pub(crate) async fn a_promotion_that_was_refused_is_not_heard_of(ctx: &TestStore) {
    ctx.template("a", TemplateEdit::default()).await;
    let epoch = "SELECT COUNT(*) FROM catalogue WHERE epoch = ";
    let before = ctx.version_id();
    let promote = VersionPromote {
        ctx: ctx.ctx(person()),
        template: TemplateRef::new("a"),
        version: VersionRef::Number(1),
        epoch: before,
    };
    Box::pin(ctx.store.write(promote)).await.unwrap_err();
    let begun = format!("{epoch} '{before} {}'", ctx.now().as_micros());
    assert_eq!(ctx.database.raw_int(&begun).await, 0);
}
