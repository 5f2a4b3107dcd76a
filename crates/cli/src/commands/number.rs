//! Whole numbers, with a sentence for what is none.

use crate::commands::or_none::OrNone;

/// Reads a whole number.
pub(crate) fn whole(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

/// Reads the points of a priority.
pub(crate) fn points(text: &str) -> Result<i64, &'static str> {
    let points = text.parse().ok().filter(|points| (1..=100).contains(points));
    points.ok_or("expected a whole number from 1 to 100")
}

/// Reads a whole number, or none.
pub(crate) fn whole_or_none(text: &str) -> Result<OrNone<i64>, &'static str> {
    text.parse().map_err(|_| "expected a whole number or none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_told_what_was_expected() {
        assert_eq!(whole("-3"), Ok(-3));
        assert_eq!(whole("abc"), Err("expected a whole number"));
        assert_eq!(points("100"), Ok(100));
        for text in ["0", "101", "many"] {
            assert_eq!(points(text), Err("expected a whole number from 1 to 100"), "{text}");
        }
        assert_eq!(whole_or_none("none"), Ok(OrNone(None)));
        assert_eq!(whole_or_none("few"), Err("expected a whole number or none"));
    }
}
