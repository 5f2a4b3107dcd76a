//! How a text ends its lines.

/// Returns the first line break of a text, a plain one where there is none.
pub(crate) fn of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(index) if text[..index].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
