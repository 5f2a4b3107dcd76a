//! The writer thread: many verbs, one commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::{SqliteTx, Texts, failed};
use crate::error::Error;
use crate::tx::Verb;

/// How many verbs may share one commit.
const BATCH_MAX: usize = 256;
/// How many verbs may wait before callers are turned away.
const QUEUE_MAX: usize = 16_384;

/// A handle on the writer thread; dropping it ends the thread after its queue.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Option<mpsc::SyncSender<Box<dyn Job>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || write_all(connection, &queue))
            .map_err(|error| Error::Unavailable(Box::new(error)))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    pub(crate) async fn run<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(VerbJob { verb, done: None, reply });
        let jobs = self.jobs.as_ref().ok_or_else(writer_gone)?;
        jobs.try_send(job).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => Error::Unavailable("too many writes wait".into()),
            mpsc::TrySendError::Disconnected(_) => writer_gone(),
        })?;
        answer.await.unwrap_or_else(|_| Err(writer_gone()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of verbs; if it died all the same, its
            // callers were told and there is nothing left to do.
            let _ = thread.join();
        }
    }
}

fn writer_gone() -> Error {
    Error::Unavailable("the writer thread is gone".into())
}

/// A verb on its way through the writer.
trait Job: Send {
    /// Runs the verb; tells whether what it did may be kept.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool;
    /// Answers the caller, after the commit or its failure.
    fn answer(self: Box<Self>, committed: Result<(), &str>);
}

struct VerbJob<V: Verb> {
    verb: V,
    done: Option<Result<V::Output, Error>>,
    reply: oneshot::Sender<Result<V::Output, Error>>,
}

impl<V: Verb> Job for VerbJob<V> {
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool {
        let result = catch_unwind(AssertUnwindSafe(|| tx.run(&self.verb)))
            .unwrap_or_else(|_| Err(Error::Broken("a verb panicked".to_owned())));
        let keep = result.is_ok();
        self.done = Some(result);
        keep
    }

    fn answer(self: Box<Self>, committed: Result<(), &str>) {
        let result = match (self.done, committed) {
            // Also a refusal may rest on what was not committed.
            (_, Err(why)) => Err(Error::Unavailable(why.to_owned().into())),
            (Some(result), Ok(())) => result,
            (None, Ok(())) => Err(Error::Broken("a verb was not run".to_owned())),
        };
        // A caller that has gone needs no answer.
        let _ = self.reply.send(result);
    }
}

fn write_all(mut connection: Connection, queue: &mpsc::Receiver<Box<dyn Job>>) {
    let mut texts = Texts::default();
    while let Ok(first) = queue.recv() {
        let mut batch = vec![first];
        let committed = write_batch(&mut connection, &mut texts, queue, &mut batch);
        if committed.is_err() && !connection.is_autocommit() {
            // Leaves the connection usable for the next batch.
            let _ = connection.execute_batch("ROLLBACK");
        }
        let committed = committed.map_err(|error| match error {
            Error::Unavailable(cause) => cause.to_string(),
            error => error.to_string(),
        });
        for job in batch {
            job.answer(match &committed {
                Ok(()) => Ok(()),
                Err(why) => Err(why),
            });
        }
    }
}

/// How far a failed verb reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Whatever it wrote undoes the batch, which then runs again with care.
    None,
    /// It undoes only itself: a savepoint for each verb, which costs all of them.
    Savepoints,
}

/// Runs the batch and whatever else comes meanwhile. Verbs that fail mostly do so before
/// they write, so savepoints are taken only once one did not.
fn write_batch(
    connection: &mut Connection,
    texts: &mut Texts,
    queue: &mpsc::Receiver<Box<dyn Job>>,
    batch: &mut Vec<Box<dyn Job>>,
) -> Result<(), Error> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let mut care = Care::None;
    let mut ran = 0;
    while let Some(job) = batch.get_mut(ran) {
        if run(connection, texts, job, care)? {
            ran += 1;
        } else {
            execute(connection, "ROLLBACK")?;
            execute(connection, "BEGIN IMMEDIATE")?;
            (care, ran) = (Care::Savepoints, 0);
        }
        if ran == batch.len() && ran < BATCH_MAX {
            batch.extend(queue.try_recv());
        }
    }
    execute(connection, "COMMIT")
}

/// Runs one verb; tells whether nothing is left of it if it failed.
fn run(
    connection: &mut Connection,
    texts: &mut Texts,
    job: &mut Box<dyn Job>,
    care: Care,
) -> Result<bool, Error> {
    if care == Care::Savepoints {
        execute(connection, "SAVEPOINT verb")?;
    }
    let before = connection.total_changes();
    let keep = job.run(&mut SqliteTx::new(connection, texts));
    if connection.is_autocommit() {
        // On a full disk SQLite itself undoes everything; what came next would commit by itself.
        return Err(Error::Unavailable("the transaction was undone".into()));
    }
    if care == Care::None {
        return Ok(keep || connection.total_changes() == before);
    }
    if !keep {
        execute(connection, "ROLLBACK TO verb")?;
    }
    execute(connection, "RELEASE verb")?;
    Ok(true)
}

fn execute(connection: &Connection, text: &str) -> Result<(), Error> {
    connection.prepare_cached(text).and_then(|mut statement| statement.execute([])).map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;
    use crate::tx::{Tx, first};
    use crate::value::params;

    /// Writes a number, and fails afterwards if told so. Waits for its turn before.
    struct Write {
        number: i64,
        fails: bool,
        turn: Option<Arc<Mutex<mpsc::Receiver<()>>>>,
    }

    impl Verb for Write {
        type Output = i64;

        async fn run<T: Tx>(&self, tx: &mut T) -> Result<i64, Error> {
            if let Some(turn) = &self.turn {
                // A second run is not told again: whoever tells has gone.
                let _ = turn.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
            tx.execute("INSERT INTO number (n) VALUES ($1)".into(), params![self.number]).await?;
            if self.fails {
                return Err(Error::Broken("told to fail".to_owned()));
            }
            let row = first(tx, "SELECT COUNT(*) FROM number".into(), params![]).await?;
            row.ok_or_else(|| Error::unreadable("no count"))?.int()
        }
    }

    #[tokio::test]
    async fn a_verb_that_fails_after_it_wrote_undoes_only_itself() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE number (n INTEGER)").unwrap();
        let writer = Writer::start(connection).unwrap();
        let (go, turn) = mpsc::channel();
        let turn = Some(Arc::new(Mutex::new(turn)));
        let write = |number, fails| Write { number, fails, turn: None };
        // The others wait behind the first one, and so share its commit.
        let told = async { drop(go) };
        let (one, two, failed, four, ()) = tokio::join!(
            writer.run(Write { turn, ..write(1, false) }),
            writer.run(write(2, false)),
            writer.run(write(3, true)),
            writer.run(write(4, false)),
            told,
        );
        assert_eq!((one.unwrap(), two.unwrap(), four.unwrap()), (1, 2, 3));
        assert!(matches!(failed, Err(Error::Broken(why)) if why == "told to fail"));
        assert_eq!(writer.run(write(5, false)).await.unwrap(), 4);
    }
}
