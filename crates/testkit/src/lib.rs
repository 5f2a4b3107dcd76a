//! What tests need from the machine: a private PostgreSQL, fresh databases in it, child processes and
//! patience.
//!
//! Only tests and `xtask` use this crate. It knows nothing of Extraboard: no other crate of the workspace, no
//! async. Whatever is started here ends with its owner, also when the owner panics or is killed.

pub mod database;
pub mod postgres;
pub mod process;
