//! Child processes that end with their test, free ports, and waiting for a condition.
//!
//! [`wait_until`] is the one place in the workspace's tests that sleeps: always for a named condition, never
//! longer than a deadline.

use std::{
    net::TcpListener,
    process::{Child, ChildStderr, ChildStdout, Command, ExitStatus},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

const POLL_INTERVAL: Duration = Duration::from_millis(10);
const PORT_FIRST: u32 = 15_000;
const PORT_COUNT: u32 = 17_000;
const PORT_ATTEMPT_COUNT_MAX: u32 = 1_000;

/// A child process that is killed when its owner lets go of it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    name: String,
}

impl Process {
    /// Starts `command`.
    ///
    /// # Panics
    ///
    /// When the program cannot be started.
    #[track_caller]
    pub fn spawn(command: &mut Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        Self { child, name }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the standard output once, if the command asked for a pipe.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns the standard error once, if the command asked for a pipe.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Returns the exit status if the process has ended.
    ///
    /// # Panics
    ///
    /// When the system denies knowing the child, which it does not.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child that was started can be waited for")
    }

    /// Waits for the process to end by itself.
    ///
    /// # Panics
    ///
    /// When it still runs after `limit`.
    #[track_caller]
    pub fn wait_within(&mut self, limit: Duration) -> ExitStatus {
        let what = format!("{} (process {}) to end", self.name, self.id());
        wait_until(limit, &what, || self.status())
    }

    /// Kills the process with SIGKILL and returns once it is dead.
    ///
    /// # Panics
    ///
    /// When the child may not be killed, as one that took another user's rights.
    pub fn kill_9(&mut self) -> ExitStatus {
        // Killing a process that has just ended by itself is no failure.
        self.child.kill().expect("a child that was started can be killed");
        self.child.wait().expect("a child that was started can be waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks `probe` again and again until it returns something, and returns that.
///
/// # Panics
///
/// Names `what` when `limit` has passed.
#[track_caller]
pub fn wait_until<T>(limit: Duration, what: &str, probe: impl FnMut() -> Option<T>) -> T {
    poll(limit, probe).unwrap_or_else(|| panic!("waited {limit:?} for {what}"))
}

/// Like [`wait_until`], for callers that have an answer when the time is over.
#[expect(clippy::disallowed_methods, reason = "waiting for other processes takes real time")]
pub(crate) fn poll<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = probe() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns a loopback port that nobody listens on.
///
/// It lies below the range from which the system takes the ports of outgoing connections. A client that
/// retries while its server is down would otherwise sometimes be given the server's own port, connect to
/// itself, and keep the server from coming back.
///
/// # Panics
///
/// When a thousand ports in a row are taken.
#[track_caller]
pub fn free_port() -> u16 {
    static CALL_COUNT: AtomicU32 = AtomicU32::new(0);
    // Tests run in processes side by side: neighbouring process ids start far apart, so that they do not
    // race.
    let start = std::process::id().wrapping_mul(PORT_ATTEMPT_COUNT_MAX + 9);
    (0..PORT_ATTEMPT_COUNT_MAX)
        .map(|_| PORT_FIRST + start.wrapping_add(CALL_COUNT.fetch_add(1, Ordering::Relaxed)) % PORT_COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("one of a thousand ports is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(30);

    fn sleeper() -> Process {
        Process::spawn(Command::new("sleep").arg("600"))
    }

    fn exists(id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn killed_process_is_dead_on_return() {
        let mut process = sleeper();
        let id = process.id();
        assert!(exists(id));
        assert!(!process.kill_9().success());
        assert!(!exists(id));
    }

    #[test]
    fn killing_twice_is_harmless() {
        let mut process = sleeper();
        assert_eq!(process.kill_9(), process.kill_9());
    }

    #[test]
    fn dropped_process_is_dead() {
        let process = sleeper();
        let id = process.id();
        drop(process);
        assert!(!exists(id));
    }

    #[test]
    fn process_that_ends_is_waited_for() {
        let mut process = Process::spawn(Command::new("sh").args(["-c", "exit 3"]));
        assert_eq!(process.wait_within(Duration::from_mins(1)).code(), Some(3));
    }

    #[test]
    #[should_panic(expected = "for sleep (process ")]
    fn process_that_does_not_end_is_named() {
        sleeper().wait_within(SOON);
    }

    #[test]
    #[should_panic(expected = "waited 30ms for the moon")]
    fn condition_that_never_comes_is_named() {
        wait_until(SOON, "the moon", || None::<()>);
    }

    #[test]
    fn condition_is_asked_until_it_comes() {
        let mut answers = [None, None, Some(7)].into_iter().flatten().peekable();
        assert_eq!(wait_until(SOON, "seven", || answers.next()), 7);
    }

    #[test]
    fn free_ports_differ_and_can_be_bound() {
        let (first, second) = (free_port(), free_port());
        assert_ne!(first, second);
        TcpListener::bind(("127.0.0.1", first)).unwrap();
        TcpListener::bind(("127.0.0.1", second)).unwrap();
    }
}
