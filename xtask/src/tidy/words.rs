//! Words that must not stand in the code: modules without an idea, notes without an issue, prints in
//! libraries.

use super::{
    Finding, Repository,
    repository::is_test_path,
    rust_source::{Piece, RustSource},
};

const VAGUE_MODULES: &[&str] = &["common", "helpers", "misc", "utils"];
const NOTES: &[&str] = &["TODO", "FIXME"];
const PRINTS: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];
const PRINTERS: &[&str] = &["crates/bench/", "crates/cli/", "crates/testkit/", "xtask/"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let rust = repository.with_extension("rs").flat_map(|(path, text)| {
        let source = RustSource::new(text);
        let notes = notes(path, source.comments().iter().map(|piece| (piece.line, piece.text.as_str())));
        [notes, vague_modules(path, &source), prints(path, &source)].concat()
    });
    let sql = repository.with_extension("sql").flat_map(|(path, text)| {
        notes(path, text.lines().enumerate().map(|(index, line)| (index + 1, line)))
    });
    rust.chain(sql).collect()
}

fn vague_modules(path: &str, source: &RustSource) -> Vec<Finding> {
    let words: Vec<Piece> = source.words().map(|(word, _)| word).collect();
    words
        .windows(2)
        .filter(|pair| pair[0].text == "mod" && VAGUE_MODULES.contains(&pair[1].text.as_str()))
        .map(|pair| {
            let message = format!("module `{}`: name it after its one idea", pair[1].text);
            Finding::new(path, pair[1].line, message)
        })
        .collect()
}

fn prints(path: &str, source: &RustSource) -> Vec<Finding> {
    if PRINTERS.iter().any(|printer| path.starts_with(printer)) || is_test_path(path) {
        return Vec::new();
    }
    source
        .words()
        .filter(|(word, rest)| PRINTS.contains(&word.text.as_str()) && rest.starts_with(b"!"))
        .filter(|(word, _)| !source.is_test_line(word.line))
        .map(|(word, _)| {
            let message = format!("`{}!` outside of the command line: use tracing", word.text);
            Finding::new(path, word.line, message)
        })
        .collect()
}

fn notes<'a>(path: &str, lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Finding> {
    lines
        .filter_map(|(line, text)| {
            let note = note_without_issue(text)?;
            let message = format!("{note} without its issue: write `{note} #<number>`");
            Some(Finding::new(path, line, message))
        })
        .collect()
}

/// Returns the note in a line of comment that is not followed by `#` and the number of an issue.
fn note_without_issue(text: &str) -> Option<&'static str> {
    NOTES.iter().copied().find(|note| {
        text.match_indices(note).any(|(at, _)| {
            let rest = text[at + note.len()..].trim_start_matches([' ', '(', ':']);
            let number = rest.strip_prefix('#').unwrap_or_default();
            !number.starts_with(|character: char| character.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    #[track_caller]
    fn check_file(path: &str, text: &str, expected: &[&str]) {
        expect(&check(&Repository::of(&[(path, text)])), expected);
    }

    #[test]
    fn vague_module_is_found() {
        check_file("a.rs", "mod utils;\n", &["a.rs:1: module `utils`: name it after its one idea"]);
        check_file("a.rs", "mod utility_poles;\n// mod utils\n", &[]);
    }

    #[test]
    fn note_needs_an_issue() {
        let expected = ["a.rs:1: TODO without its issue: write `TODO #<number>`"];
        check_file("a.rs", "// TODO: later\n", &expected);
        check_file("a.rs", "// TODO(#12): later, FIXME #3\nlet a = \"TODO\";\n", &[]);
        let expected = ["a.sql:2: FIXME without its issue: write `FIXME #<number>`"];
        check_file("a.sql", "SELECT 1;\n-- FIXME # 3\n", &expected);
    }

    #[test]
    fn libraries_do_not_print() {
        let text = "fn a() {\n    eprintln!(\"a\");\n}\n";
        let expected = ["crates/desk/src/a.rs:2: `eprintln!` outside of the command line: use tracing"];
        check_file("crates/desk/src/a.rs", text, &expected);
        check_file("crates/cli/src/a.rs", text, &[]);
        check_file("crates/desk/tests/it/a.rs", text, &[]);
        check_file("crates/desk/src/b.rs", "#[cfg(test)]\nmod tests { fn a() { println!(); } }", &[]);
        check_file("crates/desk/src/c.rs", "fn print() { writeln!(a, \"println!\") }", &[]);
    }
}
