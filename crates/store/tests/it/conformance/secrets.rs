//! What all servers share: the key of dispatch tokens, and who may administer.

use std::sync::Arc;

use extraboard_store::verbs::{AdminTokenKeep, AdminTokenKnown, ServerKey};

use crate::harness::TestStore;

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
    let known = async |hash: &str| ctx.store.read(AdminTokenKnown { hash: hash.to_owned() }).await.unwrap();
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
