//! The one place where the environment is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::key::{Key, nearest};
use super::problem::ConfigProblem;

const PREFIX: &str = "EXTRABOARD_";
const CONFIG: &str = "EXTRABOARD_CONFIG";
const URL: &str = "EXTRABOARD_URL";
const TOKEN: &str = "EXTRABOARD_TOKEN";
const PROJECT: &str = "EXTRABOARD_PROJECT";
const PROMPT_VERSION: &str = "EXTRABOARD_PROMPT_VERSION";
/// What `xb work` tells its command, which may call us.
const OF_WORK: [&str; 5] =
    ["EXTRABOARD_DISPATCH", "EXTRABOARD_ISSUE", "EXTRABOARD_ISSUE_ID", "EXTRABOARD_ATTEMPT", PROMPT_VERSION];
/// Our folder among those of other programs.
const DIRECTORY: &str = "extraboard";

/// The variables this program looks at, as they were when it started. An empty one counts as not set.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Self::of(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
    }

    pub(crate) fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let others = ["HOME", "XDG_DATA_HOME", "NO_COLOR"];
        let variables = variables
            .into_iter()
            .filter(|(name, value)| {
                !value.is_empty() && (name.starts_with(PREFIX) || others.contains(&name.as_str()))
            })
            .collect();
        Self { variables }
    }

    /// Refuses variables that carry our prefix and mean nothing, which are most likely misspelt.
    pub(crate) fn check_names(&self) -> Result<(), ConfigProblem> {
        let others = [CONFIG, URL, TOKEN, PROJECT].into_iter().chain(OF_WORK).map(str::to_owned);
        let known: Vec<String> = Key::all().map(Key::variable).chain(others).collect();
        let unknown = self.variables.keys().find(|name| name.starts_with(PREFIX) && !known.contains(name));
        match unknown {
            None => Ok(()),
            Some(name) => {
                // The prefix is common to all of them and would make everything look alike.
                let likened = nearest(bare(name), known.iter().map(|known| bare(known)));
                let nearest = likened.map(|likened| format!("{PREFIX}{likened}"));
                Err(ConfigProblem::UnknownVariable { name: name.clone(), nearest })
            }
        }
    }

    pub(crate) fn key(&self, key: Key) -> Option<&str> {
        self.get(&key.variable())
    }

    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        self.get(CONFIG).map(PathBuf::from)
    }

    pub(crate) fn server_url(&self) -> Option<&str> {
        self.get(URL)
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.get(TOKEN).map(str::trim)
    }

    /// Returns the project that is meant where a command names none.
    pub(crate) fn project(&self) -> Option<&str> {
        self.get(PROJECT).map(str::trim)
    }

    /// Returns the version of the prompt that `xb work` gave its command.
    pub(crate) fn prompt_version(&self) -> Option<&str> {
        self.get(PROMPT_VERSION)
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.absolute("HOME")
    }

    /// Returns the data directory of whoever names none; a relative `XDG_DATA_HOME` is ignored, as its
    /// specification asks.
    pub(crate) fn default_data_dir(&self) -> Option<PathBuf> {
        let data_home = self.absolute("XDG_DATA_HOME").or_else(|| Some(self.home()?.join(".local/share")));
        data_home.map(|home| home.join(DIRECTORY))
    }

    pub(crate) fn allows_color(&self) -> bool {
        self.get("NO_COLOR").is_none()
    }

    fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// Shows the names only: values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
