//! Who runs the server: PostgreSQL refuses to run as root.

use std::{
    fs, io,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use super::PostgresError;

const UNPRIVILEGED: &[&str] = &["postgres", "nobody"];

/// The user that owns the server's directory and processes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Account {
    /// The user of this process.
    Own,
    /// Another user, because this process is root's.
    Other {
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
}

impl Account {
    pub(super) fn choose() -> Result<Self, PostgresError> {
        if id(&["-u"])? != Some(0) {
            return Ok(Self::Own);
        }
        for name in UNPRIVILEGED {
            if let (Some(uid), Some(gid)) = (id(&["-u", name])?, id(&["-g", name])?) {
                return Ok(Self::Other { uid, gid });
            }
        }
        Err(PostgresError::NoUnprivilegedUser)
    }

    /// Returns a command for `program` that runs as this user. Root's own groups are dropped, too.
    pub(super) fn command(self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        // The directory of the test may be closed to this user.
        command.current_dir("/");
        match self {
            Self::Own => {}
            Self::Other { uid, gid } => {
                command.uid(uid).gid(gid);
            }
        }
        command
    }

    /// Returns where directories of this user go: root's own temporary directory may be closed to it.
    pub(super) fn temporary_parent(self) -> PathBuf {
        match self {
            Self::Own => std::env::temp_dir(),
            Self::Other { .. } => PathBuf::from("/tmp"),
        }
    }

    pub(super) fn give(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => chown(path, Some(uid), Some(gid)),
        }
    }

    /// Makes an empty file that this user may write to.
    pub(super) fn make_file(self, path: &Path) -> io::Result<fs::File> {
        let file = fs::File::create(path)?;
        self.give(path)?;
        Ok(file)
    }
}

/// Returns what `id` prints, or nothing where there is no such user.
fn id(arguments: &[&str]) -> Result<Option<u32>, PostgresError> {
    let output = Command::new("id")
        .args(arguments)
        .output()
        .map_err(|source| PostgresError::Run { program: PathBuf::from("id"), source })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse().ok())
}
