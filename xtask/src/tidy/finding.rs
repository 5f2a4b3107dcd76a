//! One thing to tidy, at one place.

use std::fmt;

/// Something that does not follow the repository's habits; sorts by place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// Makes a finding; lines count from 1.
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        Self { path, line, message }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Asserts that findings print as expected, one a line.
#[cfg(test)]
#[track_caller]
pub(super) fn expect(findings: &[Finding], expected: &[&str]) {
    let printed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(printed, expected);
}
