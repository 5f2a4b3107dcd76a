//! The HTTP surfaces over a desk.
//!
//! Handlers extract, run one verb and map; rules live in `core`, facts in the
//! store. The contract in prose is `docs/api.md`.

mod accept;
mod app;
mod channel;
mod claimer;
mod convert;
mod delivered;
mod error;
mod extract;
mod guard;
mod health;
mod http;
mod meter;
mod openapi;
mod patient;
pub mod prompt;
mod reply;
mod tokens;
mod validate;

pub use app::{App, AppSettings, serve};
pub use health::{Health, serve_metrics};
pub use tokens::{ServerKey, hash_token};
