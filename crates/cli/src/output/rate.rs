//! Shares and marks, short enough for a table.

/// Returns a share in percent; nothing was measured where there is none.
pub(crate) fn share(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.0}%", rate * 100.0))
}

/// Returns a mark from 1 to 5.
pub(crate) fn score(mark: Option<f64>) -> String {
    mark.map_or_else(|| "-".to_owned(), |mark| format!("{mark:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_marks_are_short() {
        assert_eq!(
            (share(Some(0.756)), share(Some(0.0)), share(None)),
            ("76%".into(), "0%".into(), "-".into())
        );
        assert_eq!((score(Some(2.667)), score(None)), ("2.7".into(), "-".into()));
    }
}
