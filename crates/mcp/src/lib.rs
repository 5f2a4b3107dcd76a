//! The MCP surface: the desk as tools and resources for a model, over stdio and over HTTP.
//!
//! It is a client of the desk like any other: everything it does it asks through `extraboard_api::client`, and
//! it knows no rules of the desk's. What it keeps is the session: which dispatches were handed to it, with
//! their tokens, and what it was last ordered about each. The invariant: a session that is over holds nothing.
//! What it held is released when it ends, whichever way it ends, or was given back before.

mod caller;
mod error;
mod held;
mod http;
mod keeper;
mod outside;
mod reply;
mod resources;
mod server;
mod session;
mod stdio;
mod tools;

pub use self::error::Error;
pub use self::http::{HttpService, HttpSettings, http_service};
pub use self::stdio::{Settings, serve, serve_stdio};
