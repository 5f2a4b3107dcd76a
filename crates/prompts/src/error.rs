//! What can be wrong with a template, and with a prompt.

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(*line, *column))]
pub struct TemplateError {
    /// What is wrong.
    pub message: String,
    /// The line it is wrong in, counted from one.
    pub line: Option<usize>,
    /// The column it is wrong at, counted from one.
    pub column: Option<usize>,
}

/// Why a prompt cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// A place in a template: line and column, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    /// Returns the place of a byte of the text.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let before = &text[..byte];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

impl TemplateError {
    /// Says what is wrong, without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None, column: None }
    }

    /// Says what is wrong at that place.
    pub(crate) fn at(message: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            message: message.into(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: "),
        (Some(line), None) => format!("line {line}: "),
        _ => String::new(),
    }
}
