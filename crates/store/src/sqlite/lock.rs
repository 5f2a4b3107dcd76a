//! The file lock: one desk per database file, refused before anything is touched.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A lock on `<database>.lock`; the operating system frees it when the process ends.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock and leaves a note for whoever comes second.
    pub(crate) fn take(database: &Path, note: &str) -> Result<Self, Error> {
        let path = lock_path(database);
        let unusable = |error: std::io::Error| Error::BadUrl {
            url: database.display().to_string(),
            message: format!("cannot use {}: {error}", path.display()),
        };
        let mut file = super::private_file(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(database, &mut file)),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        file.set_len(0).map_err(unusable)?;
        file.write_all(note.as_bytes()).map_err(unusable)?;
        Ok(Self { _file: file })
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn in_use(database: &Path, file: &mut File) -> Error {
    let mut note = String::new();
    // The note is a courtesy: without it the refusal stands all the same.
    let read = file.rewind().and_then(|()| file.read_to_string(&mut note));
    if read.is_err() || note.is_empty() {
        "it left no note".clone_into(&mut note);
    }
    Error::InUse { path: database.display().to_string(), note }
}
