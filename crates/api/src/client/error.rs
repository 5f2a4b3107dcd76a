//! What can go wrong between a caller and a desk.

use thiserror::Error;

use crate::error::ErrorBody;

/// A request that did not come to a good end.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No answer, or not a whole one.
    #[error("no answer from {url}")]
    Unreachable {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// The desk said no.
    #[error("{}", body.error)]
    Api { status: u16, body: ErrorBody },
    /// Something answered that does not speak as a desk does.
    #[error("unexpected answer from {url} ({status}): {excerpt}")]
    Unexpected {
        url: String,
        status: u16,
        /// The first 200 characters of what came.
        excerpt: String,
    },
    /// The base URL is none.
    #[error("`{url}` is not a server URL: expected http://HOST:PORT or https://HOST")]
    BadUrl { url: String },
    /// A value holds characters that no header may hold.
    #[error("the {what} cannot be sent in a header")]
    BadHeader { what: &'static str },
    /// The HTTP client could not be set up, for example for lack of root certificates.
    #[error("the HTTP client cannot be set up")]
    Setup(#[source] reqwest::Error),
}

impl ClientError {
    /// Returns whether nothing listens where the request was sent.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Unreachable { source, .. } if source.is_connect())
    }
}
