//! SQLite: one writer thread, a few readers.
//!
//! The writer thread takes whatever waits in its queue into one transaction, where a
//! failed verb undoes only itself, and answers after the commit: callers share the price of
//! making it durable. A verb's future never waits here, so one poll runs it.

mod connection;
mod lock;
mod readers;
mod writer;

pub(crate) use connection::failed;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::migrate;
use crate::store::Opening;
use crate::tx::Verb;

/// Opens a file to read and write, creating it for its owner alone: a database
/// holds the key tokens are derived from.
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// Returns the one path of a database file, so that the lock beside it is the same for all
/// its names. A second hard link would have a lock and a log of its own, and ruin the file.
fn own_path(path: &Path) -> Result<PathBuf, Error> {
    let bad = |message: String| Error::BadUrl { url: path.display().to_string(), message };
    private_file(path).map_err(|error| bad(format!("cannot open it: {error}")))?;
    let own = path.canonicalize().map_err(|error| bad(format!("cannot open it: {error}")))?;
    let links = own.metadata().map_err(|error| bad(format!("cannot open it: {error}")))?.nlink();
    if links > 1 {
        return Err(bad(format!("has {links} hard links, expected a file with one name")));
    }
    Ok(own)
}

/// An open SQLite database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    /// Closed before the writer: whoever closes last removes the log.
    readers: readers::Readers,
    writer: writer::Writer,
    path: PathBuf,
    /// Device and inode of the file that was opened.
    identity: (u64, u64),
    /// Held for as long as the database is open.
    _lock: lock::FileLock,
}

impl Sqlite {
    /// Opens the file, creating it if need be, and brings its schema up to date.
    pub(crate) fn open(path: &Path, opening: &Opening) -> Result<Self, Error> {
        let path = &own_path(path)?;
        let lock = lock::FileLock::take(path, &opening.note)?;
        let mut connection = connection::open_writer(path)?;
        migrate::sqlite(&mut connection, opening.now)?;
        let file = path.metadata().map_err(|error| Error::Unavailable(Box::new(error)))?;
        Ok(Self {
            identity: (file.dev(), file.ino()),
            path: path.clone(),
            readers: readers::Readers::open(path)?,
            writer: writer::Writer::start(connection)?,
            _lock: lock,
        })
    }

    /// Fails if the file is not the one that was opened: what is written would be lost with it.
    fn check_file(&self) -> Result<(), Error> {
        let now = self.path.metadata().ok().map(|file| (file.dev(), file.ino()));
        if now == Some(self.identity) {
            return Ok(());
        }
        Err(Error::Unavailable(format!("{} was removed or replaced", self.path.display()).into()))
    }

    pub(crate) async fn write<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        self.check_file()?;
        self.writer.run(verb).await
    }

    pub(crate) async fn read<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        self.readers.run(verb).await
    }
}
