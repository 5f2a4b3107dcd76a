//! Functions and files stay short; exceptions are listed with a reason and only ever shrink.

use std::collections::BTreeMap;

use super::{Finding, Repository, rust_source::RustSource};

const FUNCTION_LINE_COUNT_MAX: usize = 70;
const FILE_LINE_COUNT_MAX: usize = 600;
const ALLOW_PATH: &str = "xtask/tidy-allow.txt";

/// A function or a file: where it begins and how long it is.
struct Measured {
    path: String,
    line: usize,
    length: usize,
    limit: usize,
}

/// A line of the list of exceptions.
struct Exception {
    line: usize,
    length: usize,
}

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let (exceptions, mut findings) = parse(repository.text(ALLOW_PATH).unwrap_or_default());
    let measured = measure(repository);
    findings.extend(measured.iter().filter_map(|(name, thing)| {
        let allowed = exceptions.get(name).map_or(thing.limit, |exception| exception.length);
        (thing.length > allowed.max(thing.limit)).then(|| too_long(name, thing, allowed))
    }));
    findings.extend(exceptions.iter().filter_map(|(name, exception)| {
        let message = slack(name, exception, measured.get(name))?;
        Some(Finding::new(ALLOW_PATH, exception.line, message))
    }));
    findings
}

/// Measures every file under its path and every function under `path:name`, the longest where names repeat.
fn measure(repository: &Repository) -> BTreeMap<String, Measured> {
    let mut measured = BTreeMap::new();
    for (path, text) in repository.with_extension("rs") {
        let (path, length) = (path.to_owned(), text.lines().count());
        let mut functions = RustSource::new(text).functions();
        functions.sort_by_key(|function| function.length);
        for function in functions {
            let (line, length) = (function.line, function.length);
            let thing = Measured { path: path.clone(), line, length, limit: FUNCTION_LINE_COUNT_MAX };
            measured.insert(format!("{path}:{}", function.name), thing);
        }
        let thing = Measured { path: path.clone(), line: 1, length, limit: FILE_LINE_COUNT_MAX };
        measured.insert(path, thing);
    }
    measured
}

/// Reads `path[:function] length reason` lines; `#` begins a comment.
fn parse(list: &str) -> (BTreeMap<String, Exception>, Vec<Finding>) {
    let (mut exceptions, mut findings) = (BTreeMap::new(), Vec::new());
    for (index, text) in list.lines().enumerate() {
        let line = index + 1;
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let mut fields = text.splitn(3, ' ');
        let name = fields.next().unwrap_or_default();
        let length = fields.next().and_then(|field| field.parse().ok());
        let reason = fields.next().map(str::trim).filter(|reason| !reason.is_empty());
        match (length, reason) {
            (Some(length), Some(_)) => {
                exceptions.insert(name.to_owned(), Exception { line, length });
            }
            _ => findings.push(Finding::new(ALLOW_PATH, line, "not `path[:function] length reason`")),
        }
    }
    (exceptions, findings)
}

fn too_long(name: &str, thing: &Measured, allowed: usize) -> Finding {
    let length = thing.length;
    let message = format!("{name} has {length} lines, at most {allowed}: split it, or argue in {ALLOW_PATH}");
    Finding::new(&thing.path, thing.line, message)
}

/// Says what is wrong with an exception that allows more than is needed.
fn slack(name: &str, exception: &Exception, thing: Option<&Measured>) -> Option<String> {
    let Some(thing) = thing else {
        return Some(format!("{name} does not exist: remove the exception"));
    };
    let length = thing.length;
    if length <= thing.limit {
        return Some(format!("{name} needs no exception any more: remove it"));
    }
    (length < exception.length).then(|| format!("{name} has shrunk: lower the exception to {length}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    fn function(name: &str, length: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    a();\n".repeat(length - 2))
    }

    #[track_caller]
    fn check_with(allow: &str, text: &str, expected: &[&str]) {
        let files = [("a.rs", text), (ALLOW_PATH, allow)];
        expect(&check(&Repository::of(&files)), expected);
    }

    #[test]
    fn limits_are_inclusive() {
        check_with("", &function("a", 70), &[]);
        let expected =
            ["a.rs:1: a.rs:a has 71 lines, at most 70: split it, or argue in xtask/tidy-allow.txt"];
        check_with("", &function("a", 71), &expected);
        check_with("", &"// a\n".repeat(600), &[]);
        let expected =
            ["a.rs:1: a.rs has 601 lines, at most 600: split it, or argue in xtask/tidy-allow.txt"];
        check_with("", &"// a\n".repeat(601), &expected);
    }

    #[test]
    fn exception_holds_exactly() {
        let allow = "# Comment.\na.rs:a 80 a table reads best whole\n";
        check_with(allow, &function("a", 80), &[]);
        let expected =
            ["a.rs:1: a.rs:a has 81 lines, at most 80: split it, or argue in xtask/tidy-allow.txt"];
        check_with(allow, &function("a", 81), &expected);
    }

    #[test]
    fn exception_only_shrinks() {
        let allow = "a.rs:a 80 a table reads best whole\n";
        let lower = ["xtask/tidy-allow.txt:1: a.rs:a has shrunk: lower the exception to 79"];
        check_with(allow, &function("a", 79), &lower);
        let unneeded = ["xtask/tidy-allow.txt:1: a.rs:a needs no exception any more: remove it"];
        check_with(allow, &function("a", 70), &unneeded);
        let gone = ["xtask/tidy-allow.txt:1: a.rs:a does not exist: remove the exception"];
        check_with(allow, &function("b", 3), &gone);
    }

    #[test]
    fn exception_needs_a_length_and_a_reason() {
        let malformed = ["xtask/tidy-allow.txt:1: not `path[:function] length reason`"];
        for line in ["a.rs", "a.rs 700", "a.rs 700 ", "a.rs long because"] {
            check_with(line, "", &malformed);
        }
    }

    #[test]
    fn longest_of_one_name_counts() {
        let text = [function("a", 71), function("a", 3)].concat();
        let expected =
            ["a.rs:1: a.rs:a has 71 lines, at most 70: split it, or argue in xtask/tidy-allow.txt"];
        check_with("", &text, &expected);
    }
}
