//! Why a text cannot be changed, and where in it.

use std::fmt;

/// A place in a text; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// Returns the place of a byte; one inside a character counts as that character's.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |index| index + 1);
        // A byte order mark is not something an editor shows.
        let visible = before[line_start..].chars().filter(|&char| char != '\u{feff}');
        Self { line: before.matches('\n').count() + 1, column: visible.count() + 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not valid JSON, JSON with comments or TOML.
    #[error("{place}: {problem}")]
    Syntax {
        /// Where reading stopped.
        place: Place,
        /// What is wrong there.
        problem: String,
    },
    /// Something on the way to our entry is not what the client expects there.
    #[error("{place}: {name} is not {expected}")]
    Shape {
        /// Where it stands.
        place: Place,
        /// What it is called.
        name: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A key on the way to our entry is given twice: clients differ in which of them counts.
    #[error("{second}: `{key}` is given a second time (first: {first})")]
    Duplicate {
        /// The key.
        key: String,
        /// Where it is given first.
        first: Place,
        /// Where it is given again.
        second: Place,
    },
    /// There is an entry of our name that we did not write.
    #[error("{place}: there is an entry named `extraboard` that xb did not write:\n{text}")]
    Foreign {
        /// Where it stands.
        place: Place,
        /// The entry as it is written there.
        text: String,
    },
    /// The text is written in a way that we cannot change without touching more than our entry.
    #[error("{place}: {name} is written in a way that xb cannot change; please edit it by hand")]
    Unwieldy {
        /// Where it stands.
        place: Place,
        /// What it is called.
        name: String,
    },
}
