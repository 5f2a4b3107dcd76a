//! A private PostgreSQL: found on the machine, started in a directory of its own, gone with its owner.

mod account;
mod binaries;
mod error;
mod janitor;
mod relay;
mod server;
mod signal;

pub use self::{
    binaries::Binaries,
    error::PostgresError,
    relay::Relay,
    server::{Commits, PrivatePostgres},
};
