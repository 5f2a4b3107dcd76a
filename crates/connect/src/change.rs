//! Putting an entry into a client's text and taking it out.

use crate::agent::Agent;
use crate::entry::Entry;
use crate::error::Error;
use crate::{codex, json};

/// What is to happen to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is as it should be.
    Nothing,
    /// It is to say this.
    Write(String),
    /// It is to go: it says nothing but what we put there when we created it.
    Remove,
}

/// What to do about an entry of our name that we did not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Leave it and fail with [`Error::Foreign`].
    Refuse,
    /// Treat it as ours: [`connect`] replaces it, [`disconnect`] takes it out.
    Override,
}

/// Puts the entry into a client's text; `None` is a file that does not exist.
///
/// An entry of ours that says something else is brought up to date where it stands.
pub fn connect(agent: Agent, text: Option<&str>, entry: &Entry, foreign: Foreign) -> Result<Change, Error> {
    match agent {
        Agent::Claude => json::connect(json::Client::Claude, text, entry, foreign),
        Agent::Codex => codex::connect(text, entry, foreign),
        Agent::Opencode => json::connect(json::Client::Opencode, text, entry, foreign),
    }
}

/// Takes the entry out of a client's text, and what we put around it.
///
/// A text that [`connect`] has just changed becomes again what it was, byte for byte.
pub fn disconnect(agent: Agent, text: &str, foreign: Foreign) -> Result<Change, Error> {
    match agent {
        Agent::Claude => json::disconnect(json::Client::Claude, text, foreign),
        Agent::Codex => codex::disconnect(text, foreign),
        Agent::Opencode => json::disconnect(json::Client::Opencode, text, foreign),
    }
}
