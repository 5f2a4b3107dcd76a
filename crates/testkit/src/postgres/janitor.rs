//! Stops a server and removes its directory once the owner is gone, however it went.
//!
//! A destructor does not run when a test is killed or interrupted. The janitor is a small process outside the
//! owner's process group that waits at the end of a pipe: when the owner lets go of it, or dies, the pipe
//! closes and the janitor cleans up. So there is one way to clean up, and each test walks it.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Stdio},
};

use super::{PostgresError, account::Account};

/// `SIGQUIT` is PostgreSQL's immediate shutdown; the postmaster removes its pid file last of all.
const SCRIPT: &str = r#"
read -r _
file="$0/data/postmaster.pid"
pid=$(head -n 1 "$file") && kill -s QUIT "$pid"
tries=0
while [ -e "$file" ] && [ "$tries" -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
rm -rf "$0"
"#;

/// The process that cleans up behind one server.
#[derive(Debug)]
pub(super) struct Janitor {
    child: Child,
}

impl Janitor {
    pub(super) fn start(account: Account, directory: &Path) -> Result<Self, PostgresError> {
        let child = account
            .command("sh")
            .args(["-c", SCRIPT])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| PostgresError::Run { program: "sh".into(), source })?;
        Ok(Self { child })
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        // Waiting closes the pipe first.
        let _ = self.child.wait();
    }
}
