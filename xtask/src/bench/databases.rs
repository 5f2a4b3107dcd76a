//! Databases for measuring: durable, filled in peace, removed when they are done with.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use extraboard_testkit::postgres::{Binaries, Commits, PrivatePostgres};

use super::{options::Database, snapshot::Snapshot};

/// Where databases come from.
#[derive(Debug)]
pub(super) struct Databases {
    /// For files.
    folder: PathBuf,
    server: Option<PrivatePostgres>,
    binaries: Option<Binaries>,
    sqlite_version: Option<String>,
}

/// The offset of the version of the library that last wrote a file, in that file.
const VERSION_OFFSET: usize = 96;

impl Databases {
    pub(super) fn new(databases: &[Database]) -> Result<Self> {
        let folder = crate::root().join("target/bench");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let (mut server, mut binaries) = (None, None);
        if databases.contains(&Database::Postgres) {
            server = Some(PrivatePostgres::start_with(Commits::Durable)?);
            binaries = Some(Binaries::find()?);
        }
        Ok(Self { folder, server, binaries, sqlite_version: None })
    }

    /// Makes an empty database and returns its URL.
    pub(super) fn create(&self, database: Database, name: &str) -> Result<String> {
        match database {
            Database::Sqlite => Ok(self.file(name).display().to_string()),
            Database::Postgres => {
                let server = self.server()?;
                server.create_database(name)?;
                Ok(server.url(name))
            }
        }
    }

    /// Brings a database that was just filled to rest, so that nothing is made up for while it is measured.
    pub(super) fn settle(&mut self, database: Database, name: &str) -> Result<()> {
        match database {
            Database::Sqlite => self.sqlite_version = Some(sqlite_version(&self.file(name))?),
            Database::Postgres => {
                self.program("vacuumdb", &["--quiet", "--analyze", "--dbname", &self.server()?.url(name)])?;
                self.server()?.psql(name, "CHECKPOINT")?;
            }
        }
        Ok(())
    }

    pub(super) fn remove(&self, database: Database, name: &str) -> Result<()> {
        match database {
            Database::Sqlite => {
                for ending in ["", "-wal", "-shm", ".lock"] {
                    let mut file = self.file(name).into_os_string();
                    file.push(ending);
                    // Not all of them are there.
                    let _ = fs::remove_file(file);
                }
                Ok(())
            }
            Database::Postgres => {
                let maintenance = format!("--maintenance-db={}", self.server()?.url("postgres"));
                self.program("dropdb", &[&maintenance, "--force", name])
            }
        }
    }

    /// Opens a snapshot that stays open as long as its owner likes.
    pub(super) fn snapshot(&self, name: &str) -> Result<Snapshot> {
        let binaries = self.binaries.as_ref().context("PostgreSQL was not started")?;
        Snapshot::open(&binaries.path("psql"), &self.server()?.url(name))
    }

    /// Says which databases were measured.
    pub(super) fn versions(&self) -> Vec<String> {
        let postgres = self.server.as_ref().and_then(|server| {
            let version = server.psql("postgres", "SHOW server_version").ok()?;
            let number = version.split_whitespace().next()?.to_owned();
            let fsync = server.psql("postgres", "SHOW fsync").ok()?;
            let buffers = server.psql("postgres", "SHOW shared_buffers").ok()?;
            Some(format!("PostgreSQL {number} (fsync {fsync}, shared_buffers {buffers}, else as shipped)"))
        });
        let sqlite = self.sqlite_version.as_ref();
        let sqlite = sqlite.map(|version| format!("SQLite {version} (WAL, synchronous FULL)"));
        postgres.into_iter().chain(sqlite).collect()
    }

    fn server(&self) -> Result<&PrivatePostgres> {
        self.server.as_ref().context("PostgreSQL was not started")
    }

    fn program(&self, name: &str, arguments: &[&str]) -> Result<()> {
        let binaries = self.binaries.as_ref().context("PostgreSQL was not started")?;
        let status = Command::new(binaries.path(name)).args(arguments).status();
        let status = status.with_context(|| format!("cannot run {name}"))?;
        ensure!(status.success(), "{name} ended with {status}");
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.db"))
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn sqlite_version(file: &Path) -> Result<String> {
    let mut header = [0; VERSION_OFFSET + 4];
    fs::File::open(file)
        .and_then(|mut file| file.read_exact(&mut header))
        .context("cannot read a database")?;
    let number = header[VERSION_OFFSET..].iter().fold(0, |number, byte| number * 256 + u32::from(*byte));
    Ok(format!("{}.{}.{}", number / 1_000_000, number / 1_000 % 1_000, number % 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_which_sqlite_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let mut bytes = vec![0; VERSION_OFFSET];
        bytes.extend(3_050_002_u32.to_be_bytes());
        fs::write(&file, bytes).unwrap();
        assert_eq!(sqlite_version(&file).unwrap(), "3.50.2");
        fs::write(&file, "short").unwrap();
        assert!(sqlite_version(&file).is_err());
    }
}
