//! A TOML file becomes a layer; every key must be known and of the right shape.

use std::path::Path;

use toml::{Table, Value};

use super::database::redact;
use super::key::{Key, Shape, nearest};
use super::layer::{Layer, Origin, Raw};
use super::problem::ConfigProblem;

/// The defaults, which are also the reference.
const DEFAULT: &str = include_str!("default.toml");

/// Reads the file at `path`.
pub(crate) fn read(path: &Path) -> Result<Layer, ConfigProblem> {
    if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
        return Err(ConfigProblem::Yaml { path: path.to_owned() });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigProblem::Unreadable { path: path.to_owned(), source })?;
    parse(&text, &Origin::File(path.to_owned()))
}

/// Returns the embedded defaults; every key is in them.
pub(crate) fn defaults() -> Result<Layer, ConfigProblem> {
    parse(DEFAULT, &Origin::Default)
}

fn parse(text: &str, origin: &Origin) -> Result<Layer, ConfigProblem> {
    let table: Table = text.parse().map_err(|error| syntax(text, origin, &error))?;
    let mut layer = Layer::default();
    walk(&table, "", origin, &mut layer)?;
    Ok(layer)
}

/// Drops the excerpt that the parser's own message shows: it may hold a password.
fn syntax(text: &str, origin: &Origin, error: &toml::de::Error) -> ConfigProblem {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
    let path = match origin {
        Origin::File(path) => path.clone(),
        Origin::Default | Origin::Variable(_) | Origin::Flag(_) => "default.toml".into(),
    };
    ConfigProblem::Syntax { path, line, message: error.message().to_owned() }
}

fn walk(table: &Table, prefix: &str, origin: &Origin, layer: &mut Layer) -> Result<(), ConfigProblem> {
    for (part, value) in table {
        let name = if prefix.is_empty() { part.clone() } else { format!("{prefix}.{part}") };
        if let Some(key) = Key::of_name(&name) {
            let raw = raw(key, value).ok_or_else(|| ConfigProblem::BadValue {
                key,
                value: shown(value),
                origin: origin.clone(),
            })?;
            layer.set(key, raw, origin.clone());
            continue;
        }
        match value {
            Value::Table(inner) if !inner.is_empty() || Key::is_section(&name) => {
                walk(inner, &name, origin, layer)?;
            }
            other if Key::is_section(&name) => {
                return Err(ConfigProblem::NotATable { name, value: shown(other), origin: origin.clone() });
            }
            _ => {
                let nearest = nearest(&name, Key::ALL.map(Key::name));
                return Err(ConfigProblem::UnknownKey { name, nearest, origin: origin.clone() });
            }
        }
    }
    Ok(())
}

fn raw(key: Key, value: &Value) -> Option<Raw> {
    Some(match (key.shape(), value) {
        (Shape::Text, Value::String(text)) => Raw::Text(text.clone()),
        (Shape::Whole, Value::Integer(number)) => Raw::Whole(*number),
        (Shape::List, Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            Raw::List(texts.collect::<Option<_>>()?)
        }
        (Shape::Text | Shape::Whole | Shape::List, _) => return None,
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`\"{}\"`", redact(text)),
        Value::Integer(number) => format!("`{number}`"),
        Value::Float(number) => format!("`{number}`"),
        Value::Boolean(yes) => format!("`{yes}`"),
        Value::Datetime(time) => format!("`{time}`"),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_name_every_key() {
        let layer = defaults().unwrap();
        for key in Key::ALL {
            assert!(layer.get(key).is_some(), "{}", key.name());
        }
    }
}
