//! A snapshot that is held open and does nothing: a backup, a report, a forgotten terminal.
//!
//! While it is open PostgreSQL removes no row that was deleted since.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

/// The snapshot is taken by the first statement that reads.
const OPEN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; VALUES (1);";

/// An open snapshot; it ends when dropped.
#[derive(Debug)]
pub(super) struct Snapshot {
    psql: Child,
}

impl Snapshot {
    pub(super) fn open(program: &Path, url: &str) -> Result<Self> {
        let psql = Command::new(program)
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--no-password"])
            .args(["--set=ON_ERROR_STOP=1", "--dbname", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run psql")?;
        let mut snapshot = Self { psql };
        let input = snapshot.psql.stdin.as_mut().context("psql has no input")?;
        writeln!(input, "{OPEN}")?;
        let output = snapshot.psql.stdout.as_mut().context("psql has no output")?;
        let mut answer = String::new();
        BufReader::new(output).read_line(&mut answer)?;
        ensure!(answer.trim() == "1", "psql did not open a snapshot");
        Ok(snapshot)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // If it has gone already there is nothing to end.
        let _ = self.psql.kill();
        let _ = self.psql.wait();
    }
}
