//! Readers: connections that see committed snapshots beside the writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection::{SqliteTx, Texts, failed, open_reader};
use crate::error::Error;
use crate::tx::Verb;

/// How many reads may run at once.
const READERS: usize = 4;

/// A small pool of read-only connections.
#[derive(Debug)]
pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Reader>>>,
    permits: Arc<Semaphore>,
}

#[derive(Debug)]
struct Reader {
    connection: Connection,
    texts: Texts,
}

impl Readers {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let readers = (0..READERS)
            .map(|_| Ok(Reader { connection: open_reader(path)?, texts: Texts::default() }))
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { idle: Arc::new(Mutex::new(readers)), permits: Arc::new(Semaphore::new(READERS)) })
    }

    pub(crate) async fn run<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|error| Error::Unavailable(Box::new(error)))?;
        let idle = Arc::clone(&self.idle);
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut reader = idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop()
                .ok_or_else(|| Error::Unavailable("no reader is left".into()))?;
            let result = catch_unwind(AssertUnwindSafe(|| reader.run(&verb)))
                .unwrap_or_else(|_| Err(Error::Broken("a read panicked".to_owned())));
            reader.end();
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            result
        });
        read.await.unwrap_or_else(|error| Err(Error::Broken(format!("a read panicked: {error}"))))
    }
}

impl Reader {
    /// Runs the verb in one snapshot.
    fn run<V: Verb>(&mut self, verb: &V) -> Result<V::Output, Error> {
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        SqliteTx::new(&mut self.connection, &mut self.texts).run(verb)
    }

    /// Leaves the connection as the next read wants it, whatever happened to this one.
    fn end(&self) {
        if !self.connection.is_autocommit() {
            // Nothing was written; if even this fails the next read says so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}
