//! Whole files of every format, and what must hold for any file.

use std::collections::HashMap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

mod files;
mod round_trip;

/// Reads a file that is not refused.
#[track_caller]
fn read_ok(format: Format, text: &str, namespace: Option<&str>) -> Read {
    let options = Options { namespace: namespace.map(str::to_owned) };
    read(format, text, &options).unwrap()
}

/// Shows what was read, each draft and each problem on lines of its own.
fn show(read: &Read) -> String {
    let mut text = String::new();
    for draft in &read.drafts {
        let _ = write!(text, "{}: {} [{}", draft.key, draft.title, draft.status.as_str());
        for (what, value) in [("type", &draft.kind), ("below", &draft.parent), ("owner", &draft.owner)] {
            let _ = value.iter().try_for_each(|value| write!(text, ", {what} {value}"));
        }
        let _ = draft.priority.iter().try_for_each(|points| write!(text, ", {points} points"));
        let _ = writeln!(text, "]");
        for (what, list) in [
            ("labels", &draft.labels),
            ("blocked by", &draft.blocked_by),
            ("related to", &draft.related),
            ("needs", &draft.needs),
        ] {
            if !list.is_empty() {
                let _ = writeln!(text, "  {what}: {}", list.join(", "));
            }
        }
        for line in draft.description.as_deref().unwrap_or_default().lines() {
            let _ = writeln!(text, "{}", format!("  | {line}").trim_end());
        }
        for Remark { author, body, .. } in &draft.comments {
            let _ = writeln!(text, "  {}: {body}", author.as_deref().unwrap_or("?"));
        }
    }
    for problem in &read.problems {
        let _ = writeln!(text, "line {}: {:?}: {}", problem.line, problem.outcome, problem.message);
    }
    text
}

/// Returns the messages of what was read.
fn messages(read: &Read) -> Vec<String> {
    read.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

#[test]
fn formats_are_named_by_their_words() {
    for format in Format::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    assert_eq!(
        "csv".parse::<Format>().unwrap_err().to_string(),
        "`csv` is not a format: expected github, beads, jsonl or markdown"
    );
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let text = " ".repeat(INPUT_BYTES_MAX + 1);
    let error = read(Format::Jsonl, &text, &Options::default()).unwrap_err();
    assert_eq!(error, ImportError::TooLarge { bytes: INPUT_BYTES_MAX + 1 });
    assert_eq!(read_ok(Format::Jsonl, &text[1..], None), Read::default());
}

#[test]
fn a_file_with_too_many_items_is_refused() {
    let line = |number: usize| format!("{{\"id\":{number},\"title\":\"t\"}}\n");
    let text: String = (0..DRAFTS_MAX).map(line).collect();
    assert_eq!(read_ok(Format::Jsonl, &text, None).drafts.len(), DRAFTS_MAX);
    let error = read(Format::Jsonl, &(text + &line(DRAFTS_MAX)), &Options::default());
    assert_eq!(error, Err(ImportError::TooMany));
}

#[test]
fn a_mark_of_the_byte_order_is_passed_over() {
    assert_eq!(read_ok(Format::Jsonl, "\u{feff}{\"title\":\"t\"}", None).problems, []);
    assert_eq!(read_ok(Format::Markdown, "\u{feff}- [ ] t", None).drafts.len(), 1);
}

#[test]
fn problems_do_not_pass_on_what_a_file_would_do_to_a_terminal() {
    let text = r#"{"id":"a\u001b[2J","title":"t","priority":9}"#;
    assert_eq!(
        messages(&read_ok(Format::Beads, text, None)),
        ["1: `a [2J` has the priority 9, which was left out: expected 0 to 4"]
    );
}

/// Makes text that looks like a file of some format often enough to get far into its reader.
fn texts() -> impl Strategy<Value = String> {
    let words = vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\n",
        "\n",
        " ",
        "  ",
        "\t",
        "- [ ] ",
        "- [x] ",
        "# ",
        "## ",
        "```",
        "\\",
        "#a",
        "!high",
        "\"id\":",
        "\"title\":",
        "\"key\":",
        "\"number\":",
        "\"url\":",
        "1",
        "2",
        "null",
        "\"body\":",
        "\"blocked by #1\"",
        "\"https://github.com/a/b/issues/1\"",
        "\"parent\":",
        "\"blockedBy\":",
        "\"dependencies\":",
        "\"depends_on_id\":",
        "\"comments\":",
        "\"labels\":",
        "é",
        "\u{0}",
        "\u{2028}",
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(words).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_file_makes_it_panic_or_break_the_limits(text in texts(), which in 0usize..4) {
        let options = Options { namespace: Some("a/b".to_owned()) };
        let Ok(found) = read(Format::ALL[which], &text, &options) else { return Ok(()) };
        let mut seen = HashMap::new();
        let lines = text.lines().count().max(1);
        for (place, draft) in found.drafts.iter().enumerate() {
            prop_assert!((1..=300).contains(&draft.key.chars().count()));
            prop_assert!((1..=500).contains(&draft.title.chars().count()));
            prop_assert!(!draft.title.chars().any(char::is_control));
            prop_assert!((1..=lines).contains(&draft.place.line));
            prop_assert!(draft.parent.iter().chain(&draft.blocked_by).all(|key| seen.contains_key(key)));
            prop_assert_eq!(seen.insert(&draft.key, place), None);
        }
        prop_assert!(found.drafts.iter().flat_map(|draft| &draft.related).all(|key| seen.contains_key(key)));
        prop_assert!(found.problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
        prop_assert!(!found.problems.iter().any(|problem| problem.message.contains(char::is_control)));
        prop_assert!(found.problems.is_sorted_by_key(|problem| problem.line));
        prop_assert_eq!(read(Format::ALL[which], &text, &options), Ok(found));
    }
}
