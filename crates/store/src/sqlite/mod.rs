//! SQLite: one writer thread, a few readers.
//!
//! The writer thread takes whatever waits in its queue into one transaction, a
//! savepoint per verb, and answers after the commit: callers share the price of
//! making it durable. A verb's future never waits here, so one poll runs it.

mod connection;
mod lock;
mod readers;
mod writer;

pub(crate) use connection::failed;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::Error;
use crate::migrate;
use crate::store::Opening;
use crate::tx::Verb;

/// Opens a file to read and write, creating it for its owner alone.
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// An open SQLite database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: writer::Writer,
    readers: readers::Readers,
    /// Held for as long as the database is open.
    _lock: lock::FileLock,
}

impl Sqlite {
    /// Opens the file, creating it if need be, and brings its schema up to date.
    pub(crate) fn open(path: &Path, opening: &Opening) -> Result<Self, Error> {
        let lock = lock::FileLock::take(path, &opening.note)?;
        let mut connection = connection::open_writer(path)?;
        migrate::sqlite(&mut connection, opening.now)?;
        Ok(Self {
            readers: readers::Readers::open(path)?,
            writer: writer::Writer::start(connection)?,
            _lock: lock,
        })
    }

    pub(crate) async fn write<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        self.writer.run(verb).await
    }

    pub(crate) async fn read<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        self.readers.run(verb).await
    }
}
