//! TOML that people write and we check: whatever is wrong is told with file, line and key.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::config::nearest;
use crate::error::{CliError, Kind};

/// Some TOML, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
    /// The line of the file that the text begins on, 1 the first.
    pub(crate) first_line: usize,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TomlProblem {
    pub(crate) path: PathBuf,
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for TomlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} line {}: {}", self.path.display(), self.line, self.message)
    }
}

impl From<TomlProblem> for CliError {
    fn from(problem: TomlProblem) -> Self {
        Self::new(Kind::Usage, problem.to_string())
    }
}

/// TOML that was read and is not yet understood.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    source: Source<'a>,
    table: Spanned<DeTable<'a>>,
    /// Where each key and each entry of a list begins, such as `route[1].run`.
    places: BTreeMap<String, usize>,
}

impl<'a> Document<'a> {
    /// Reads the text; a key that is none of `known` is refused. There `route[].run` is `run` in each table of the
    /// list `route`.
    pub(crate) fn parse(source: Source<'a>, known: &[&str]) -> Result<Self, TomlProblem> {
        let table = DeTable::parse(source.text).map_err(|error| {
            problem(
                source,
                error.span().map_or(0, |span| span.start),
                format!("not TOML: {}", error.message()),
            )
        })?;
        let mut walk = Walk { source, known, places: BTreeMap::new() };
        walk.table(table.get_ref(), "", "")?;
        let places = walk.places;
        Ok(Self { source, table, places })
    }

    /// Takes a text out that the rest is read without.
    pub(crate) fn take_text(&mut self, key: &str) -> Result<Option<String>, TomlProblem> {
        let Some(value) = self.table.get_mut().remove(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(text.to_string())),
            other => Err(self.problem(key, format!("`{key}` is {}: expected a text", article(other)))),
        }
    }

    /// Reads what is there; all of it must be of the right sort.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, TomlProblem> {
        T::deserialize(Deserializer::from(self.table.clone())).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let is_absent = error.message().starts_with("missing field");
            let key = self.key_at(start).filter(|_| !is_absent);
            let key = key.map_or_else(String::new, |key| format!("`{key}`: "));
            problem(self.source, start, format!("{key}{}", error.message()))
        })
    }

    /// Says what is wrong with a key; one that is not there itself is told by what is around it.
    pub(crate) fn problem(&self, key: &str, message: String) -> TomlProblem {
        let place = self.places.iter().filter(|(known, _)| key.starts_with(known.as_str()));
        let nearest = place.max_by_key(|(known, _)| known.len());
        problem(self.source, nearest.map_or(0, |(_, start)| *start), message)
    }

    /// Returns the key that stands before a place of the text.
    fn key_at(&self, start: usize) -> Option<&str> {
        let before = self.places.iter().filter(|(_, place)| **place <= start);
        before.max_by_key(|(_, place)| **place).map(|(key, _)| key.as_str())
    }
}

/// Writes a text as TOML does.
pub(crate) fn quoted(text: &str) -> String {
    // The strings of JSON are strings of TOML, which takes one character less as it is.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn problem(source: Source<'_>, start: usize, message: String) -> TomlProblem {
    let before = source.text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    TomlProblem { path: source.path.to_owned(), line: source.first_line + before, message }
}

fn article(value: &DeValue<'_>) -> String {
    let sort = value.type_str();
    let article = if sort.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {sort}")
}

/// Looks at every key.
struct Walk<'a> {
    source: Source<'a>,
    known: &'a [&'a str],
    places: BTreeMap<String, usize>,
}

impl Walk<'_> {
    /// Goes through a table, whose name is `name` as written and `pattern` as known.
    fn table(&mut self, table: &DeTable<'_>, name: &str, pattern: &str) -> Result<(), TomlProblem> {
        for (key, value) in table {
            let name = joined(name, key.get_ref());
            let pattern = joined(pattern, key.get_ref());
            self.places.insert(name.clone(), key.span().start);
            let is_known = self.known.contains(&pattern.as_str());
            if !is_known && !self.holds(&pattern, ".") && !self.holds(&pattern, "[]") {
                return Err(self.unknown(&pattern, key.span().start));
            }
            self.value(value, &name, &pattern)?;
        }
        Ok(())
    }

    /// Goes on into tables and lists; whether a value may be one at all is seen when it is read.
    fn value(&mut self, value: &Spanned<DeValue<'_>>, name: &str, pattern: &str) -> Result<(), TomlProblem> {
        match value.get_ref() {
            DeValue::Table(table) if self.holds(pattern, ".") => self.table(table, name, pattern),
            DeValue::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let (name, pattern) = (format!("{name}[{index}]"), format!("{pattern}[]"));
                    self.places.insert(name.clone(), entry.span().start);
                    self.value(entry, &name, &pattern)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn holds(&self, pattern: &str, next: &str) -> bool {
        self.known.iter().any(|known| known.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(next)))
    }

    fn unknown(&self, pattern: &str, start: usize) -> TomlProblem {
        let shown = |name: &str| name.replace("[]", "");
        let likely = nearest(pattern, self.known.iter().copied())
            .map_or_else(String::new, |likely| format!(": did you mean `{}`?", shown(likely)));
        problem(self.source, start, format!("unknown key `{}`{likely}", shown(pattern)))
    }
}

fn joined(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Sample {
        base: String,
        limits: BTreeMap<String, i64>,
        route: Vec<Route>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Route {
        run: String,
        labels: Vec<String>,
    }

    const KNOWN: [&str; 5] = ["project", "base", "limits.running", "route[].run", "route[].labels"];

    fn parse(text: &str) -> Result<Document<'_>, TomlProblem> {
        Document::parse(Source { path: Path::new("p.toml"), text, first_line: 1 }, &KNOWN)
    }

    fn check(text: &str, expected: &str) {
        let problem = match parse(text).and_then(|document| document.read::<Sample>()) {
            Ok(read) => panic!("{read:?}"),
            Err(problem) => problem.to_string(),
        };
        assert_eq!(problem, expected);
    }

    #[test]
    fn unknown_keys_are_told_with_the_nearest_one() {
        check("\nbsae = 1", "p.toml line 2: unknown key `bsae`: did you mean `base`?");
        check("[limit]\nrunning = 1", "p.toml line 1: unknown key `limit`");
        check(
            "[limits]\n\nrunnign = 1",
            "p.toml line 3: unknown key `limits.runnign`: did you mean `limits.running`?",
        );
        check(
            "[[route]]\nrun = \"a\"\n[[route]]\nlabel = []",
            "p.toml line 4: unknown key `route.label`: did you mean `route.labels`?",
        );
        check("colour = 1", "p.toml line 1: unknown key `colour`");
    }

    #[test]
    fn values_of_another_sort_are_told_with_their_key() {
        check("base = 1", "p.toml line 1: `base`: invalid type: integer `1`, expected a string");
        check(
            "[[route]]\nrun = \"a\"\nlabels = [\"a\",\n  2]",
            "p.toml line 4: `route[0].labels[1]`: invalid type: integer `2`, expected a string",
        );
        check("limits = 3", "p.toml line 1: `limits`: invalid type: integer `3`, expected a map");
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let problem = parse("base = \"a\"\nbase = \"b\"").unwrap_err().to_string();
        assert!(problem.starts_with("p.toml line 2: not TOML: "), "{problem}");
    }

    #[test]
    fn a_text_can_be_taken_out_of_the_rest() {
        let mut document = parse("project = \"p\"\nbase = \"b\"").unwrap();
        assert_eq!(document.take_text("project").unwrap().as_deref(), Some("p"));
        assert_eq!(document.take_text("project").unwrap(), None);
        assert_eq!(document.read::<Sample>().unwrap().base, "b");
        let mut document = parse("base = \"b\"\nproject = 3").unwrap();
        let problem = document.take_text("project").unwrap_err().to_string();
        assert_eq!(problem, "p.toml line 2: `project` is an integer: expected a text");
    }

    #[test]
    fn a_problem_is_told_where_its_key_is() {
        let document = parse("base = \"b\"\n[[route]]\nrun = \"a\"\n[[route]]\nlabels = []\n").unwrap();
        let line = |key: &str| document.problem(key, String::new()).line;
        assert_eq!((line("base"), line("route[1].labels"), line("limits")), (1, 5, 1));
        assert_eq!(line("route[1]"), 4);
    }

    #[test]
    fn quoted_texts_read_back() {
        for text in ["", "a \"b\" \\ c", "tab\tline\nü \u{7f}\u{1}"] {
            let toml = format!("base = {}", quoted(text));
            assert_eq!(parse(&toml).unwrap().read::<Sample>().unwrap().base, text);
        }
    }
}
