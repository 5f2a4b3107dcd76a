//! Writes the MCP entry of an agent client, and takes it out again, without disturbing what else its file
//! says.
//!
//! Text goes in and text comes out ([`connect`], [`disconnect`]); [`Plan`] is the thin layer that reads and
//! writes files. The crate knows where the clients keep their files and what an entry looks like there. It
//! reads no environment: the home and the project are passed in.
//!
//! The invariant: whatever is not our entry stays byte for byte, and taking out an entry that was just put
//! in gives back the very same text.

mod agent;
mod change;
mod codex;
mod diff;
mod entry;
mod error;
mod file;
mod json;
mod newline;

pub use agent::{Agent, Scope, candidates, path};
pub use change::{Change, Foreign, connect, disconnect};
pub use diff::diff;
pub use entry::{ENTRY_NAME, Entry};
pub use error::{Error, Place};
pub use file::{FileError, Plan, read, remove, write};
