//! One task: the command that works on it, its lease, and the report in the end.

use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use extraboard_api::client::{Client, ClientError, Credentials};
use extraboard_api::dispatch::{Complete, Fail, Heartbeat, Next, Release, ReportReply};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::child::{Child, Finished};
use super::{is_passing, pause};
use crate::error::CliError;
use crate::output::talk;

/// The longest time between two heartbeats.
const BEAT_MAX: Duration = Duration::from_secs(30);
/// What of a lease may pass without one: the rest is for ending the command.
const LEASE_PART: u32 = 2;
/// How often a report is tried while the desk cannot be reached.
const REPORT_TRIES: usize = 60;
/// The exit code of a command that cannot do it now: the task is given back.
const TRY_LATER: i32 = 75;

/// What came of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Completed,
    Failed,
    GivenBack,
    /// The desk wanted it to end.
    Stopped,
    /// Somebody else has it, or it was reported on by the command itself.
    Over,
    /// Whoever runs this program wants it to end.
    Interrupted,
    /// The command could not be run.
    NotStarted,
}

impl Ended {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::GivenBack | Self::Interrupted | Self::NotStarted => "given back",
            Self::Stopped => "stopped, as the desk ordered",
            Self::Over => "over already",
        }
    }
}

/// Why the command has to end before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    Ordered,
    Lost,
    Interrupted,
}

/// A task in our hands.
#[derive(Debug)]
pub(super) struct Job {
    next: Next,
    holder: Client,
}

impl Job {
    pub(super) fn new(url: &str, next: Next) -> Result<Self, CliError> {
        let token = Credentials::Bearer(next.dispatch.token.clone());
        let holder = Client::new(url, &token).map_err(|error| CliError::of_request(&error, &[]))?;
        Ok(Self { next, holder })
    }

    pub(super) const fn number(&self) -> i64 {
        self.next.issue.number
    }

    pub(super) fn title(&self) -> &str {
        &self.next.issue.title
    }

    /// Runs the command on the task, and reports.
    pub(super) async fn run(
        &self,
        url: &str,
        command: &[String],
        forward: bool,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Ended, CliError> {
        let mut child = match Child::start(command, &self.environment(url), self.prompt(), forward) {
            Ok(child) => child,
            Err(error) => {
                talk(&format!("cannot run `{}`: {error}", command[0]));
                self.report(async || self.holder.dispatch_release(self.id(), &Release::default()).await)
                    .await?;
                return Ok(Ended::NotStarted);
            }
        };
        let halted = tokio::select! {
            status = child.wait() => {
                let finished = child.finish(status.map_err(|error| CliError::io("cannot wait for the command", &error))?);
                return self.report_finished(&finished.await).await;
            }
            halt = self.keep() => halt,
            () = stop => Halt::Interrupted,
        };
        child.end().await;
        match halted {
            Halt::Lost => Ok(Ended::Over),
            Halt::Ordered => self.give_back(Ended::Stopped).await,
            Halt::Interrupted => self.give_back(Ended::Interrupted).await,
        }
    }

    fn id(&self) -> &str {
        &self.next.dispatch.id
    }

    fn prompt(&self) -> &str {
        self.next.prompt.as_deref().unwrap_or_default()
    }

    fn environment(&self, url: &str) -> Vec<(&'static str, String)> {
        let Next { issue, dispatch, meta, .. } = &self.next;
        let version = meta.as_ref().map(|meta| ("EXTRABOARD_PROMPT_VERSION", meta.version_id.clone()));
        let told = [
            ("EXTRABOARD_URL", url.to_owned()),
            ("EXTRABOARD_TOKEN", dispatch.token.clone()),
            ("EXTRABOARD_DISPATCH", dispatch.id.clone()),
            ("EXTRABOARD_ISSUE", issue.number.to_string()),
            ("EXTRABOARD_ISSUE_ID", issue.id.clone()),
            ("EXTRABOARD_ATTEMPT", dispatch.attempt.to_string()),
        ];
        told.into_iter().chain(version).collect()
    }

    /// Renews the lease until the command has to end.
    async fn keep(&self) -> Halt {
        let lease = Duration::from_secs(u64::try_from(self.next.dispatch.lease_seconds).unwrap_or(0));
        let mut beats = interval((lease / 4).clamp(Duration::from_secs(1), BEAT_MAX));
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            beats.tick().await;
            match self.holder.dispatch_heartbeat(self.id(), &Heartbeat::default()).await {
                Ok(reply) if reply.order == "stop" => return Halt::Ordered,
                Ok(_) => heard = Instant::now(),
                Err(error) if is_passing(&error) => {
                    talk(&format!("cannot renew the lease: {error}"));
                    if heard.elapsed() > lease / LEASE_PART {
                        return Halt::Lost;
                    }
                }
                Err(_) => return Halt::Lost,
            }
        }
    }

    async fn report_finished(&self, finished: &Finished) -> Result<Ended, CliError> {
        match outcome(finished.status) {
            Ended::Completed => {
                let result = json!({ "exitCode": 0, "output": finished.output });
                let body = Complete { result: Some(result), ..Complete::default() };
                let report = async || self.holder.dispatch_complete(self.id(), &body).await;
                self.report(report).await.map(|taken| if taken { Ended::Completed } else { Ended::Over })
            }
            Ended::GivenBack => self.give_back(Ended::GivenBack).await,
            _ => {
                let (class, error) = (class(finished.status), told(finished));
                let body = Fail { error: Some(error), class: Some(class.to_owned()), ..Fail::default() };
                let report = async || self.holder.dispatch_fail(self.id(), &body).await;
                self.report(report).await.map(|taken| if taken { Ended::Failed } else { Ended::Over })
            }
        }
    }

    async fn give_back(&self, ended: Ended) -> Result<Ended, CliError> {
        let report = async || self.holder.dispatch_release(self.id(), &Release::default()).await;
        self.report(report).await.map(|_| ended)
    }

    /// Reports, again if the desk cannot be reached; tells whether the report counted.
    async fn report(
        &self,
        report: impl AsyncFn() -> Result<ReportReply, ClientError>,
    ) -> Result<bool, CliError> {
        let mut tries = 1;
        loop {
            match report().await {
                Ok(_) => return Ok(true),
                Err(ClientError::Api { status: 409, .. }) => return Ok(false),
                Err(error) if is_passing(&error) && tries < REPORT_TRIES => {
                    talk(&format!("cannot report: {error}"));
                    tries += 1;
                    pause().await;
                }
                Err(error) => return Err(CliError::of_request(&error, &[])),
            }
        }
    }
}

/// Reads what an exit code means.
fn outcome(status: ExitStatus) -> Ended {
    match status.code() {
        Some(0) => Ended::Completed,
        Some(TRY_LATER) => Ended::GivenBack,
        Some(_) | None => Ended::Failed,
    }
}

/// A command that was killed crashed; one that says no failed.
fn class(status: ExitStatus) -> &'static str {
    if status.code().is_some() { "execution_failed" } else { "crash" }
}

fn told(finished: &Finished) -> String {
    let end = if finished.errors.trim().is_empty() { &finished.output } else { &finished.errors };
    format!("{}\n{}", finished.status, end.trim()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn exit_codes_are_reports() {
        let exited = |code: i32| ExitStatus::from_raw(code << 8);
        assert_eq!(outcome(exited(0)), Ended::Completed);
        assert_eq!(outcome(exited(75)), Ended::GivenBack);
        assert_eq!(outcome(exited(1)), Ended::Failed);
        assert_eq!(
            (outcome(ExitStatus::from_raw(9)), class(ExitStatus::from_raw(9))),
            (Ended::Failed, "crash")
        );
        assert_eq!(class(exited(2)), "execution_failed");
    }

    #[test]
    fn a_failure_tells_what_the_command_said_last() {
        let finished = |output: &str, errors: &str| Finished {
            status: ExitStatus::from_raw(256),
            output: output.to_owned(),
            errors: errors.to_owned(),
        };
        assert_eq!(told(&finished("out\n", "bad\n")), "exit status: 1\nbad");
        assert_eq!(told(&finished("out\n", " ")), "exit status: 1\nout");
        assert_eq!(told(&finished("", "")), "exit status: 1");
    }
}
