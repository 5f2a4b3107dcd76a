//! JSON files taken apart: arrays, objects one after the other, and objects a line, each with its line.

use serde_json::Value;
use serde_json::value::RawValue;

use super::gather::Gather;
use super::{ImportError, Outcome};

/// One object of a file.
pub(super) struct Record<'a> {
    /// The line it begins on.
    pub(super) line: usize,
    /// Its text.
    pub(super) text: &'a str,
    /// What it says.
    pub(super) value: Value,
}

/// Takes a file apart.
///
/// A file that is JSON from beginning to end is taken as such, whatever its lines are like. Otherwise each
/// line stands for itself, and one that is broken is left out.
pub(super) fn read<'a>(text: &'a str, gather: &mut Gather) -> Result<Vec<Record<'a>>, ImportError> {
    let pieces = match whole(text) {
        Ok(pieces) => pieces,
        Err(error) if text.trim_start().starts_with('[') => {
            let message = format!("is not JSON: {}; expected a list of issues", reason(&error));
            return Err(ImportError::Malformed { line: error.line(), message });
        }
        Err(_) => by_line(text, gather)?,
    };
    let mut lines = Lines::new(text);
    let mut records = Vec::with_capacity(pieces.len());
    let mut last_named = None;
    for piece in pieces {
        let line = lines.of(piece);
        match serde_json::from_str(piece) {
            Ok(value @ Value::Object(_)) => records.push(Record { line, text: piece, value }),
            // Of a list on one line, every element says the same.
            Ok(_) if last_named == Some(line) => {}
            Ok(_) => {
                last_named = Some(line);
                gather.problem(line, Outcome::LeftOut, "is not an object: expected {…}".to_owned());
            }
            Err(error) => {
                let message = format!("is not JSON that can be read: {}", reason(&error));
                gather.problem(line, Outcome::LeftOut, message);
            }
        }
    }
    Ok(records)
}

/// Reads a file as values one after the other; of arrays, the elements.
fn whole(text: &str) -> Result<Vec<&str>, serde_json::Error> {
    let mut pieces = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = value?;
        if value.get().starts_with('[') {
            let elements: Vec<&RawValue> = serde_json::from_str(value.get())?;
            pieces.extend(elements.into_iter().map(RawValue::get));
        } else {
            pieces.push(value.get());
        }
    }
    Ok(pieces)
}

/// Reads each line on its own; a file without a single good one is no such file.
fn by_line<'a>(text: &'a str, gather: &mut Gather) -> Result<Vec<&'a str>, ImportError> {
    let mut good = Vec::new();
    let mut bad = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<&RawValue>(line) {
            Ok(value) => good.push(value.get()),
            Err(error) => {
                let column = error.column();
                let message =
                    format!("is not JSON: {} in column {column}; expected one object", reason(&error));
                bad.push((index + 1, message));
            }
        }
    }
    if let (true, Some((line, message))) = (good.is_empty(), bad.first()) {
        return Err(ImportError::Malformed { line: *line, message: message.clone() });
    }
    for (line, message) in bad {
        gather.problem(line, Outcome::LeftOut, message);
    }
    Ok(good)
}

/// Returns what an error says without the place it names, which is one of a part of the file.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

/// Counts lines up to pieces of a text that come in order.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    fn of(&mut self, piece: &str) -> usize {
        let offset = piece.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let between = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += between.split(|byte| *byte == b'\n').count() - 1;
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks on which lines records begin, and what is said about the rest.
    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)], problems: &[(usize, &str)]) {
        let mut gather = Gather::default();
        let records = read(text, &mut gather).unwrap();
        let found: Vec<_> = records.iter().map(|record| (record.line, record.text)).collect();
        assert_eq!(found, expected);
        let read = gather.finish();
        let found: Vec<_> = read.problems.iter().map(|each| (each.line, each.message.as_str())).collect();
        assert_eq!(found, problems);
    }

    #[test]
    fn arrays_lines_and_pages_are_taken_apart() {
        check("", &[], &[]);
        check(" \n\n", &[], &[]);
        check("[]", &[], &[]);
        check("[{\"a\": 1},\n\n {\"b\":\n2}]", &[(1, "{\"a\": 1}"), (3, "{\"b\":\n2}")], &[]);
        check("[{}]\n[{},{}]", &[(1, "{}"), (2, "{}"), (2, "{}")], &[]);
        check("{}\r\n\r\n{\"a\":1}\r\n", &[(1, "{}"), (3, "{\"a\":1}")], &[]);
        check("{\n\"a\":1\n}\n{}", &[(1, "{\n\"a\":1\n}"), (4, "{}")], &[]);
    }

    #[test]
    fn a_broken_line_is_left_out_and_named() {
        let message = "is not JSON: expected value in column 6; expected one object";
        check("{}\n{\"a\":}\n{}", &[(1, "{}"), (3, "{}")], &[(2, message)]);
        let message = "is not an object: expected {…}";
        check("{}\n7", &[(1, "{}")], &[(2, message)]);
        check("[1,2]", &[], &[(1, message)]);
        check(
            "{}\n[1, {}, 2]\n[3,\n4]",
            &[(1, "{}"), (2, "{}")],
            &[(2, message), (3, message), (4, message)],
        );
    }

    #[test]
    fn json_that_is_too_deep_is_left_out() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        let message = "is not JSON that can be read: recursion limit exceeded";
        check(&format!("{{}}\n{deep}"), &[(1, "{}")], &[(2, message)]);
    }

    #[test]
    fn a_file_that_is_no_json_at_all_is_refused() {
        let check = |text: &str, expected: &str| {
            let error = read(text, &mut Gather::default()).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some(expected));
        };
        let end = "is not JSON: EOF while parsing a list; expected a list of issues";
        check("[{},\n{}", &format!("line 2: {end}"));
        let message = "is not JSON: expected value in column 1; expected one object";
        check("\n# Plan\n- [ ] a", &format!("line 2: {message}"));
    }
}
