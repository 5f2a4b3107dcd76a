//! What an issue's text says about other issues, where it says so plainly.
//!
//! Two things are read: lines that begin with "blocked by" or "depends on" and go on with references, and
//! items of task lists that begin with one. Everything else is prose.

use super::super::links::Says;
use super::repository::Repository;

const PHRASES: [&str; 2] = ["blocked by", "depends on"];

/// Returns what a text says about other issues, by their keys.
pub(super) fn mentions(body: &str, repository: &Repository) -> Vec<(Says, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in body.lines() {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let item = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' '));
        let content = item.unwrap_or(line).trim_start();
        if let Some(task) = item.and_then(|_| checked(content)) {
            found.extend(references(task, repository).take(1).map(|key| (Says::Lists, key)));
        } else if let Some(rest) = PHRASES.iter().find_map(|phrase| after(content, phrase)) {
            found.extend(references(rest, repository).map(|key| (Says::BlockedBy, key)));
        }
    }
    found
}

/// Returns what follows the box of a task.
fn checked(content: &str) -> Option<&str> {
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|check| content.strip_prefix(check))
}

/// Returns what follows a phrase at the beginning of a line, whatever its case and emphasis.
fn after<'a>(content: &'a str, phrase: &str) -> Option<&'a str> {
    let content = content.trim_start_matches(['*', '_']);
    let (start, rest) = content.split_at_checked(phrase.len())?;
    let rest = rest.trim_start_matches(['*', '_', ':']);
    (start.eq_ignore_ascii_case(phrase) && rest.starts_with(' ')).then_some(rest)
}

/// Returns the references a text begins with, up to the first other word.
fn references(text: &str, repository: &Repository) -> impl Iterator<Item = String> {
    let words = text.split([' ', '\t', ',']).filter(|word| !matches!(*word, "" | "and" | "&"));
    words.map_while(|word| repository.reference(word.trim_end_matches(['.', ';', ':', ')', '*', '_'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &[(Says, &str)]) {
        let repository = Repository::parse("acme/pay").unwrap();
        let found = mentions(body, &repository);
        let found: Vec<_> = found.iter().map(|(says, key)| (*says, key.as_str())).collect();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn blockers_are_read_from_lines_that_begin_with_them() {
        let one = [(Says::BlockedBy, "github:acme/pay#12")];
        check("Blocked by #12", &one);
        check("text\r\n  - **Depends on:** #12.\r\nmore", &one);
        check("depends on #12 being merged first, see #13", &one);
        check("DEPENDS ON https://github.com/acme/pay/issues/12", &one);
        let two = [(Says::BlockedBy, "github:acme/pay#1"), (Says::BlockedBy, "github:o/r#2")];
        check("blocked by: #1, o/r#2", &two);
        check("blocked by #1 and o/r#2", &two);
    }

    #[test]
    fn items_of_task_lists_lie_below() {
        let two = [(Says::Lists, "github:acme/pay#1"), (Says::Lists, "github:acme/pay#2")];
        check("- [ ] #1 the first (not #9)\n* [x] https://github.com/acme/pay/issues/2", &two);
    }

    #[test]
    fn prose_and_code_say_nothing() {
        for body in [
            "",
            "This is blocked by #12",
            "blocked by the #12",
            "blocked bystanders #12",
            "blocked by",
            "blocked by#12",
            "- #12",
            "- [ ] do #12",
            "```\nblocked by #12\n- [ ] #1\n```",
            "blocked by #99999999999999999999999",
            "blocked by ümlaut#1",
            "blockéd by #1",
        ] {
            check(body, &[]);
        }
    }
}
