//! Processes: whether a desk still runs, asking it to stop, and what this one was told to ignore.
//!
//! Signals go through the `kill` program, because unsafe code is forbidden here.

use std::fs;
use std::io;
use std::process::{Command, Stdio};

/// Signal 1 in a set of signals.
const HANGUP: u64 = 1;

/// Returns whether `pid` is a running desk, as far as its name tells: process numbers are used again.
pub(crate) fn desk_runs(pid: u32) -> bool {
    let Ok(own) = fs::read_to_string("/proc/self/stat") else {
        return signal(pid, "-0").is_ok();
    };
    let Ok(other) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    match (name_and_state(&own), name_and_state(&other)) {
        (Some((own_name, _)), Some((name, state))) => {
            // A zombie has ended and only waits for its parent to notice.
            !matches!(state, 'Z' | 'X') && (name == own_name || name == "xb")
        }
        (None, _) | (_, None) => false,
    }
}

/// Asks a process to end.
pub(crate) fn terminate(pid: u32) -> io::Result<()> {
    signal(pid, "-TERM")
}

/// Signals a process and all it started that did not leave its group.
pub(crate) fn signal_group(leader: u32, name: &str) -> io::Result<()> {
    kill(&format!("-{leader}"), name)
}

/// Returns whether whoever started this process had it ignore SIGHUP, as `nohup` does.
pub(crate) fn ignores_hangup() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored_signals(&status) & HANGUP != 0)
}

fn signal(pid: u32, name: &str) -> io::Result<()> {
    kill(&pid.to_string(), name)
}

fn kill(target: &str, signal: &str) -> io::Result<()> {
    let status = Command::new("kill")
        .args([signal, "--", target])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("kill {signal} {target}: {status}"))) }
}

/// Reads the line `SigIgn:` and a set in hexadecimal; without one nothing is ignored.
fn ignored_signals(status: &str) -> u64 {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// Reads `PID (NAME) STATE …`; the name may itself hold parentheses.
fn name_and_state(stat: &str) -> Option<(&str, char)> {
    let (_, rest) = stat.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    Some((name, rest.trim_start().chars().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read() {
        assert_eq!(name_and_state("1 (xb) S 0 1"), Some(("xb", 'S')));
        assert_eq!(name_and_state("1 (a) b) Z 0 1"), Some(("a) b", 'Z')));
        assert_eq!(name_and_state("nonsense"), None);
    }

    #[test]
    fn ignored_signals_are_read() {
        assert_eq!(ignored_signals("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored_signals("Name:\txb\n"), 0);
    }

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(desk_runs(std::process::id()));
        assert!(!desk_runs(u32::MAX));
    }
}
