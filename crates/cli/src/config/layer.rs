//! What one source says: some keys with their values, and where each came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::Flags;
use super::database::redact;
use super::environment::Environment;
use super::key::{Key, Shape};
use super::problem::ConfigProblem;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Variable(&'static str),
    Flag(&'static str),
}

impl Origin {
    /// Returns the origin as a part of a sentence.
    pub(crate) fn phrase(&self) -> String {
        match self {
            Self::Default => "by default".to_owned(),
            Self::File(path) => format!("in {}", path.display()),
            Self::Variable(name) | Self::Flag(name) => format!("from {name}"),
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
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value of the right shape, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    Text(String),
    Whole(i64),
    List(Vec<String>),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{}`", redact(text)),
            Self::Whole(number) => write!(f, "`{number}`"),
            Self::List(items) => write!(f, "`{items:?}`"),
        }
    }
}

/// One value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) raw: Raw,
    pub(crate) origin: Origin,
}

/// What one source says. A key that it does not mention is absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    settings: BTreeMap<Key, Setting>,
}

impl Layer {
    pub(crate) fn set(&mut self, key: Key, raw: Raw, origin: Origin) {
        self.settings.insert(key, Setting { raw, origin });
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Setting> {
        self.settings.get(&key)
    }

    /// Returns this layer with `upper` laid over it.
    pub(crate) fn under(mut self, upper: &Self) -> Self {
        self.settings.extend(upper.settings.clone());
        self
    }

    pub(crate) fn of_environment(environment: &Environment) -> Result<Self, ConfigProblem> {
        let mut layer = Self::default();
        for key in Key::ALL {
            let Some(text) = environment.key(key) else { continue };
            let origin = Origin::Variable(key.variable());
            let raw = from_text(key, text).ok_or_else(|| ConfigProblem::BadValue {
                key,
                value: format!("`{}`", redact(text)),
                origin: origin.clone(),
            })?;
            layer.set(key, raw, origin);
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
            (Key::LogLevel, "-v", level),
        ];
        let mut layer = Self::default();
        for (key, flag, value) in given {
            if let Some(value) = value {
                layer.set(key, Raw::Text(value), Origin::Flag(flag));
            }
        }
        layer
    }
}

fn from_text(key: Key, text: &str) -> Option<Raw> {
    Some(match key.shape() {
        Shape::Text => Raw::Text(text.to_owned()),
        Shape::Whole => Raw::Whole(text.trim().parse().ok()?),
        Shape::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Raw::List(items.map(str::to_owned).collect())
        }
    })
}
