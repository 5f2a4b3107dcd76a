//! A file becomes a layer; every key must be known and of the right shape.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::key::{Key, Shape, is_section, known_names, nearest};
use super::layer::{HIDDEN, Layer, Origin, Raw, Setting};
use super::node::{self, Node, Table};
use super::problem::ConfigProblem;
use super::{seed_004, yaml};

/// The defaults, which are also the reference.
const DEFAULT: &str = include_str!("default.toml");

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Toml,
    Yaml,
}

impl Form {
    fn of(path: &Path) -> Self {
        let is =
            |known: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known));
        if is("yaml") || is("yml") { Self::Yaml } else { Self::Toml }
    }
}

/// Reads the file at `path`: YAML by its extension, else TOML.
pub(crate) fn read(path: &Path) -> Result<Layer, ConfigProblem> {
    let unreadable = |source| ConfigProblem::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigProblem::TooLarge { path: path.to_owned() });
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    parse(&text, Form::of(path), &Origin::File(path.to_owned()))
}

/// Returns the embedded defaults; every key is in them but the numbers of the profile, which has its own.
pub(crate) fn defaults() -> Result<Layer, ConfigProblem> {
    parse(DEFAULT, Form::Toml, &Origin::Default)
}

fn parse(text: &str, form: Form, origin: &Origin) -> Result<Layer, ConfigProblem> {
    let table = match form {
        Form::Toml => node::of_toml(text.parse().map_err(|error| bad_toml(text, origin, &error))?),
        Form::Yaml => yaml::parse(text).map_err(|bad| ConfigProblem::Syntax {
            path: path_of(origin),
            form: "the YAML expected",
            line: bad.line,
            message: bad.message,
        })?,
    };
    let mut layer = Layer::default();
    walk(&table, "", origin, &mut layer)?;
    choose_profile(&mut layer, origin)?;
    Ok(layer)
}

/// Drops the excerpt that the parser's own message shows: it may hold a password.
fn bad_toml(text: &str, origin: &Origin, error: &toml::de::Error) -> ConfigProblem {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
    ConfigProblem::Syntax { path: path_of(origin), form: "TOML", line, message: error.message().to_owned() }
}

fn path_of(origin: &Origin) -> std::path::PathBuf {
    match origin {
        Origin::File(path) => path.clone(),
        Origin::Default | Origin::Variable(_) | Origin::Flag(_) => "default.toml".into(),
    }
}

fn walk(table: &Table, prefix: &str, origin: &Origin, layer: &mut Layer) -> Result<(), ConfigProblem> {
    for (part, node) in table {
        let name = if prefix.is_empty() { part.clone() } else { format!("{prefix}.{part}") };
        if let Some(key) = Key::of_name(&name).or_else(|| seed_004::key_of(&name)) {
            set(key, name, node, origin, layer)?;
            continue;
        }
        match node {
            Node::Table(inner) if !inner.is_empty() || is_section(&name) => {
                walk(inner, &name, origin, layer)?;
            }
            other if is_section(&name) => {
                return Err(ConfigProblem::NotATable { name, value: other.shown(), origin: origin.clone() });
            }
            _ => {
                let nearest = nearest(&name, known_names().iter().map(String::as_str)).map(str::to_owned);
                return Err(ConfigProblem::UnknownKey { name, nearest, origin: origin.clone() });
            }
        }
    }
    Ok(())
}

fn set(key: Key, name: String, node: &Node, origin: &Origin, layer: &mut Layer) -> Result<(), ConfigProblem> {
    let Some(raw) = raw(key, node) else {
        let value = if key.is_secret() { HIDDEN.to_owned() } else { node.shown() };
        let expected = key.expected();
        return Err(ConfigProblem::BadValue { name, value, expected, origin: origin.clone() });
    };
    if let Some(other) = layer.get(key) {
        return Err(ConfigProblem::Twice { name, other: other.name.clone(), origin: origin.clone() });
    }
    layer.set(key, Setting { name, raw, origin: origin.clone() });
    Ok(())
}

/// Sets the profile that names of seed 004 ask for by being there.
fn choose_profile(layer: &mut Layer, origin: &Origin) -> Result<(), ConfigProblem> {
    let asked = layer.names().find_map(|name| Some((name.to_owned(), seed_004::profile_of(name)?)));
    let Some((name, profile)) = asked else { return Ok(()) };
    let raw = Raw::Text(profile.as_str().to_owned());
    match layer.get(Key::ProfileName) {
        Some(said) if said.raw != raw => Err(ConfigProblem::BadValue {
            name: said.name.clone(),
            value: said.raw.to_string(),
            expected: format!("`{profile}`, which `{name}` is a number of").into(),
            origin: origin.clone(),
        }),
        Some(_) => Ok(()),
        None => {
            layer.set(Key::ProfileName, Setting { name, raw, origin: origin.clone() });
            Ok(())
        }
    }
}

fn raw(key: Key, node: &Node) -> Option<Raw> {
    Some(match (key.shape(), node) {
        (Shape::Text | Shape::WholeOrText, Node::Text(text)) => Raw::Text(text.clone()),
        (Shape::Flag, Node::Other(written)) => Raw::Text(written.clone()),
        (Shape::Whole | Shape::WholeOrText, Node::Whole(number)) => Raw::Whole(*number),
        (Shape::List, Node::List(items)) => Raw::List(items.iter().map(text).collect::<Option<_>>()?),
        (Shape::Table, Node::Table(table)) => {
            let number = |(name, node): (&String, &Node)| Some((name.clone(), whole(node)?));
            Raw::Table(table.iter().map(number).collect::<Option<_>>()?)
        }
        (Shape::Text | Shape::Flag | Shape::Whole | Shape::WholeOrText | Shape::List | Shape::Table, _) => {
            return None;
        }
    })
}

fn text(node: &Node) -> Option<String> {
    if let Node::Text(text) = node { Some(text.clone()) } else { None }
}

fn whole(node: &Node) -> Option<i64> {
    if let Node::Whole(number) = node { Some(*number) } else { None }
}

#[cfg(test)]
mod tests {
    use extraboard_core::profile::{Profile, ProfileName};

    use super::*;

    #[test]
    fn the_defaults_name_every_key_that_has_one() {
        let layer = defaults().unwrap();
        for key in Key::all().filter(|key| !matches!(key, Key::ProfileNumber(_))) {
            assert!(layer.get(key).is_some(), "{}", key.name());
        }
    }

    #[test]
    fn the_defaults_tell_the_numbers_of_both_profiles() {
        let number = |name, key| {
            let found = Profile::shipped(name).numbers().find(|(known, _)| *known == key);
            found.map_or_else(|| "-".to_owned(), |(_, number)| number.to_string())
        };
        for key in Profile::keys() {
            let numbers = [ProfileName::Pipeline, ProfileName::DepthFirst].map(|name| number(name, key));
            let line = format!("# {key:<27}  {:>8}  {:>11}", numbers[0], numbers[1]);
            assert!(DEFAULT.lines().any(|known| known == line), "not in default.toml:\n{line}");
        }
    }

    #[test]
    fn the_extension_tells_yaml_from_toml() {
        for name in ["a.yaml", "a.yml", "a.b.YML"] {
            assert_eq!(Form::of(Path::new(name)), Form::Yaml, "{name}");
        }
        for name in ["a.toml", "a", "yaml", "yaml.conf"] {
            assert_eq!(Form::of(Path::new(name)), Form::Toml, "{name}");
        }
    }
}
