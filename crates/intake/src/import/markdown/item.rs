//! The lines of a task list: boxes, headings, indentation, and the words at the end of a title.

use super::super::priority;

/// How many columns a tab reaches to.
const TAB_COLUMNS: usize = 4;

/// What stands in an item's box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Open,
    Done,
    Canceled,
}

/// A title, and what its last words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) title: String,
    pub(super) labels: Vec<String>,
    pub(super) priority: Option<i64>,
}

impl Words {
    /// Takes `#label` and `!priority` off the end; `\#` and `\!` are the characters themselves.
    pub(super) fn read(text: &str) -> Self {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let all = words.len();
        let mut labels = Vec::new();
        let mut priority = None;
        while let Some(word) = words.last() {
            if let Some(label) = word.strip_prefix('#').filter(|label| is_label(label)) {
                labels.push(label.to_owned());
            } else if let Some(points) = word.strip_prefix('!').and_then(priority::from_word) {
                priority = priority.or(Some(points));
            } else {
                break;
            }
            words.pop();
        }
        if words.is_empty() && all > 0 {
            return Self { title: text.trim().to_owned(), labels: Vec::new(), priority: None };
        }
        labels.reverse();
        let title: Vec<&str> = words.into_iter().map(unescape).collect();
        Self { title: title.join(" "), labels, priority }
    }
}

/// Tells whether a word can be a label; a mere number is the number of an issue.
pub(crate) fn is_label(word: &str) -> bool {
    word.chars().all(|char| char.is_alphanumeric() || "-_/:.".contains(char))
        && word.chars().any(char::is_alphabetic)
}

/// Takes one backslash away from in front of `#` or `!`.
fn unescape(word: &str) -> &str {
    let is_escaped = word.trim_start_matches('\\').starts_with(['#', '!']);
    word.strip_prefix('\\').filter(|_| is_escaped).unwrap_or(word)
}

/// Returns how far a line is indented, and the rest of it.
pub(super) fn indent(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    let column = line[..line.len() - rest.len()].chars().fold(0, |column, char| match char {
        '\t' => (column / TAB_COLUMNS + 1) * TAB_COLUMNS,
        _ => column + 1,
    });
    (column, rest)
}

/// Returns the level and the text of a heading.
pub(super) fn heading(rest: &str) -> Option<(usize, String)> {
    let text = rest.trim_start_matches('#');
    let level = rest.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']);
    let text = text.trim().trim_end_matches('#').trim_end();
    (is_heading && !text.is_empty()).then(|| (level, text.to_owned()))
}

/// Returns what follows the mark of a list item: `-`, `*`, `+` or a number.
pub(super) fn bullet(rest: &str) -> Option<&str> {
    let after_digits = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    let after = if after_digits.len() < rest.len() {
        after_digits.strip_prefix(['.', ')'])?
    } else {
        rest.strip_prefix(['-', '*', '+'])?
    };
    after.strip_prefix([' ', '\t']).map(str::trim_start)
}

/// Returns the mark and the text of an item with a box.
pub(super) fn task(rest: &str) -> Option<(Mark, &str)> {
    let (mark, text) = bullet(rest)?.strip_prefix('[')?.split_once(']')?;
    let mark = match mark {
        " " | "" | "/" => Mark::Open,
        "x" | "X" => Mark::Done,
        "-" => Mark::Canceled,
        _ => return None,
    };
    (text.is_empty() || text.starts_with([' ', '\t'])).then(|| (mark, text.trim()))
}

/// Returns the mark that opens a block of code.
pub(super) fn opens(rest: &str) -> Option<String> {
    ['`', '~'].into_iter().find_map(|char| {
        let after = rest.trim_start_matches(char);
        let length = rest.len() - after.len();
        // Backticks that come again are code within a line.
        let is_line = char == '`' && after.contains('`');
        (length >= 3 && !is_line).then(|| char.to_string().repeat(length))
    })
}

/// Tells whether a line closes a block of code.
pub(super) fn closes(line: &str, mark: &str) -> bool {
    let line = line.trim();
    line.starts_with(mark) && line.trim_start_matches(&mark[..1]).is_empty()
}

/// Returns the line that would close the block of code a text leaves open, if it does.
pub(crate) fn end_of_code(text: &str) -> Option<String> {
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        let (_, rest) = indent(line);
        open = match open {
            Some((_, mark)) if closes(line, &mark) => None,
            Some(open) => Some(open),
            None => opens(rest).map(|mark| (&line[..line.len() - rest.len()], mark)),
        };
    }
    open.map(|(indentation, mark)| format!("{indentation}{mark}"))
}

/// Joins lines without the indentation they share.
pub(super) fn dedent(lines: &[String]) -> String {
    let shared = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or_default();
    let lines: Vec<&str> = lines.iter().map(|line| line.get(shared..).unwrap_or_default()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_read() {
        let check = |line: &str, expected: Option<(Mark, &str)>| assert_eq!(task(line), expected, "{line}");
        check("- [ ] a b ", Some((Mark::Open, "a b")));
        check("* [x] a", Some((Mark::Done, "a")));
        check("+ [X] a", Some((Mark::Done, "a")));
        check("12. [-] a", Some((Mark::Canceled, "a")));
        check("1) [/]\ta", Some((Mark::Open, "a")));
        check("- [ ]", Some((Mark::Open, "")));
        check("- [a](https://example.com)", None);
        check("- [x](https://example.com)", None);
        check("- [1] a", None);
        check("-[ ] a", None);
        check("[ ] a", None);
        check("- a [ ] b", None);
        check("- [日] a", None);
        check("1.5 [ ] a", None);
    }

    #[test]
    fn the_last_words_of_a_title_are_labels_and_the_priority() {
        let check = |text: &str, title: &str, labels: &[&str], priority: Option<i64>| {
            let words = Words::read(text);
            assert_eq!((words.title.as_str(), words.priority), (title, priority), "{text}");
            assert_eq!(words.labels, labels, "{text}");
        };
        check("Fix the login #bug #area/web !high", "Fix the login", &["bug", "area/web"], Some(75));
        check("Fix #12", "Fix #12", &[], None);
        check("Fix #login today", "Fix #login today", &[], None);
        check("Hurry up!", "Hurry up!", &[], None);
        check("Hurry !now", "Hurry !now", &[], None);
        check("a !low !high", "a", &[], Some(75));
        check(r"Learn C\# and \#hash", r"Learn C\# and #hash", &[], None);
        check(r"a \\#b", r"a \#b", &[], None);
        check("#bug !high", "#bug !high", &[], None);
        check("", "", &[], None);
    }

    #[test]
    fn headings_need_a_space_and_a_text() {
        let check = |line: &str, expected: Option<(usize, &str)>| {
            assert_eq!(heading(line), expected.map(|(level, text)| (level, text.to_owned())), "{line}");
        };
        check("# Plan", Some((1, "Plan")));
        check("### A b ###", Some((3, "A b")));
        check("#tag", None);
        check("##", None);
        check("####### seven", None);
    }

    #[test]
    fn code_that_a_text_leaves_open_is_closed() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(end_of_code(text).as_deref(), expected, "{text}");
        };
        check("a\n```sh\nb", Some("```"));
        check("a\n  ~~~~\n~~~\n````", Some("  ~~~~"));
        check("```\na\n```", None);
        check("```\n~~~\n````\n~~~", Some("~~~"));
        check("```a```\nb", None);
        check("~~~ `a`", Some("~~~"));
        check("a ```\n> ```", None);
        check("", None);
    }

    #[test]
    fn tabs_and_spaces_indent() {
        assert_eq!(indent("  a "), (2, "a "));
        assert_eq!(indent("\ta"), (4, "a"));
        assert_eq!(indent("  \ta"), (4, "a"));
    }
}
