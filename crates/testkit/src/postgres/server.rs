//! One private server: its directory, its port, its crash and its return.
//!
//! Nothing of it outlives the owner: sockets are loopback TCP only and shared memory lies in the directory,
//! which the janitor removes. For tests it is fast rather than safe against power failure; a killed process
//! loses nothing all the same.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use super::{Binaries, PostgresError, account::Account, binaries::run, janitor::Janitor, signal};
use crate::process::{free_port, poll};

const START_LIMIT: Duration = Duration::from_mins(2);
const DEATH_LIMIT: Duration = Duration::from_secs(30);
const START_ATTEMPT_COUNT_MAX: usize = 5;
const LOG_LINE_COUNT_MAX: usize = 30;

/// A running PostgreSQL of one's own, superuser `postgres`, no password; it ends when dropped.
#[derive(Debug)]
pub struct PrivatePostgres {
    binaries: Binaries,
    account: Account,
    commits: Commits,
    port: u16,
    postmaster: Option<Child>,
    janitor: Option<Janitor>,
    directory: TempDir,
}

/// What a server does for its commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// They outlive a killed process, not a power failure: for tests.
    Fast,
    /// They are on disk, as anywhere else: for measuring.
    Durable,
}

/// How one attempt to start ended.
enum Start {
    Ready,
    PortTaken,
}

impl PrivatePostgres {
    /// Makes a new cluster in a temporary directory and starts it on a free loopback port.
    pub fn start() -> Result<Self, PostgresError> {
        Self::start_with(Commits::Fast)
    }

    /// Makes and starts a cluster whose commits are as fast or as durable as asked for.
    pub fn start_with(commits: Commits) -> Result<Self, PostgresError> {
        let binaries = Binaries::find()?;
        let account = Account::choose()?;
        let directory = make_directory(account)?;
        let janitor = Some(Janitor::start(account, directory.path())?);
        let mut server = Self { binaries, account, commits, port: 0, postmaster: None, janitor, directory };
        server.initdb()?;
        for _ in 0..START_ATTEMPT_COUNT_MAX {
            server.port = free_port();
            match server.launch()? {
                Start::Ready => return Ok(server),
                Start::PortTaken => {}
            }
        }
        Err(server.not_started())
    }

    /// Returns the URL of a database on this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the port, which stays the same across restarts.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Creates an empty database.
    pub fn create_database(&self, name: &str) -> Result<(), PostgresError> {
        self.binaries.create_database(&self.url("postgres"), name)
    }

    /// Runs one SQL text in a database and returns what `psql` prints: bare values, `|` between columns.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, PostgresError> {
        self.binaries.psql(&self.url(database), sql)
    }

    /// Kills every process of the server at once with SIGKILL and returns when all are dead.
    ///
    /// Each backend leads a session of its own, so a process group does not reach them, and left alone they
    /// go on for a moment. The postmaster is stopped first so that it starts no new one while they are
    /// counted.
    pub fn kill_9(&mut self) -> Result<(), PostgresError> {
        let Some(mut postmaster) = self.postmaster.take() else {
            return Ok(());
        };
        let of_signal = |source| PostgresError::Run { program: PathBuf::from("kill"), source };
        signal::send("STOP", &[postmaster.id()]).map_err(of_signal)?;
        let mut pids = signal::children(postmaster.id()).map_err(of_signal)?;
        pids.push(postmaster.id());
        signal::send("KILL", &pids).map_err(of_signal)?;
        postmaster.wait().map_err(of_signal)?;
        let dead = poll(DEATH_LIMIT, || (!pids.iter().any(|pid| signal::is_alive(*pid))).then_some(()));
        dead.ok_or_else(|| PostgresError::Failed {
            program: PathBuf::from("kill"),
            output: format!("some of {pids:?} survived SIGKILL"),
        })?;
        self.forget_postmaster();
        Ok(())
    }

    /// Starts the server again on its port and directory; one that still runs is killed first.
    pub fn restart(&mut self) -> Result<(), PostgresError> {
        self.kill_9()?;
        for _ in 0..START_ATTEMPT_COUNT_MAX {
            match self.launch()? {
                Start::Ready => return Ok(()),
                Start::PortTaken => {}
            }
        }
        Err(self.not_started())
    }

    fn initdb(&self) -> Result<(), PostgresError> {
        let mut command = self.account.command(self.binaries.path("initdb"));
        command
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--pgdata",
            ])
            .arg(self.data());
        run(command).map(drop)
    }

    /// Starts the postmaster and waits until it accepts connections.
    fn launch(&mut self) -> Result<Start, PostgresError> {
        self.postmaster = Some(self.spawn_postmaster()?);
        let outcome = poll(START_LIMIT, || {
            if self.is_ready() {
                return Some(Some(Start::Ready));
            }
            if self.has_ended() {
                return Some(self.log().contains("Address already in use").then_some(Start::PortTaken));
            }
            None
        });
        outcome.flatten().ok_or_else(|| self.not_started())
    }

    fn spawn_postmaster(&self) -> Result<Child, PostgresError> {
        let log_path = self.log_path();
        let of_log = |source| PostgresError::Directory { path: log_path.clone(), source };
        let log = self.account.make_file(&log_path).map_err(of_log)?;
        let program = self.binaries.path("postgres");
        let mut command = self.account.command(&program);
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "dynamic_shared_memory_type=mmap",
            match self.commits {
                Commits::Fast => "fsync=off",
                Commits::Durable => "fsync=on",
            },
            // Stays on: SIGKILL can end a write between the two halves of a page, and recovery mends that.
            "full_page_writes=on",
            "max_connections=200",
        ] {
            command.arg("-c").arg(setting);
        }
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(of_log)?)
            .stderr(log)
            // An interrupt at the terminal is for the owner; the janitor then stops the server.
            .process_group(0)
            .spawn()
            .map_err(|source| PostgresError::Run { program, source })
    }

    /// Tells whether the postmaster says of itself that it accepts connections: line 8 of its pid file.
    fn is_ready(&self) -> bool {
        let lines = fs::read_to_string(self.pid_path()).unwrap_or_default();
        let own = self.postmaster.as_ref().map(|child| child.id().to_string());
        lines.lines().next() == own.as_deref()
            && lines.lines().nth(7).is_some_and(|status| status.trim() == "ready")
    }

    fn has_ended(&mut self) -> bool {
        self.postmaster.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }

    /// Removes what a killed postmaster leaves: its pid file, whose number may soon be another process's, and
    /// the small segment of shared memory that the file names, which would stay for ever if nobody restarts
    /// this server.
    fn forget_postmaster(&self) {
        let lines = fs::read_to_string(self.pid_path()).unwrap_or_default();
        if let Some(segment) = lines.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)) {
            let _ = Command::new("ipcrm").args(["-m", segment]).stderr(Stdio::null()).status();
        }
        let _ = fs::remove_file(self.pid_path());
    }

    fn not_started(&self) -> PostgresError {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let end = &lines[lines.len().saturating_sub(LOG_LINE_COUNT_MAX)..];
        PostgresError::NotStarted { port: self.port, log: end.join("\n") }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.directory.path().join("server.log")
    }

    fn pid_path(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        drop(self.janitor.take());
        // By now the postmaster has ended and only wants to be waited for, unless somebody killed the
        // janitor.
        let _ = self.kill_9();
    }
}

fn make_directory(account: Account) -> Result<TempDir, PostgresError> {
    let parent = account.temporary_parent();
    let of_path = |path: &Path| {
        let path = path.to_path_buf();
        move |source| PostgresError::Directory { path, source }
    };
    let directory =
        tempfile::Builder::new().prefix("xb-postgres-").tempdir_in(&parent).map_err(of_path(&parent))?;
    account.give(directory.path()).map_err(of_path(directory.path()))?;
    Ok(directory)
}
