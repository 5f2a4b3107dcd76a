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
mod metas;
mod meter;
mod openapi;
mod patient;
mod prompts;
mod reply;
mod tokens;
mod validate;

pub use app::{App, AppSettings, WebhookSecrets, own_url, serve};
pub use health::{Health, serve_metrics};
pub use prompts::{AskForReviews, Prompts, install as install_templates};
pub use tokens::{ServerKey, hash_token};
