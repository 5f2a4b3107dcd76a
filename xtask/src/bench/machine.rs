//! What the numbers were measured on, and of what. No names of hosts, users or directories.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};

/// Describes processor, memory and kernel.
pub(super) fn describe() -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kib: u64 = memory.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or_default();
    let kernel = said("uname", &["-srm"])?;
    Ok(format!("{processor}, {cores} cores, {} GiB, {kernel}", (kib + 512 * 1024) / (1024 * 1024)))
}

/// Returns what a file of the kernel says under a name, the first time it does.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Returns the commit, marked if the files are not what it says.
pub(super) fn commit() -> Result<String> {
    let commit = said("git", &["rev-parse", "--short", "HEAD"])?;
    let changed = said("git", &["status", "--porcelain", "--", ".", ":!bench/results"])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Returns today, in UTC.
pub(super) fn today() -> Result<String> {
    said("date", &["-u", "+%F"])
}

fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(crate::root()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    ensure!(output.status.success(), "{program} ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
