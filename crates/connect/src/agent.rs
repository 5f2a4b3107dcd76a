//! The clients, and where each keeps its list of MCP servers.
//!
//! Clients let variables move these files (`CODEX_HOME`, `CLAUDE_CONFIG_DIR`, `XDG_CONFIG_HOME`); whoever
//! honours one passes a different path instead.

use std::fmt;
use std::path::{Path, PathBuf};

/// An agent client that can be told of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// `OpenAI` Codex.
    Codex,
    /// opencode, of version 1 or 2.
    Opencode,
}

impl Agent {
    /// Every client there is.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Opencode];

    /// Returns the name a user types.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// For which of a user's sessions an entry counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those in one project; the file stands in the project's folder.
    Project,
    /// All of them; the file stands in the user's home.
    User,
}

/// Returns the file to write: the first candidate that exists, else the first.
pub fn path(agent: Agent, scope: Scope, home: &Path, project: &Path) -> PathBuf {
    let mut paths = candidates(agent, scope, home, project);
    let index = paths.iter().position(|path| path.exists()).unwrap_or_default();
    paths.swap_remove(index)
}

/// Returns the files that a client reads, the one to create first; there is always one.
pub fn candidates(agent: Agent, scope: Scope, home: &Path, project: &Path) -> Vec<PathBuf> {
    let (folder, names): (_, &[&str]) = match (agent, scope) {
        (Agent::Claude, Scope::Project) => (project, &[".mcp.json"]),
        (Agent::Claude, Scope::User) => (home, &[".claude.json"]),
        // Codex reads a project's file only where the user trusts the project.
        (Agent::Codex, Scope::Project) => (project, &[".codex/config.toml"]),
        (Agent::Codex, Scope::User) => (home, &[".codex/config.toml"]),
        (Agent::Opencode, Scope::Project) => (
            project,
            &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
        ),
        (Agent::Opencode, Scope::User) => {
            (home, &[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"])
        }
    };
    names.iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_stand_where_the_clients_look() {
        let (home, project) = (Path::new("/nowhere/h"), Path::new("/nowhere/p"));
        let check = |agent, scope, expected: &str| {
            assert_eq!(path(agent, scope, home, project), Path::new(expected));
        };
        check(Agent::Claude, Scope::Project, "/nowhere/p/.mcp.json");
        check(Agent::Claude, Scope::User, "/nowhere/h/.claude.json");
        check(Agent::Codex, Scope::Project, "/nowhere/p/.codex/config.toml");
        check(Agent::Codex, Scope::User, "/nowhere/h/.codex/config.toml");
        check(Agent::Opencode, Scope::Project, "/nowhere/p/opencode.json");
        check(Agent::Opencode, Scope::User, "/nowhere/h/.config/opencode/opencode.json");
    }

    #[test]
    fn file_that_exists_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("opencode.jsonc"), "{}").unwrap();
        let found = path(Agent::Opencode, Scope::Project, Path::new("/nowhere"), folder.path());
        assert_eq!(found, folder.path().join("opencode.jsonc"));
    }
}
