//! The sequencer loop, and the ear for what other servers stamped.

use std::time::Duration;

use extraboard_core::id::Pos;
use extraboard_store::error::Error;
use extraboard_store::verbs::{PosLast, Sequence};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::desk::Desk;

/// Looks by itself this often: a wake-up may be lost, a second may not.
const NET: Duration = Duration::from_secs(1);

/// Stamps events whenever something was written, until told to stop.
pub(crate) async fn stamp(desk: Desk, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            _ = timeout(NET, desk.shared.written.notified()) => {}
        }
        if let Err(error) = stamp_all(&desk).await {
            tracing::warn!("events wait for their positions: {}", error.with_cause());
        }
    }
    // What was written before the stop is told before the end.
    if let Err(error) = stamp_all(&desk).await {
        tracing::warn!("events wait for the next start: {}", error.with_cause());
    }
}

/// Stamps what has committed.
pub(crate) async fn stamp_all(desk: &Desk) -> Result<(), Error> {
    loop {
        let sequenced = desk.shared.store.write(Sequence).await?;
        publish(desk, sequenced.pos);
        if !sequenced.is_full() {
            return Ok(());
        }
    }
}

/// Follows the positions other servers gave, until told to stop.
pub(crate) async fn listen(desk: Desk, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.changed() => return,
            ended = follow(&desk) => if let Err(error) = ended {
                tracing::warn!("not listening to other servers: {}", error.with_cause());
            }
        }
        // The database may be gone for a while: not more than one try a second.
        if timeout(NET, stopped.changed()).await.is_ok() {
            return;
        }
    }
}

async fn follow(desk: &Desk) -> Result<(), Error> {
    let mut listener = desk.shared.store.listen().await?;
    // What was said before anybody listened.
    publish(desk, desk.read(PosLast).await?);
    loop {
        match timeout(NET, listener.heard()).await {
            Ok(heard) => publish(desk, heard?),
            Err(_) => publish(desk, desk.read(PosLast).await?),
        }
    }
}

fn publish(desk: &Desk, pos: Pos) {
    desk.shared.pos.send_if_modified(|last| {
        let newer = pos > *last;
        *last = (*last).max(pos);
        newer
    });
}
