//! What the tests drive the built binary with: desks as processes, requests as bytes, dice with a seed.
//!
//! Nothing here sleeps or shares a database: waiting is the testkit's, and every desk has its own folder.

mod desk;
mod dice;
mod request;
mod stream;

use extraboard_testkit::database::fresh_postgres_url;

pub(crate) use self::desk::{Desk, Plan, xb};
pub(crate) use self::dice::Dice;
pub(crate) use self::request::{Lost, Reply, Request, delete, get, patch, post, put};
pub(crate) use self::stream::Stream;

/// The kind of database a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

impl Backend {
    /// Returns a plan for a desk on a database nobody else knows.
    pub(crate) fn plan(self) -> Plan {
        match self {
            Self::Sqlite => Plan::default(),
            Self::Postgres => Plan::default().db(&fresh_postgres_url()),
        }
    }

    /// Starts a desk on a database nobody else knows.
    pub(crate) fn desk(self) -> Desk {
        Desk::start(self.plan())
    }
}
