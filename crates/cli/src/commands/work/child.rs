//! The command, in a process group of its own.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::output::{pass_on, pass_on_error};
use crate::process;

/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);
/// How long what it started may hold its output open after it has ended.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(2);
/// How much of what it printed last is kept.
const TAIL_BYTES: usize = 4_000;

/// A command that runs.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    group: Option<u32>,
    output: JoinHandle<Vec<u8>>,
    errors: JoinHandle<Vec<u8>>,
}

/// A command that has ended, and what it printed last.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Child {
    /// Starts a command with the prompt on its standard input.
    pub(super) fn start(
        command: &[String],
        environment: &[(&'static str, String)],
        prompt: &str,
        forward: bool,
    ) -> io::Result<Self> {
        let mut process = Command::new(&command[0])
            .args(&command[1..])
            .envs(environment.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = process.id();
        if let Some(mut stdin) = process.stdin.take() {
            let prompt = prompt.to_owned();
            // A command that does not read its prompt knows what it does.
            tokio::spawn(async move { stdin.write_all(prompt.as_bytes()).await });
        }
        let say: fn(&[u8]) = if forward { pass_on } else { pass_on_error };
        let output = tokio::spawn(tail(process.stdout.take(), say));
        let errors = tokio::spawn(tail(process.stderr.take(), pass_on_error));
        Ok(Self { process, group, output, errors })
    }

    /// Waits until the command ends by itself.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Collects what a command that has ended printed last.
    pub(super) async fn finish(self, status: ExitStatus) -> Finished {
        let (output, errors) = (last(self.output).await, last(self.errors).await);
        Finished { status, output, errors }
    }

    /// Asks the command and all it started to end, and kills what does not.
    pub(super) async fn end(mut self) {
        self.signal("-TERM");
        if timeout(GRACE, self.process.wait()).await.is_err() {
            self.signal("-KILL");
            // It cannot refuse; if waiting fails there is nothing left to wait for.
            let _ = self.process.wait().await;
        }
        // What it started and left behind.
        self.signal("-KILL");
    }

    fn signal(&self, signal: &str) {
        if let Some(group) = self.group {
            // A group that has gone needs no signal.
            let _ = process::signal_group(group, signal);
        }
    }
}

/// Passes on what is printed, and keeps the end of it.
async fn tail(stream: Option<impl AsyncRead + Unpin>, say: fn(&[u8])) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut stream) = stream else { return kept };
    let mut buffer = [0; 8192];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        say(&buffer[..count]);
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(TAIL_BYTES));
    }
    kept
}

async fn last(tail: JoinHandle<Vec<u8>>) -> String {
    match timeout(OUTPUT_PATIENCE, tail).await {
        Ok(Ok(bytes)) => String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}"),
        Ok(Err(_)) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_what_was_printed_is_kept() {
        let text = "x".repeat(10_000) + "end";
        let kept = tail(Some(text.as_bytes()), |_| {}).await;
        assert_eq!(kept.len(), TAIL_BYTES);
        assert!(kept.ends_with(b"end"));
    }
}
