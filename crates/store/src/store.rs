//! The open store: whichever database it is, verbs go in and answers come out.

use std::path::{Path, PathBuf};

use extraboard_core::clock::Timestamp;
use extraboard_core::id::Pos;

use crate::error::Error;
use crate::postgres::{Postgres, redacted};
use crate::sqlite::Sqlite;
use crate::tx::Verb;
use crate::verbs::Ping;

/// What opening a store needs to know.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The present, recorded with migrations.
    pub now: Timestamp,
    /// What to tell a second process that wants the same SQLite file.
    pub note: String,
}

/// An open database.
#[derive(Debug)]
pub struct Store {
    engine: Engine,
    name: String,
}

#[derive(Debug)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Where a database URL points.
enum Place {
    File(PathBuf),
    Server,
}

impl Store {
    /// Opens `sqlite:PATH`, a plain path, or `postgres[ql]://…`.
    pub async fn open(url: &str, opening: &Opening) -> Result<Self, Error> {
        match place(url)? {
            Place::File(path) => {
                let engine = Engine::Sqlite(Sqlite::open(&path, opening)?);
                Ok(Self { engine, name: format!("sqlite:{}", path.display()) })
            }
            Place::Server => {
                let engine = Engine::Postgres(Postgres::open(url, opening).await?);
                Ok(Self { engine, name: redacted(url) })
            }
        }
    }

    /// Returns the database's name for people, without secrets.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a verb as one durable transaction.
    pub async fn write<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(verb).await,
            Engine::Postgres(postgres) => postgres.write(verb).await,
        }
    }

    /// Runs a verb that changes nothing, in one snapshot.
    pub async fn read<V: Verb>(&self, verb: V) -> Result<V::Output, Error> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(verb).await,
            Engine::Postgres(postgres) => postgres.read(verb).await,
        }
    }

    /// Fails unless the database takes writes and keeps them.
    pub async fn check(&self) -> Result<(), Error> {
        self.write(Ping).await
    }

    /// Returns the database's own time; nothing for SQLite, which has none.
    pub async fn now(&self) -> Result<Option<Timestamp>, Error> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(postgres) => {
                postgres.now_micros().await.map(|micros| Some(Timestamp::from_micros(micros)))
            }
        }
    }

    /// Cleans up behind claims, where the database does not do so at once.
    pub async fn tidy_line(&self) -> Result<(), Error> {
        match &self.engine {
            // SQLite removes index entries when rows are deleted.
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(postgres) => postgres.vacuum_line().await,
        }
    }

    /// Listens for positions other servers stamped.
    pub async fn listen(&self) -> Result<Listener, Error> {
        match &self.engine {
            // One process owns the file: there are no other servers.
            Engine::Sqlite(_) => Ok(Listener(None)),
            Engine::Postgres(postgres) => Ok(Listener(Some(postgres.listen().await?))),
        }
    }

    /// Closes all connections after the transactions under way.
    pub async fn close(&self) {
        match &self.engine {
            // The writer ends when the store is dropped.
            Engine::Sqlite(_) => {}
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }
}

/// Hears when another server stamped events.
#[derive(Debug)]
pub struct Listener(Option<sqlx::postgres::PgListener>);

impl Listener {
    /// Waits for a new last position. Messages can be lost while the connection
    /// is down, so callers look by themselves now and then.
    pub async fn heard(&mut self) -> Result<Pos, Error> {
        let Some(listener) = &mut self.0 else { return std::future::pending().await };
        let said = listener.recv().await.map_err(crate::postgres::failed)?;
        let pos = said.payload().parse().map(Pos);
        pos.map_err(|_| Error::unreadable(format!("{:?} on {}", said.payload(), said.channel())))
    }
}

fn place(url: &str) -> Result<Place, Error> {
    let bad = |message: &str| Error::BadUrl { url: redacted(url), message: message.to_owned() };
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Place::Server);
    }
    let path = match url.strip_prefix("sqlite:") {
        Some(path) => path.strip_prefix("//").unwrap_or(path),
        None if url.contains("://") => {
            return Err(bad("expected a path, sqlite:PATH or postgres://…"));
        }
        None => url,
    };
    if path.is_empty() || path == ":memory:" {
        return Err(bad("expected the path of a file"));
    }
    let path = Path::new(path);
    if path.is_dir() {
        return Err(bad("is a directory, expected the path of a file"));
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(bad(&format!("the directory {} does not exist", parent.display())))
        }
        _ => Ok(Place::File(path.to_owned())),
    }
}
