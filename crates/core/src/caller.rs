//! Who is calling, and who holds a dispatch.

use crate::dispatch::Dispatch;
use crate::id::{DispatchId, Fence};

/// Whoever makes a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A person, known by an admin token.
    Person(String),
    /// An agent, by the name it gave.
    Agent(String),
    /// Whoever presents a dispatch token: the holder of that dispatch.
    Holder {
        /// The dispatch the token names.
        dispatch: DispatchId,
        /// The fence the token names.
        fence: Fence,
    },
    /// Nobody in particular.
    Anonymous,
    /// The desk itself: sweeps and timers.
    Desk,
}

impl Caller {
    /// Tells whether this caller holds the dispatch.
    pub fn holds(&self, dispatch: &Dispatch) -> bool {
        match self {
            Self::Holder { dispatch: id, fence } => dispatch.id == *id && dispatch.fence == *fence,
            Self::Person(_) | Self::Agent(_) | Self::Anonymous => self.to_string() == dispatch.holder,
            Self::Desk => false,
        }
    }

    /// Tells whether this caller is a person.
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }
}

impl std::fmt::Display for Caller {
    /// Writes the caller as it is stored: who did something, who holds something.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Person(name) => write!(f, "person:{name}"),
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Holder { dispatch, .. } => write!(f, "dispatch:{dispatch}"),
            Self::Anonymous => f.write_str("anonymous"),
            Self::Desk => f.write_str("desk"),
        }
    }
}
