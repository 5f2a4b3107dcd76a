//! `desk.json`: what a running desk leaves in the data directory so that other commands find it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const NAME: &str = "desk.json";

/// Who runs where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeskFile {
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) metrics_url: String,
    /// Without its password.
    pub(crate) database: String,
    pub(crate) started_at: String,
    pub(crate) version: String,
}

impl DeskFile {
    /// Reads the file; one that is missing or not ours to understand says nothing.
    pub(crate) fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        match fs::read(data_dir.join(NAME)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the file, whole or not at all, and returns the guard that removes it.
    pub(crate) fn publish(&self, data_dir: &Path) -> io::Result<Published> {
        let temporary = data_dir.join(format!("{NAME}.{}.tmp", self.pid));
        let written = write_new(&temporary, &serde_json::to_vec_pretty(self)?)
            .and_then(|()| fs::rename(&temporary, data_dir.join(NAME)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.map(|()| Published { data_dir: data_dir.to_owned(), pid: self.pid })
    }

    /// Removes the file if it is that process's.
    pub(crate) fn remove_of(data_dir: &Path, pid: u32) -> io::Result<()> {
        match Self::read(data_dir)? {
            Some(desk) if desk.pid == pid => fs::remove_file(data_dir.join(NAME)),
            Some(_) | None => Ok(()),
        }
    }
}

/// Removes the file when the desk ends.
#[derive(Debug)]
pub(crate) struct Published {
    data_dir: PathBuf,
    pid: u32,
}

impl Drop for Published {
    fn drop(&mut self) {
        // A file that stays behind is harmless: its process is gone, and readers check.
        let _ = DeskFile::remove_of(&self.data_dir, self.pid);
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(pid: u32) -> DeskFile {
        DeskFile {
            pid,
            url: "http://127.0.0.1:8600".to_owned(),
            metrics_url: "http://127.0.0.1:8601".to_owned(),
            database: "sqlite:/x".to_owned(),
            started_at: "2026-01-01T00:00:00Z".to_owned(),
            version: "0.1.0".to_owned(),
        }
    }

    #[test]
    fn what_is_published_is_read_and_then_gone() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(DeskFile::read(dir.path()).unwrap(), None);
        let published = desk(1).publish(dir.path()).unwrap();
        assert_eq!(DeskFile::read(dir.path()).unwrap(), Some(desk(1)));
        drop(published);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_desk_does_not_remove_the_file_of_its_successor() {
        let dir = tempfile::tempdir().unwrap();
        let first = desk(1).publish(dir.path()).unwrap();
        let _second = desk(2).publish(dir.path()).unwrap();
        drop(first);
        assert_eq!(DeskFile::read(dir.path()).unwrap(), Some(desk(2)));
    }

    #[test]
    fn the_names_are_the_documented_ones() {
        let value = serde_json::to_value(desk(1)).unwrap();
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(names, ["database", "metricsUrl", "pid", "startedAt", "url", "version"]);
    }

    #[test]
    fn a_file_that_makes_no_sense_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), "{").unwrap();
        assert_eq!(DeskFile::read(dir.path()).unwrap(), None);
    }
}
