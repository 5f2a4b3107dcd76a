//! What an entry says, whatever the client's spelling of it.

use std::collections::BTreeMap;

/// The name of our entry in every client's list of servers.
pub const ENTRY_NAME: &str = "extraboard";

/// The argument that every entry of ours has, and by which it is known.
const MCP_ARGUMENT: &str = "mcp";

/// How a client starts our MCP server.
///
/// One of the arguments has to be `mcp`: an entry without it is taken for someone else's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The program: a name to look up or a path.
    pub command: String,
    /// What the program is told.
    pub args: Vec<String>,
    /// What is added to the program's environment.
    pub env: BTreeMap<String, String>,
}

impl Entry {
    /// Whether the entry may be one that we wrote.
    pub(crate) fn is_ours(&self) -> bool {
        self.args.iter().any(|argument| argument == MCP_ARGUMENT)
    }
}

/// An entry as it was found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    /// False where the user has switched the entry off.
    pub(crate) is_on: bool,
}

/// What is to be done about an entry that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It says what it should.
    Same,
    /// It is ours and says something else.
    Ours,
    /// Someone else wrote it, or wrote in it.
    Foreign,
}

impl Standing {
    /// Compares what was found with what is wanted; `None` is an entry that does not read as one of ours.
    pub(crate) fn of(found: Option<&Found>, wanted: Option<&Entry>) -> Self {
        match found {
            Some(found) if found.is_on && Some(&found.entry) == wanted => Self::Same,
            Some(found) if found.entry.is_ours() => Self::Ours,
            Some(_) | None => Self::Foreign,
        }
    }
}
