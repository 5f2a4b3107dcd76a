//! What can be wrong with a configuration.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::layer::Origin;

#[derive(Debug, Error)]
pub(crate) enum ConfigProblem {
    #[error("cannot read config file {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("config file {} is larger than 1 MiB", path.display())]
    TooLarge { path: PathBuf },
    #[error("config file {} is not {form}: line {line}: {message}", path.display())]
    Syntax { path: PathBuf, form: &'static str, line: usize, message: String },
    #[error("unknown key `{name}` {}{}", origin.phrase(), suggestion(nearest.as_deref(), "`"))]
    UnknownKey { name: String, nearest: Option<String>, origin: Origin },
    #[error("unknown variable {name}{}", suggestion(nearest.as_deref(), ""))]
    UnknownVariable { name: String, nearest: Option<String> },
    #[error("`{name}` {} is {value}: expected a table", origin.phrase())]
    NotATable { name: String, value: String, origin: Origin },
    #[error("`{name}` {} says what `{other}` says: expected one of them", origin.phrase())]
    Twice { name: String, other: String, origin: Origin },
    /// `name` and `value` are as written, except that passwords are gone.
    #[error("`{name}` {} is {value}: expected {expected}", origin.phrase())]
    BadValue { name: String, value: String, expected: Cow<'static, str>, origin: Origin },
    #[error("no data directory: neither --data-dir, EXTRABOARD_DATA_DIR, XDG_DATA_HOME nor HOME is set")]
    NoDataDir,
}

fn suggestion(nearest: Option<&str>, quote: &str) -> String {
    nearest.map_or_else(String::new, |nearest| format!(": did you mean {quote}{nearest}{quote}?"))
}
