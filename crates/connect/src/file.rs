//! Reads and writes clients' files; what they say is decided elsewhere.
//!
//! The invariant: a file is the old one or the new one, whole, whenever it is looked at. A client may write
//! its file between our reading and our writing; [`Plan::apply`] notices, but for the moment between its
//! last look and the rename.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::change::{Change, Foreign, connect, disconnect};
use crate::diff::diff;
use crate::entry::Entry;
use crate::error::{Error, Place};

/// How many symbolic links are followed to a file; Linux follows as many.
const LINK_COUNT_MAX: usize = 40;

/// Why a file could not be read, changed or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// What the file says cannot be changed.
    #[error("{}, {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        error: Error,
    },
    /// The file was written by someone else since it was read.
    #[error("{} was changed meanwhile; please try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {verb} {}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl FileError {
    fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { verb, path, source }
    }

    fn content(path: &Path) -> impl FnOnce(Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Content { path, error }
    }
}

/// What would happen to a file; nothing does before [`Plan::apply`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    path: PathBuf,
    before: Option<String>,
    change: Change,
}

impl Plan {
    /// Plans to put the entry into a file, which need not exist.
    pub fn connect(agent: Agent, path: &Path, entry: &Entry, foreign: Foreign) -> Result<Self, FileError> {
        let before = read(path)?;
        let change = connect(agent, before.as_deref(), entry, foreign).map_err(FileError::content(path))?;
        Ok(Self { path: path.to_owned(), before, change })
    }

    /// Plans to take the entry out of a file; there is nothing to do where there is no file.
    pub fn disconnect(agent: Agent, path: &Path, foreign: Foreign) -> Result<Self, FileError> {
        let before = read(path)?;
        let change = match &before {
            Some(text) => disconnect(agent, text, foreign).map_err(FileError::content(path))?,
            None => Change::Nothing,
        };
        Ok(Self { path: path.to_owned(), before, change })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the file says now; `None` where there is no file.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns what is to happen.
    pub const fn change(&self) -> &Change {
        &self.change
    }

    /// Returns the change as a unified diff, empty where there is none.
    pub fn diff(&self) -> String {
        let after = match &self.change {
            Change::Nothing => self.before(),
            Change::Write(text) => Some(text.as_str()),
            Change::Remove => None,
        };
        diff(&self.path, self.before(), after)
    }

    /// Makes the change, unless the file is no longer what it was when this was planned.
    pub fn apply(&self) -> Result<(), FileError> {
        if self.change == Change::Nothing {
            return Ok(());
        }
        if read(&self.path)? != self.before {
            return Err(FileError::Changed { path: self.path.clone() });
        }
        match &self.change {
            Change::Nothing => Ok(()),
            Change::Write(text) => write(&self.path, text),
            Change::Remove => remove(&self.path),
        }
    }
}

/// Returns what a file says; `None` where there is no file.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::io("read", path)(error)),
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let place = Place::of(&String::from_utf8_lossy(valid), valid.len());
        let problem = "expected UTF-8".to_owned();
        FileError::content(path)(Error::Syntax { place, problem })
    })
}

/// Writes a file as a whole or not at all, with the folders it needs and the permissions it had.
///
/// A symbolic link stays one: the file it leads to is written.
pub fn write(path: &Path, text: &str) -> Result<(), FileError> {
    let path = follow(path)?;
    // A path without a folder is one in the current folder.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(FileError::io("create", folder))?;
    let permissions = match fs::metadata(&path) {
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(FileError::io("read", &path)(error)),
    };
    replace(&path, folder, text, permissions).map_err(FileError::io("write", &path))
}

/// Removes a file; a symbolic link to it stays.
pub fn remove(path: &Path) -> Result<(), FileError> {
    let path = follow(path)?;
    fs::remove_file(&path).map_err(FileError::io("remove", &path))
}

fn replace(path: &Path, folder: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    // Without this a new file would be the user's alone; with it the user's mask decides, as for any other.
    #[cfg(unix)]
    if permissions.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut file = builder.prefix(".extraboard-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    // Before the rename, or a crash could leave an empty file in place of the old one.
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the file that symbolic links lead to, whether it exists or not.
fn follow(path: &Path) -> Result<PathBuf, FileError> {
    let mut real = path.to_owned();
    for _ in 0..LINK_COUNT_MAX {
        if !fs::symlink_metadata(&real).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(real);
        }
        let target = fs::read_link(&real).map_err(FileError::io("read", &real))?;
        real = real.parent().unwrap_or(Path::new("")).join(target);
    }
    let error = io::Error::other("too many symbolic links");
    Err(FileError::io("read", path)(error))
}
