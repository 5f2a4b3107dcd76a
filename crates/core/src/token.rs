//! Tokens: who may do what.

use crate::clock::Timestamp;
use crate::words::words;

/// How many characters of a token's hash name it in lists.
pub const TOKEN_ID_CHARS: usize = 12;

words! {
    /// What a token is good for.
    pub enum TokenScope, "scope" {
        /// Everything: it speaks for a person.
        Admin = "admin",
        /// Taking work and reporting on it.
        Agent = "agent",
        /// What a node of a network does.
        Node = "node",
        /// Looking.
        Viewer = "viewer",
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The first characters of its hash, which name it.
    pub id: String,
    /// What it is good for.
    pub scope: TokenScope,
    /// What people call it, and whom it speaks for.
    pub subject: String,
    /// The one agent that may use it; any if there is none.
    pub agent: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends; never if there is none.
    pub expires_at: Option<Timestamp>,
}
