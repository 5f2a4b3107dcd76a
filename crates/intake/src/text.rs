//! Foreign text made fit to be shown and stored: one line, without control characters, not too long.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

/// The longest title, in characters.
pub(crate) const TITLE_CHARS_MAX: usize = 500;

/// Puts text on one line: whatever is no visible character becomes a single space.
pub(crate) fn one_line(text: &str) -> String {
    let is_gap = |char: char| char.is_whitespace() || char.is_control() || turns_text_around(char);
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Tells whether a character changes the direction of what follows, by which a title could show as another.
fn turns_text_around(char: char) -> bool {
    matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Shortens text to so many characters; the last one is then an ellipsis.
pub(crate) fn cut(text: &str, chars_max: usize) -> Cow<'_, str> {
    if text.chars().nth(chars_max).is_none() {
        return Cow::Borrowed(text);
    }
    let mut short: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    short.push('…');
    Cow::Owned(short)
}

/// Puts text on one line of at most so many characters.
pub(crate) fn short_line(text: &str, chars_max: usize) -> String {
    cut(&one_line(text), chars_max).into_owned()
}

/// Returns the SHA-256 of bytes, in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns bytes in hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).expect("four bits are a digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_put_on_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(one_line(text), expected);
        check("  a\r\n\tb  ", "a b");
        check("a\0b\u{1b}[31mc", "a b [31mc");
        check("a\u{2028}b\u{85}c", "a b c");
        check("pay\u{202E}gpj.exe", "pay gpj.exe");
        check("日本 語 👩‍💻", "日本 語 👩‍💻");
        check("\n\0 ", "");
    }

    #[test]
    fn text_is_cut_by_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(cut("", 0), "");
        assert_eq!(short_line("a\nb c d", 5), "a b …");
    }

    #[test]
    fn digests_are_those_everybody_computes() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex(b"abc"), expected);
    }
}
