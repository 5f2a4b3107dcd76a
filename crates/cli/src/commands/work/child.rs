//! The command, in a process group of its own.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
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
    output: Tail,
    errors: Tail,
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
        let output = Tail::of(process.stdout.take(), say);
        let errors = Tail::of(process.stderr.take(), pass_on_error);
        Ok(Self { process, group, output, errors })
    }

    /// Waits until the command ends by itself.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Collects what a command that has ended printed last.
    pub(super) async fn finish(self, status: ExitStatus) -> Finished {
        let (output, errors) = tokio::join!(self.output.last(), self.errors.last());
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

/// The end of what a command prints.
#[derive(Debug)]
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Tail {
    /// Passes on what is printed, and keeps the end of it.
    fn of(stream: Option<impl AsyncRead + Send + Unpin + 'static>, say: fn(&[u8])) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reading = tokio::spawn(read(stream, say, Arc::clone(&kept)));
        Self { kept, reading }
    }

    /// Returns what was printed last. Something the command left behind may hold its output open: that is not
    /// waited for.
    async fn last(self) -> String {
        let _ = timeout(OUTPUT_PATIENCE, self.reading).await;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}")
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>, say: fn(&[u8]), kept: Arc<Mutex<Vec<u8>>>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = [0; 8192];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        say(&buffer[..count]);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_what_was_printed_is_kept() {
        let text: &'static [u8] = Box::leak(("x".repeat(10_000) + "end").into_bytes().into_boxed_slice());
        let kept = Tail::of(Some(text), |_| {}).last().await;
        assert_eq!(kept.len(), TAIL_BYTES);
        assert!(kept.ends_with("end"));
    }

    #[tokio::test(start_paused = true)]
    async fn what_holds_the_output_open_is_not_waited_for() {
        let (mut command, output) = tokio::io::duplex(64);
        let tail = Tail::of(Some(output), |_| {});
        command.write_all(b"said").await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(tail.last().await, "said");
        drop(command);
    }
}
