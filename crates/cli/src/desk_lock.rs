//! `desk.lock`: held by `xb up` for as long as it runs, so that a data directory has one desk.
//!
//! The operating system releases it however the process ends, so unlike `desk.json` it is never stale.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const NAME: &str = "desk.lock";

/// The lock, held until dropped.
#[derive(Debug)]
pub(crate) struct DeskLock {
    _file: File,
}

impl DeskLock {
    /// Takes the lock; `None` if another process holds it.
    pub(crate) fn take(data_dir: &Path) -> io::Result<Option<Self>> {
        let path = data_dir.join(NAME);
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_held_once_and_free_after() {
        let dir = tempfile::tempdir().unwrap();
        let held = DeskLock::take(dir.path()).unwrap();
        assert!(held.is_some());
        assert!(DeskLock::take(dir.path()).unwrap().is_none());
        drop(held);
        assert!(DeskLock::take(dir.path()).unwrap().is_some());
    }
}
