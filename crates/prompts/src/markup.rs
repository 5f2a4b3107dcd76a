//! What Markdown makes of a line of a template: code blocks, and HTML that would go around one.
//!
//! The rules of `CommonMark` for where a code block begins and ends depend on lists and quotes
//! around it. Of its many forms only the plain ones are allowed here, in which there can be no
//! two opinions; everything else that could be one is refused.

use crate::clean::is_hidden;

/// A run of this many backticks or tildes begins or ends a code block.
const RUN_MIN: usize = 3;
/// How far in a code block may begin and end.
const INDENT_MAX: usize = 3;

const FORM: &str = "expected a line that begins or ends a code block to have at most three spaces before it, \
                    and no list or quote mark";
const END: &str = "expected nothing but spaces after the marks that end a code block; to show such marks, begin \
                   the block with more of them";
const OUTDENTED: &str = "expected the lines of a code block to stand at least as far in as its beginning";
const AFTER_TAG: &str = "expected a blank line between a line that begins with a tag and a code block";
const HTML: &str = "expected no line that begins with <!, <?, <pre, <script, <style or <textarea: what follows \
                    would be no text any more. Comments are written {{! … }}";

/// What a line of the template stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Plain text.
    Text,
    /// Text after a tag, which may go as it is until there is a blank line.
    Html,
    /// A code block.
    Code(Fence),
}

/// How a code block of the template began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

/// What is not allowed in a line, and at which of its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Odd {
    pub(crate) expected: &'static str,
    pub(crate) column: usize,
}

impl Block {
    /// Returns what comes after a line.
    pub(crate) fn after(self, line: &str) -> Result<Self, Odd> {
        let start = after_markers(line);
        let before = &line[..line.len() - start.len()];
        let odd = |expected| Err(Odd { expected, column: before.chars().count() + 1 });
        let Some((fence, rest)) = fence(start, before.len()) else {
            return match self {
                Self::Code(open) if !is_blank(line) && indent(line) < open.indent => odd(OUTDENTED),
                Self::Code(_) => Ok(self),
                _ if is_blank(line) => Ok(Self::Text),
                _ if opens_html(start) => odd(HTML),
                _ if begins_with_tag(start) => Ok(Self::Html),
                _ => Ok(self),
            };
        };
        if before.len() > INDENT_MAX || !before.bytes().all(|byte| byte == b' ') {
            return odd(FORM);
        }
        if !is_blank(rest) && rest.chars().all(is_unseen) {
            return odd(END);
        }
        match self {
            Self::Text => Ok(Self::Code(fence)),
            Self::Html => odd(AFTER_TAG),
            Self::Code(open) if fence.indent < open.indent => odd(OUTDENTED),
            Self::Code(open) if fence.mark != open.mark || fence.length < open.length => Ok(self),
            Self::Code(_) if is_blank(rest) => Ok(Self::Text),
            Self::Code(_) => odd(END),
        }
    }

    /// Returns what may follow if it may follow this or the other; nothing if only one is code.
    pub(crate) fn or(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Code(_), _) | (_, Self::Code(_)) => None,
            _ => Some(Self::Html),
        }
    }
}

/// Returns a line without what may stand before a block: white space of every kind, what is
/// not seen, and the marks of lists and quotes.
pub(crate) fn after_markers(line: &str) -> &str {
    let mut rest = line;
    loop {
        let start =
            rest.trim_start_matches(|char: char| is_unseen(char) || matches!(char, '>' | '-' | '*' | '+'));
        let start = after_number(start).unwrap_or(start);
        if start.len() == rest.len() {
            return rest;
        }
        rest = start;
    }
}

/// Returns what follows a number that could count a list.
pub(crate) fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    if rest.len() == text.len() { None } else { rest.strip_prefix(['.', ')']) }
}

/// Returns what the line begins as a code block, if it does, and what it says of it.
fn fence(start: &str, indent: usize) -> Option<(Fence, &str)> {
    let mark = start.chars().next().filter(|char| matches!(char, '`' | '~'))?;
    let rest = start.trim_start_matches(mark);
    let length = start.len() - rest.len();
    // Backticks with a backtick after them are code within a line.
    let is_fence = length >= RUN_MIN && !(mark == '`' && rest.contains('`'));
    is_fence.then_some((Fence { mark, length, indent }, rest))
}

fn is_unseen(char: char) -> bool {
    char.is_whitespace() || is_hidden(char)
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Returns how far in a line stands, as far as that matters.
fn indent(line: &str) -> usize {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    if line[spaces..].starts_with('\t') { INDENT_MAX + 1 } else { spaces }
}

/// Tells whether a line begins HTML that a blank line does not end.
fn opens_html(start: &str) -> bool {
    let Some(tag) = start.strip_prefix('<') else { return false };
    if tag.starts_with(['!', '?']) {
        return true;
    }
    let end = tag.find(|char: char| !char.is_ascii_alphanumeric() && char != '-' && char != '_');
    let name = &tag[..end.unwrap_or(tag.len())];
    ["pre", "script", "style", "textarea"].iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn begins_with_tag(start: &str) -> bool {
    start
        .strip_prefix('<')
        .is_some_and(|tag| tag.starts_with(|char: char| char.is_ascii_alphabetic() || char == '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what comes after some lines, or what was expected and where.
    fn after(lines: &str) -> Result<Block, (usize, usize)> {
        lines.split('\n').enumerate().try_fold(Block::Text, |block, (index, line)| {
            block.after(line).map_err(|odd| (index + 1, odd.column))
        })
    }

    #[test]
    fn plain_code_blocks_begin_and_end() {
        for lines in
            ["```sh\nx\n```", "~~~\n```\n~~~~ \t", "  ```\n  x\n\n    y\n  ```", "````\n```sh\n```\n````"]
        {
            assert_eq!(after(lines), Ok(Block::Text), "{lines:?}");
        }
        for lines in ["```", "```sh\n~~~", "````\n```", "text\n   ~~~ a `b`"] {
            assert!(matches!(after(lines), Ok(Block::Code(_))), "{lines:?}");
        }
        for lines in ["```a``` b", "- ``` `", "``", "-", "1.", "1. x ```", "", "> - 2) x"] {
            assert_eq!(after(lines), Ok(Block::Text), "{lines:?}");
        }
    }

    #[test]
    fn other_forms_of_code_blocks_are_refused() {
        for (lines, place) in [
            ("1. ```sh", (1, 4)),
            ("x\n1) ```", (2, 4)),
            ("10) ~~~", (1, 5)),
            ("> - 1. ```", (1, 8)),
            ("    ```", (1, 5)),
            ("\t```", (1, 2)),
            ("\u{feff}```sh", (1, 2)),
            ("\u{a0}```sh", (1, 2)),
            ("\u{2003}```sh", (1, 2)),
            ("```sh\nx\n    ```", (3, 5)),
            ("```sh\nx\n- ```", (3, 3)),
            ("```sh\nx\n> ```", (3, 3)),
            ("```sh\nx\n\t```", (3, 2)),
            ("```sh\n```\u{a0}", (2, 1)),
            ("```sh\n```\u{2003}", (2, 1)),
            ("```sh\n```\u{b}", (2, 1)),
            ("```sh\n```\u{c}", (2, 1)),
            ("```sh\n```sh", (2, 1)),
            ("- a\n  ```sh\nx\n  ```", (3, 1)),
            ("- a\n  ```sh\n  x\n```", (4, 1)),
        ] {
            assert_eq!(after(lines), Err(place), "{lines:?}");
        }
    }

    #[test]
    fn html_that_goes_on_is_refused() {
        for start in [
            "<!-- x -->",
            "<pre>",
            "<PRE",
            "<Script src",
            "<style\t",
            "<textarea>",
            "<?php",
            "<!DOCTYPE",
            "<![CDATA[",
        ] {
            for before in ["", "   ", "- ", "> ", "1. "] {
                let line = format!("{before}{start}");
                assert_eq!(after(&line), Err((1, before.len() + 1)), "{line:?}");
            }
            assert!(after(&format!("```html\n{start}\n```")).is_ok(), "{start}");
        }
    }

    #[test]
    fn other_tags_end_at_a_blank_line() {
        assert_eq!(after("<issue>\nx"), Ok(Block::Html));
        assert_eq!(after("<preview>"), Ok(Block::Html));
        assert_eq!(after("</issue>\n \t\nx"), Ok(Block::Text));
        assert_eq!(after("<issue>\n```\n\nfoo\n```"), Err((2, 1)));
        assert_eq!(after("<issue>\n\n```\nfoo\n```\n</issue>"), Ok(Block::Html));
    }

    #[test]
    fn of_two_ways_the_stricter_counts() {
        let code = after("```").unwrap();
        assert_eq!(Block::Text.or(Block::Html), Some(Block::Html));
        assert_eq!(code.or(code), Some(code));
        assert_eq!((code.or(Block::Text), Block::Html.or(code)), (None, None));
    }
}
