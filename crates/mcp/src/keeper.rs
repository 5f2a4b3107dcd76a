//! Renews the leases of what a session holds, for as long as the session lives.

use std::sync::Arc;

use tokio::time::timeout;

use crate::session::Session;

/// Renews the lease of one dispatch in the background until the session gives it up or ends.
///
/// The task does not keep the session alive: a session that is dropped takes it along.
pub(crate) fn keep(session: &Arc<Session>, id: String) {
    let closing = session.closing().clone();
    let session = Arc::downgrade(session);
    tokio::spawn(async move {
        while let Some(wait) = session.upgrade().and_then(|session| session.pulse(&id)) {
            if timeout(wait, closing.cancelled()).await.is_ok() {
                return;
            }
            let Some(session) = session.upgrade() else { return };
            session.beat(&id).await;
        }
    });
}
