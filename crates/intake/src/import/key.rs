//! Keys: what an item is recognised by when the same file is read again.

use crate::text::{one_line, sha256_hex};

/// The longest key, in characters.
const KEY_CHARS_MAX: usize = 300;
/// How many digits of a digest tell keys apart.
const DIGEST_CHARS: usize = 16;

/// Makes text a key: one line, and where it is too long its end replaced by a digest of all of it.
pub(super) fn fit(text: &str) -> String {
    let line = one_line(text);
    if line.chars().nth(KEY_CHARS_MAX).is_none() {
        return line;
    }
    let kept: String = line.chars().take(KEY_CHARS_MAX - DIGEST_CHARS - 1).collect();
    format!("{kept}~{}", digest(&line))
}

/// Returns the beginning of text's SHA-256.
pub(super) fn digest(text: &str) -> String {
    let mut hex = sha256_hex(text.as_bytes());
    hex.truncate(DIGEST_CHARS);
    hex
}

/// Puts a format, an optional namespace and a name together.
pub(super) fn of(format: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => fit(&format!("{format}:{namespace}:{name}")),
        None => fit(&format!("{format}:{name}")),
    }
}

/// Makes a word of letters and digits out of text; one without any is named by its digest.
pub(super) fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { digest(text) } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_stay_different() {
        let long = "x".repeat(400);
        let (a, b) = (of("beads", None, &format!("{long}a")), of("beads", None, &format!("{long}b")));
        assert_eq!((a.chars().count(), b.chars().count()), (300, 300));
        assert_ne!(a, b);
        assert_eq!(of("beads", None, &"x".repeat(294)), format!("beads:{}", "x".repeat(294)));
        assert_eq!(of("beads", Some("shop"), "bd-1\n"), "beads:shop:bd-1");
    }

    #[test]
    fn slugs_are_words_of_letters_and_digits() {
        assert_eq!(slug("Fix: the *login* (2nd)"), "fix-the-login-2nd");
        assert_eq!(slug("Größe ändern"), "größe-ändern");
        assert_eq!(slug("日本語"), "日本語");
        assert_ne!(slug("!!!"), slug("???"));
    }
}
