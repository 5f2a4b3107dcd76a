//! What outside text loses before it stands in a prompt: all that is not seen, and all that
//! would end its line or its fence.

use std::borrow::Cow;

/// How many characters of a one-line value are shown.
pub(crate) const LINE_CHARS_MAX: usize = 1_000;
/// The longest run of backticks that is kept in a text, so that a fence stays a fence.
const BACKTICKS_MAX: usize = 32;
/// A run of this many backticks or tildes is a fence.
const FENCE_MIN: usize = 3;

/// Tells whether a character is seen by programs and not by people.
///
/// Control and format characters, fillers, variation selectors and tags: by all of them text
/// was smuggled past readers before.
pub(crate) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || (char as u32) & 0xfffe == 0xfffe
}

/// Tells whether a character ends a line, for anybody.
pub(crate) fn is_line_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Makes one line of a value: no line breaks, nothing hidden, no fences, tags or links, not too long.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if is_plain_line(text) {
        return Cow::Borrowed(text.trim_matches(' '));
    }
    let mut line = String::with_capacity(text.len().min(4 * LINE_CHARS_MAX));
    let mut left = LINE_CHARS_MAX;
    for char in text.chars() {
        let space = is_line_break(char) || char == '\t' || char == ' ';
        if space && (line.is_empty() || line.ends_with(' ')) || !space && is_hidden(char) {
            continue;
        }
        if left == 0 {
            line.push_str(" […]");
            break;
        }
        left -= 1;
        line.push(if space { ' ' } else { char });
    }
    let line = without_runs(line.trim_end_matches(' '));
    let line = line.replace("-->", "-- >").replace("](", "]\\(");
    Cow::Owned(without_tags(line))
}

/// Puts a space into what could be a tag. A backslash would be none within HTML.
fn without_tags(line: String) -> String {
    if !line.contains('<') {
        return line;
    }
    let mut result = String::with_capacity(line.len() + 8);
    let mut rest = line.as_str();
    while let Some(at) = rest.find('<') {
        let (before, after) = rest.split_at(at + 1);
        result.push_str(before);
        let is_none = |char: char| !char.is_ascii_alphabetic() && !matches!(char, '/' | '?' | '!');
        if !after.starts_with(is_none) {
            result.push(' ');
        }
        rest = after;
    }
    result + rest
}

/// Tells, quickly, of most lines that there is nothing to do.
fn is_plain_line(text: &str) -> bool {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && !matches!(byte, b'`' | b'~' | b'<' | b'>');
    text.len() <= LINE_CHARS_MAX && text.bytes().all(is_plain) && !text.contains("  ") && !text.contains("](")
}

/// Writes runs of backticks or tildes that could be a fence as apostrophes or hyphens.
fn without_runs(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for run in Runs(text) {
        match run.as_bytes().first() {
            Some(b'`') if run.len() >= FENCE_MIN => result.extend(run.chars().map(|_| '\'')),
            Some(b'~') if run.len() >= FENCE_MIN => result.extend(run.chars().map(|_| '-')),
            _ => result.push_str(run),
        }
    }
    result
}

/// Makes a text that can stand in a fence: line breaks are plain, nothing is hidden, and runs
/// of backticks are not absurd.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut backticks) = (text, 0);
    while let Some(char) = rest.chars().next() {
        // Most of it is plain, and goes as it is.
        let plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        if plain > 0 {
            result.push_str(&rest[..plain]);
            (rest, backticks) = (&rest[plain..], 0);
            continue;
        }
        rest = &rest[char.len_utf8()..];
        if is_line_break(char) {
            result.push('\n');
            backticks = 0;
            if char == '\r' {
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
        } else if !is_hidden(char) {
            backticks = if char == '`' { backticks + 1 } else { 0 };
            if backticks <= BACKTICKS_MAX {
                result.push(char);
            }
        }
    }
    Cow::Owned(result)
}

/// Tells whether a byte of a text may stay as it is.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t') && byte != b'`'
}

/// Returns the length of the longest run of backticks.
pub(crate) fn longest_backticks(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A text in pieces: runs of backticks, runs of tildes, and what is between.
struct Runs<'a>(&'a str);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let rest = match first {
            '`' | '~' => self.0.trim_start_matches(first),
            _ => self.0.trim_start_matches(|char| char != '`' && char != '~'),
        };
        let (run, rest) = self.0.split_at(self.0.len() - rest.len());
        self.0 = rest;
        Some(run)
    }
}

/// Shortens a text to so many bytes, at a character.
pub(crate) fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(text: &str, expected: &str) {
        assert_eq!(line(text), expected, "{text:?}");
    }

    #[test]
    fn a_line_stays_a_line() {
        check_line("Fix `parse()` for ~/x", "Fix `parse()` for ~/x");
        check_line("a\nb", "a b");
        check_line("a\r\n\r\nb\tc", "a b c");
        check_line("a\u{85}b\u{2028}c\u{2029}d\u{b}e\u{c}f", "a b c d e f");
        check_line("  a  ", "a");
        check_line("\n# x", "# x");
    }

    #[test]
    fn a_line_shows_all_there_is() {
        check_line("a\u{202e}b\u{200b}c\u{feff}d\u{e0041}e\u{0}f\u{1b}[0m\u{fe0f}", "abcdef[0m");
        check_line("Zoë 漢字 🙂", "Zoë 漢字 🙂");
    }

    #[test]
    fn a_line_opens_no_fence_and_no_comment() {
        check_line("```sh", "'''sh");
        check_line("a ~~~~ b ``c``", "a ---- b ``c``");
        check_line("`\u{200b}`\u{200b}`", "'''");
        check_line("a <!-- b --> c", "a < !-- b -- > c");
    }

    #[test]
    fn a_line_has_no_tags_and_no_links() {
        check_line("<img src=x> a", "< img src=x> a");
        check_line("a <a href=x>b</a>", "a < a href=x>b< /a>");
        check_line("<?x <!X <![CDATA[", "< ?x < !X < ![CDATA[");
        check_line("a<b<", "a< b< ");
        check_line("a < b <= c <3", "a < b <= c <3");
        check_line("![a](b) [c](d) [e] (f)", "![a]\\(b) [c]\\(d) [e] (f)");
    }

    #[test]
    fn a_line_is_not_too_long() {
        let long = line(&"ä".repeat(LINE_CHARS_MAX + 1)).into_owned();
        assert_eq!(long, format!("{} […]", "ä".repeat(LINE_CHARS_MAX)));
        assert_eq!(line(&"a".repeat(LINE_CHARS_MAX)).len(), LINE_CHARS_MAX);
    }

    #[test]
    fn a_text_keeps_its_lines_and_nothing_hidden() {
        assert_eq!(text("a\n\tb"), "a\n\tb");
        assert_eq!(text("a\r\nb\rc\u{2028}d"), "a\nb\nc\nd");
        assert_eq!(text("a\u{202e}b\u{e0041}c\u{0}"), "abc");
        assert_eq!(text("a\r\u{200b}\nb"), "a\n\nb");
    }

    #[test]
    fn a_text_has_no_absurd_runs() {
        assert_eq!(text(&"`".repeat(1000)).len(), BACKTICKS_MAX);
        assert_eq!(longest_backticks("a ``` b ````` ~~~~~~~"), 5);
        assert_eq!(longest_backticks("a"), 0);
    }
}
