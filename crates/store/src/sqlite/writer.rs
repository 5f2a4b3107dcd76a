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

fn write_batch(
    connection: &mut Connection,
    texts: &mut Texts,
    queue: &mpsc::Receiver<Box<dyn Job>>,
    batch: &mut Vec<Box<dyn Job>>,
) -> Result<(), Error> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    run_saved(connection, texts, &mut batch[0])?;
    while batch.len() < BATCH_MAX
        && let Ok(mut job) = queue.try_recv()
    {
        let ran = run_saved(connection, texts, &mut job);
        batch.push(job);
        ran?;
    }
    connection.execute_batch("COMMIT").map_err(failed)
}

/// Runs one verb inside a savepoint, so that its failure undoes only itself.
fn run_saved(connection: &mut Connection, texts: &mut Texts, job: &mut Box<dyn Job>) -> Result<(), Error> {
    connection.execute_batch("SAVEPOINT verb").map_err(failed)?;
    let keep = job.run(&mut SqliteTx::new(connection, texts));
    let end = if keep { "RELEASE verb" } else { "ROLLBACK TO verb; RELEASE verb" };
    connection.execute_batch(end).map_err(failed)
}
