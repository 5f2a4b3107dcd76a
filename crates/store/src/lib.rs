//! Durable domain verbs on SQLite and PostgreSQL, behind [`Store::open`].
//!
//! A verb is a value: it carries its arguments, runs as one transaction and
//! means one thing. Each is written once, over the small `Tx` seam, for
//! both databases. All SQL of the product stands in this crate. Nothing here
//! reads a clock or draws random numbers: `now`, ids and draws are arguments.

pub mod error;
mod migrate;
mod placement;
pub mod postgres;
mod rows;
mod rules;
mod sqlite;
mod store;
mod tx;
mod value;
pub mod verbs;

pub use store::{Listener, Opening, Store};
pub use tx::Verb;
