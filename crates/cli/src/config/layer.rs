//! What one source says: some keys with their values, and where each came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::Flags;
use super::database::redact;
use super::environment::Environment;
use super::key::{Key, Shape};
use super::problem::ConfigProblem;

/// What is said in place of a value that is a secret.
pub(crate) const HIDDEN: &str = "not shown";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag(&'static str),
}

impl Origin {
    /// Returns the origin as a part of a sentence.
    pub(crate) fn phrase(&self) -> String {
        match self {
            Self::Default => "by default".to_owned(),
            Self::File(path) => format!("in {}", path.display()),
            Self::Variable(name) => format!("from {name}"),
            Self::Flag(name) => format!("from {name}"),
        }
    }

    /// Returns the folder from which relative paths are taken; `None` is the working directory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(path) => path.parent(),
            Self::Default | Self::Variable(_) | Self::Flag(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value of the right shape, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    Text(String),
    Whole(i64),
    List(Vec<String>),
    Table(BTreeMap<String, i64>),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{}`", redact(text)),
            Self::Whole(number) => write!(f, "`{number}`"),
            Self::List(items) => write!(f, "`{items:?}`"),
            Self::Table(table) => write!(f, "`{table:?}`"),
        }
    }
}

/// One value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The key as it was written: a file may use another name than ours.
    pub(crate) name: String,
    pub(crate) raw: Raw,
    pub(crate) origin: Origin,
}

/// What one source says. A key that it does not mention is absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    settings: BTreeMap<Key, Setting>,
}

impl Layer {
    pub(crate) fn set(&mut self, key: Key, setting: Setting) {
        self.settings.insert(key, setting);
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Setting> {
        self.settings.get(&key)
    }

    /// Tells whether anybody but the defaults mentions the key.
    pub(crate) fn is_said(&self, key: Key) -> bool {
        self.get(key).is_some_and(|setting| setting.origin != Origin::Default)
    }

    /// Returns the names of the keys as they were written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.values().map(|setting| setting.name.as_str())
    }

    /// Returns this layer with `upper` laid over it.
    pub(crate) fn under(mut self, upper: &Self) -> Self {
        self.settings.extend(upper.settings.clone());
        self
    }

    pub(crate) fn of_environment(environment: &Environment) -> Result<Self, ConfigProblem> {
        let mut layer = Self::default();
        for key in Key::all() {
            let Some(text) = environment.key(key) else { continue };
            let (name, origin) = (key.name().into_owned(), Origin::Variable(key.variable()));
            let Some(raw) = from_text(key, text) else {
                let value = shown_text(key, text);
                return Err(ConfigProblem::BadValue { name, value, expected: key.expected(), origin });
            };
            layer.set(key, Setting { name, raw, origin });
        }
        Ok(layer)
    }

    pub(crate) fn of_flags(flags: &Flags) -> Self {
        let level = match flags.verbose {
            0 => None,
            1 => Some("debug".to_owned()),
            2.. => Some("trace".to_owned()),
        };
        let given = [
            (Key::DataDir, "--data-dir", flags.data_dir.clone()),
            (Key::DatabaseUrl, "--db", flags.db.clone()),
            (Key::ServerListen, "--listen", flags.listen.clone()),
            (Key::ServerMetricsListen, "--metrics-listen", flags.metrics_listen.clone()),
            (Key::ProfileName, "--profile", flags.profile.clone()),
            (Key::LogLevel, "-v", level),
        ];
        let mut layer = Self::default();
        for (key, flag, value) in given {
            if let Some(value) = value {
                let (name, raw) = (key.name().into_owned(), Raw::Text(value));
                layer.set(key, Setting { name, raw, origin: Origin::Flag(flag) });
            }
        }
        layer
    }
}

/// Returns a value that is refused, for a message; a secret stays one.
fn shown_text(key: Key, text: &str) -> String {
    if key.is_secret() { HIDDEN.to_owned() } else { format!("`{}`", redact(text)) }
}

fn from_text(key: Key, text: &str) -> Option<Raw> {
    let items = || text.split(',').map(str::trim).filter(|item| !item.is_empty());
    Some(match key.shape() {
        Shape::Text => Raw::Text(text.to_owned()),
        Shape::Flag => Raw::Text(text.trim().to_owned()),
        Shape::Whole => Raw::Whole(text.trim().parse().ok()?),
        Shape::WholeOrText => text.trim().parse().map_or_else(|_| Raw::Text(text.to_owned()), Raw::Whole),
        Shape::List => Raw::List(items().map(str::to_owned).collect()),
        Shape::Table => Raw::Table(items().map(pair).collect::<Option<_>>()?),
    })
}

fn pair(item: &str) -> Option<(String, i64)> {
    let (name, number) = item.rsplit_once('=')?;
    Some((name.trim().to_owned(), number.trim().parse().ok()?))
}
