//! Signals to processes that are not our children.
//!
//! The standard library only kills children, and calling the system needs unsafe code; the shell can do it.

use std::{
    fs, io,
    process::{Command, Stdio},
};

/// Sends one signal to all of `pids`, as near to at once as can be; those already gone are no failure.
pub(super) fn send(signal: &str, pids: &[u32]) -> io::Result<()> {
    let pids = pids.iter().map(u32::to_string);
    Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$@\"", signal])
        .args(pids)
        .stderr(Stdio::null())
        .status()
        .map(drop)
}

/// Returns the processes whose parent is `parent`.
pub(super) fn children(parent: u32) -> io::Result<Vec<u32>> {
    let pids = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| stat(*pid).is_some_and(|(_, ppid)| ppid == parent)).collect())
}

/// Tells whether a process still holds anything; a zombie does not.
pub(super) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// Returns state and parent of a process.
fn stat(pid: u32) -> Option<(char, u32)> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything, parentheses too.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
