//! The signals that ask a desk to end.

use std::future::pending;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;
use crate::process;

/// Ctrl-C, SIGTERM and SIGHUP, caught from the moment this exists.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// None where whoever started the desk had it ignore them, as `nohup` does: to catch would be to end.
    hangup: Option<Signal>,
}

impl Signals {
    pub(crate) fn catch() -> Result<Self, CliError> {
        let catch = |kind| signal(kind).map_err(|error| CliError::io("cannot wait for signals", &error));
        let hangup = if process::ignores_hangup() { None } else { Some(catch(SignalKind::hangup())?) };
        Ok(Self {
            terminate: catch(SignalKind::terminate())?,
            interrupt: catch(SignalKind::interrupt())?,
            hangup,
        })
    }

    /// Waits for the first of them.
    pub(crate) async fn wait(mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hangup => {}
        }
    }
}
