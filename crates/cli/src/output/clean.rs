//! Text from outside, made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

const REPLACEMENT: char = '\u{fffd}';

/// Replaces everything that could move the cursor or turn the writing around; line breaks become spaces.
pub(crate) fn clean_line(text: &str) -> String {
    let harmless = |c| match c {
        '\n' | '\r' | '\t' => ' ',
        other if is_harmful(other) => REPLACEMENT,
        other => other,
    };
    text.chars().map(harmless).collect()
}

/// The same for text of several lines, which keeps its line breaks and tabs.
pub(crate) fn clean_text(text: &str) -> String {
    let harmless = |c| if is_harmful(c) && !matches!(c, '\n' | '\t') { REPLACEMENT } else { c };
    text.replace("\r\n", "\n").chars().map(harmless).collect()
}

/// Escapes what JSON lets through unescaped although terminals obey it; such characters occur in strings
/// only.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || !is_harmful(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().fold(String::new(), |mut escaped, c| {
        if stays(c) {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        }
        escaped
    });
    Cow::Owned(escaped)
}

/// Control characters, and the marks that reverse the direction of writing.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_survive() {
        assert_eq!(clean_line("a\u{1b}[2Jb\u{9b}c\u{7f}\nd"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd} d");
        assert_eq!(clean_text("a\u{1b}]0;x\u{7}\r\n\tb\rc"), "a\u{fffd}]0;x\u{fffd}\n\tb\u{fffd}c");
        assert_eq!(clean_line("abc\u{202e}fed"), "abc\u{fffd}fed");
    }

    #[test]
    fn ordinary_text_stays() {
        assert_eq!(clean_line("Grüße, 世界 🚂"), "Grüße, 世界 🚂");
    }

    #[test]
    fn json_stays_json() {
        let text = serde_json::to_string_pretty(&["\u{9b}2J", "\u{1b}"]).unwrap();
        let escaped = escape_json(&text);
        assert!(!escaped.contains('\u{9b}'));
        let back: Vec<String> = serde_json::from_str(&escaped).unwrap();
        assert_eq!(back, ["\u{9b}2J", "\u{1b}"]);
    }
}
