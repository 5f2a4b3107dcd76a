//! What all servers share: the key of dispatch tokens, and who may administer.

use std::sync::Arc;

use extraboard_core::clock::Span;
use extraboard_core::token::TokenScope;
use extraboard_store::error::Error;
use extraboard_store::verbs::{AdminTokenKeep, ServerKey, TokenCreate, TokenKnown, TokenList, TokenRevoke};

use crate::harness::{TestStore, person};

pub(crate) async fn all_servers_agree_on_one_key(ctx: &TestStore) {
    let replicas = ctx.replicas().await;
    let racing: Vec<_> = (0..8)
        .map(|index| {
            let store = Arc::clone(&replicas[index % 2]);
            let candidate = format!("candidate {index}");
            tokio::spawn(async move { store.write(ServerKey { candidate }).await.unwrap() })
        })
        .collect();
    let mut keys = Vec::new();
    for key in racing {
        keys.push(key.await.unwrap());
    }
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

pub(crate) async fn an_admin_token_is_known_by_its_hash(ctx: &TestStore) {
    let known = async |hash: &str| {
        let asked = TokenKnown { hash: hash.to_owned(), now: ctx.now() };
        ctx.store.read(asked).await.unwrap().map(|token| token.subject)
    };
    assert_eq!(known("h1").await, None);
    let keep = async |hash: &str, origin: &str| {
        let (hash, subject, origin) = (hash.to_owned(), format!("of {origin}"), origin.to_owned());
        ctx.store.write(AdminTokenKeep { hash, subject, origin, now: ctx.now() }).await.unwrap();
    };
    keep("h1", "a").await;
    keep("h2", "b").await;
    assert_eq!(known("h1").await.as_deref(), Some("of a"));
    assert_eq!(known("H1").await, None);
    // A file holds one token: the next one takes its place, and no other file's.
    keep("h3", "a").await;
    assert_eq!((known("h1").await, known("h2").await), (None, Some("of b".to_owned())));
    assert_eq!(known("h3").await.as_deref(), Some("of a"));
}

pub(crate) async fn tidying_the_line_changes_nothing(ctx: &TestStore) {
    for title in ["a", "b", "c"] {
        ctx.add(title).await;
    }
    ctx.claim().await;
    ctx.store.tidy_line().await.unwrap();
    assert_eq!(ctx.queue_titles().await, ["b", "c"]);
}

pub(crate) async fn a_token_is_known_until_it_ends_or_is_revoked(ctx: &TestStore) {
    let create = |hash: &str, expires_at| TokenCreate {
        ctx: ctx.ctx(person()),
        hash: hash.repeat(64),
        scope: TokenScope::Agent,
        subject: "worker".to_owned(),
        agent: Some("w1".to_owned()),
        expires_at,
    };
    let known = async |hash: &str| {
        ctx.store.read(TokenKnown { hash: hash.repeat(64), now: ctx.now() }).await.unwrap()
    };
    let lasting = ctx.store.write(create("a", None)).await.unwrap();
    ctx.pass(Span::from_secs(1));
    let ending = ctx.store.write(create("b", Some(ctx.now().plus(Span::from_secs(10))))).await.unwrap();
    assert_eq!((lasting.id.as_str(), known("a").await), ("aaaaaaaaaaaa", Some(lasting.clone())));
    assert_eq!(known("b").await, Some(ending.clone()));
    ctx.pass(Span::from_secs(10));
    assert_eq!((known("b").await, known("a").await.is_some()), (None, true));
    assert_eq!(ctx.store.read(TokenList).await.unwrap(), [lasting.clone(), ending]);
    let revoke = |id: &str| TokenRevoke { ctx: ctx.ctx(person()), id: id.to_owned() };
    assert!(matches!(ctx.store.write(revoke("cccccccccccc")).await, Err(Error::NoToken(_))));
    ctx.store.write(revoke(&lasting.id)).await.unwrap();
    assert_eq!(known("a").await, None);
    let told: Vec<_> = ctx.events().await.into_iter().map(|event| event.event_type.as_str()).collect();
    assert_eq!(told, ["token.created", "token.created", "token.revoked"]);
}
