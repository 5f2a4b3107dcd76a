//! What can go wrong with a private PostgreSQL, in words that say what to do about it.

use std::{io, path::PathBuf};

/// Why a private PostgreSQL could not be found, started or used.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// There are no server binaries on this machine.
    #[error(
        "no PostgreSQL server found: no directory in PATH and none of /usr/lib/postgresql/*/bin holds {}; \
         install the package `postgresql` (on Debian and Ubuntu: apt-get install postgresql)",
        .missing.join(", ")
    )]
    NotInstalled {
        /// The programs that have to lie in one directory.
        missing: &'static [&'static str],
    },
    /// Root may not run PostgreSQL, and there is no other user to run it as.
    #[error(
        "PostgreSQL refuses to run as root, and this machine has neither a user `postgres` nor \
         `nobody`: add one"
    )]
    NoUnprivilegedUser,
    /// A program could not be started at all.
    #[error("cannot run {program}")]
    Run {
        /// The program's name or path.
        program: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program ran and reported failure.
    #[error("{program} failed: {output}")]
    Failed {
        /// The program's name or path.
        program: PathBuf,
        /// What it wrote.
        output: String,
    },
    /// The server ended, or did not accept connections in time.
    #[error("PostgreSQL did not start on port {port}; the end of its log:\n{log}")]
    NotStarted {
        /// The port it should have listened on.
        port: u16,
        /// The last lines it logged.
        log: String,
    },
    /// The server's directory could not be made or given to its user.
    #[error("cannot prepare {path}")]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}
