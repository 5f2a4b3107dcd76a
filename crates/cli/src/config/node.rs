//! What a file says, whatever it is written in: tables, lists, texts and whole numbers.

use std::collections::BTreeMap;

use super::database::redact;

/// One value of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    Whole(i64),
    List(Vec<Self>),
    Table(Table),
    /// What no key takes: a fraction, a truth, a date, nothing at all. As it was written.
    Other(String),
}

/// Names and values.
pub(crate) type Table = BTreeMap<String, Node>;

impl Node {
    /// Returns the value for a message, without passwords.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("`\"{}\"`", redact(text)),
            Self::Whole(number) => format!("`{number}`"),
            Self::Other(written) if written.is_empty() => "empty".to_owned(),
            Self::Other(written) => format!("`{written}`"),
            Self::List(_) => "an array".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

impl From<toml::Value> for Node {
    fn from(value: toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Integer(number) => Self::Whole(number),
            toml::Value::Float(number) => Self::Other(number.to_string()),
            toml::Value::Boolean(yes) => Self::Other(yes.to_string()),
            toml::Value::Datetime(time) => Self::Other(time.to_string()),
            toml::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            toml::Value::Table(table) => Self::Table(of_toml(table)),
        }
    }
}

/// Takes over a table of TOML.
pub(crate) fn of_toml(table: toml::Table) -> Table {
    table.into_iter().map(|(name, value)| (name, Node::from(value))).collect()
}
