//! The title of a signal that came without a provider.

use serde_json::Value;

use super::field::text;
use crate::text::{TITLE_CHARS_MAX, one_line, short_line};

/// Returns `[source] type: …` with the payload's `message`, else its `title`, else the type again.
///
/// Only texts with something to see in them count. The title is one line of at most 500 characters.
pub fn title(source: &str, signal_type: &str, payload: &Value) -> String {
    let said = ["message", "title"].iter().filter_map(|name| text(payload, &[name]));
    let said = said.map(one_line).find(|line| !line.is_empty());
    let said = said.unwrap_or_else(|| signal_type.to_owned());
    short_line(&format!("[{source}] {signal_type}: {said}"), TITLE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_take_the_message_then_the_title_then_the_type() {
        let check = |payload: Value, expected: &str| assert_eq!(title("ci", "build", &payload), expected);
        check(json!({"message": "red", "title": "no"}), "[ci] build: red");
        check(json!({"message": "  ", "title": " broken "}), "[ci] build: broken");
        check(json!({"message": "\u{0}\n", "title": "t"}), "[ci] build: t");
        check(json!({"message": 5, "title": ["a"]}), "[ci] build: build");
        check(json!({}), "[ci] build: build");
        check(json!("message"), "[ci] build: build");
        check(json!([1]), "[ci] build: build");
        check(json!(null), "[ci] build: build");
    }

    #[test]
    fn titles_are_one_line_of_at_most_500_characters() {
        let long = title("a\nb", "c", &json!({"message": format!("x\r\ny {}", "ü".repeat(600))}));
        assert!(long.starts_with("[a b] c: x y üü"), "{long}");
        assert!(long.ends_with('…'));
        assert_eq!(long.chars().count(), 500);
    }
}
