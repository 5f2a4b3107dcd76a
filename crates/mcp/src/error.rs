//! What can end a session badly.

use rmcp::service::ServerInitializeError;
use thiserror::Error;

/// A session that did not come to a good end; what it held was released all the same.
#[derive(Debug, Error)]
pub enum Error {
    /// What came first was not the beginning of an MCP session.
    #[error("the MCP client did not begin a session")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The task that served the session is gone.
    #[error("the MCP session broke down")]
    Broken(#[source] tokio::task::JoinError),
}
