//! What can be wrong with a configuration.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::key::Key;
use super::layer::Origin;

#[derive(Debug, Error)]
pub(crate) enum ConfigProblem {
    #[error("cannot read config file {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("config file {} is YAML: a TOML file is expected, such as extraboard.toml", path.display())]
    Yaml { path: PathBuf },
    #[error("config file {} is not TOML: line {line}: {message}", path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("unknown key `{name}` {}{}", origin.phrase(), suggestion(*nearest, "`"))]
    UnknownKey { name: String, nearest: Option<&'static str>, origin: Origin },
    #[error("unknown variable {name}{}", suggestion(*nearest, ""))]
    UnknownVariable { name: String, nearest: Option<&'static str> },
    #[error("`{name}` {} is {value}: expected a table, `[{name}]`", origin.phrase())]
    NotATable { name: String, value: String, origin: Origin },
    /// `value` is as written, except that passwords are gone.
    #[error("`{}` {} is {value}: expected {}", key.name(), origin.phrase(), key.expected())]
    BadValue { key: Key, value: String, origin: Origin },
    #[error("no data directory: neither --data-dir, EXTRABOARD_DATA_DIR, XDG_DATA_HOME nor HOME is set")]
    NoDataDir,
}

fn suggestion(nearest: Option<&str>, quote: &str) -> String {
    nearest.map_or_else(String::new, |nearest| format!(": did you mean {quote}{nearest}{quote}?"))
}
