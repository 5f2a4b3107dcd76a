//! The desk's loops, started together and stopped together, or turned by hand.

use extraboard_store::error::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::chores::Chores;
use crate::claims::{ClaimSection, Waiting};
use crate::desk::Desk;
use crate::sequencer;
use crate::timers::Timers;

/// Loops that do not run yet.
#[derive(Debug)]
pub struct Loops {
    desk: Desk,
    claims: ClaimSection,
    timers: Timers,
    chores: Chores,
}

impl Loops {
    pub(crate) fn new(desk: Desk, waiting: mpsc::Receiver<Waiting>) -> Self {
        let timers = Timers::new(desk.now());
        let chores = Chores::new(desk.now());
        let claims = ClaimSection::new(waiting, desk.positions());
        Self { desk, claims, timers, chores }
    }

    /// Lets the loops run by themselves.
    pub fn start(self) -> Running {
        let (stop, stopped) = watch::channel(false);
        let Self { desk, claims, timers, chores } = self;
        let mut loops = JoinSet::new();
        loops.spawn(claims.run(desk.clone(), stopped.clone()));
        loops.spawn(sequencer::stamp(desk.clone(), stopped.clone()));
        loops.spawn(sequencer::listen(desk.clone(), stopped.clone()));
        loops.spawn(timers.run(desk.clone(), stopped.clone()));
        loops.spawn(chores.run(desk.clone(), stopped));
        Running { desk, stop, loops }
    }

    /// Does once what each loop would do now: for tests, which have no patience for time.
    pub async fn turn(&mut self) -> Result<(), Error> {
        self.claims.serve_waiting(&self.desk).await;
        self.timers.round(&self.desk).await?;
        self.chores.round(&self.desk).await?;
        sequencer::stamp_all(&self.desk).await
    }
}

/// Loops that run; to be stopped, not dropped.
#[derive(Debug)]
pub struct Running {
    desk: Desk,
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
}

impl Running {
    /// Waits until a loop dies, which none should: a desk without its loops is no desk.
    pub async fn died(&mut self) -> String {
        match self.loops.join_next().await {
            Some(Err(error)) => error.to_string(),
            Some(Ok(())) | None => "it ended by itself".to_owned(),
        }
    }

    /// Stops the loops after what they are doing, and closes the store.
    pub async fn stop(mut self) {
        // The loops look at this; if they are gone there is nothing to stop.
        let _ = self.stop.send(true);
        while let Some(ended) = self.loops.join_next().await {
            if let Err(error) = ended {
                tracing::error!(error = %error, "a loop of the desk died: {error}");
            }
        }
        self.desk.shared.store.close().await;
    }
}
