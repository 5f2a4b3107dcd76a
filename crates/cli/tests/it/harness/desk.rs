//! A desk as a process: the built binary, its folder, its ports, its end and its return.

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use extraboard_testkit::process::{Process, free_port, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use super::request::{Reply, Request, get};

/// The variable that names the folder.
const DATA_DIR_VARIABLE: &str = "EXTRABOARD_DATA_DIR";
const START_LIMIT: Duration = Duration::from_secs(30);
const END_LIMIT: Duration = Duration::from_secs(20);

/// Returns the built binary in an environment that knows nothing but the folder.
pub(crate) fn xb(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xb"));
    // `kill` is found through PATH.
    command.env_clear().env("PATH", "/usr/bin:/bin").env(DATA_DIR_VARIABLE, data_dir);
    command
}

/// How a desk is started.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    command: &'static str,
    db: Option<String>,
    listen_ip: &'static str,
    flags: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { command: "serve", db: None, listen_ip: "127.0.0.1", flags: Vec::new(), variables: Vec::new() }
    }
}

impl Plan {
    /// Starts with `xb up` instead of `xb serve`.
    pub(crate) fn up(mut self) -> Self {
        self.command = "up";
        self
    }

    pub(crate) fn db(mut self, url: &str) -> Self {
        self.db = Some(url.to_owned());
        self
    }

    pub(crate) fn listen_ip(mut self, ip: &'static str) -> Self {
        self.listen_ip = ip;
        self
    }

    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A desk with a folder and ports of its own; killed when dropped.
#[derive(Debug)]
pub(crate) struct Desk {
    plan: Plan,
    folder: TempDir,
    port: u16,
    metrics_port: u16,
    process: Process,
}

impl Desk {
    /// Starts a desk and waits until it is healthy.
    #[track_caller]
    pub(crate) fn start(plan: Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (port, metrics_port) = (free_port(), free_port());
        let process = spawn(&plan, folder.path(), port, metrics_port);
        let mut desk = Self { plan, folder, port, metrics_port, process };
        desk.wait_healthy();
        desk
    }

    /// Returns where the API listens.
    pub(crate) fn api(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Returns where health and metrics are.
    pub(crate) fn metrics(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.metrics_port))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.api())
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the default database's file.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.data_dir().join("extraboard.db")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.process.status().is_none()
    }

    /// Returns the token that makes a person of whoever sends it.
    pub(crate) fn admin_token(&self) -> String {
        fs::read_to_string(self.data_dir().join("admin.token")).unwrap().trim().to_owned()
    }

    /// Returns what the desk wrote to standard error, over all its starts.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(log_path(self.folder.path())).unwrap_or_default()
    }

    /// Sends a request that must be answered.
    #[track_caller]
    pub(crate) fn send(&self, request: &Request) -> Reply {
        request.send(self.api()).unwrap_or_else(|_| panic!("no answer to {request:?}\n{}", self.log()))
    }

    /// Sends a request as a person.
    #[track_caller]
    pub(crate) fn send_as_person(&self, request: Request) -> Reply {
        self.send(&request.token(&self.admin_token()))
    }

    /// Returns every issue, oldest first.
    #[track_caller]
    pub(crate) fn issues(&self) -> Vec<Value> {
        let mut issues = Vec::new();
        let mut cursor = Value::from("0");
        while let Some(after) = cursor.as_str() {
            let path = format!("/api/issues?limit=200&cursor={after}");
            let page = self.send_as_person(get(&path)).expect(200);
            issues.extend(page["data"].as_array().unwrap().iter().cloned());
            cursor = page["nextCursor"].clone();
        }
        issues
    }

    /// Kills the desk with SIGKILL.
    pub(crate) fn kill_9(&mut self) {
        self.process.kill_9();
    }

    /// Starts the desk again on the same ports, folder and database.
    #[track_caller]
    pub(crate) fn restart(&mut self) {
        self.process.kill_9();
        self.process = spawn(&self.plan, self.folder.path(), self.port, self.metrics_port);
        self.wait_healthy();
    }

    /// Asks the desk to end, and waits until it has.
    #[track_caller]
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        self.end_by("-TERM")
    }

    /// Sends a signal that must end the desk, and waits until it has.
    #[track_caller]
    pub(crate) fn end_by(&mut self, signal: &str) -> ExitStatus {
        let status = Command::new("kill").args([signal, &self.pid().to_string()]).status().unwrap();
        assert!(status.success());
        self.wait_end()
    }

    /// Waits for the desk to end by itself.
    #[track_caller]
    pub(crate) fn wait_end(&mut self) -> ExitStatus {
        self.process.wait_within(END_LIMIT)
    }

    /// Runs a command of the same folder and returns what came of it.
    pub(crate) fn run(&self, words: &[&str]) -> std::process::Output {
        xb(self.data_dir()).args(words).output().unwrap()
    }

    /// Waits until the API accepts and the database answers.
    #[track_caller]
    pub(crate) fn wait_healthy(&mut self) {
        let health = get("/health");
        wait_until(START_LIMIT, "the desk to be healthy", || {
            assert!(self.process.status().is_none(), "the desk ended:\n{}", self.log());
            health.send(self.metrics()).ok().filter(|reply| reply.status == 200)
        });
    }
}

fn log_path(data_dir: &Path) -> PathBuf {
    data_dir.join("stderr.log")
}

fn spawn(plan: &Plan, data_dir: &Path, port: u16, metrics_port: u16) -> Process {
    let log = OpenOptions::new().create(true).append(true).open(log_path(data_dir)).unwrap();
    let mut command = xb(data_dir);
    command
        .arg(plan.command)
        .args(["--listen", &format!("{}:{port}", plan.listen_ip)])
        .args(["--metrics-listen", &format!("127.0.0.1:{metrics_port}")])
        .args(&plan.flags)
        .envs(plan.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    if let Some(url) = &plan.db {
        command.args(["--db", url]);
    }
    Process::spawn(&mut command)
}
