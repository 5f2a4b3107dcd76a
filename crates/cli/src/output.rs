//! What the program says: data on standard output, talk on standard error.
//!
//! The one place that writes to either. Text from outside passes through [`clean`] on its way, so that it
//! cannot drive the terminal.

mod clean;
mod issue;
mod table;

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

pub(crate) use self::clean::{clean_line, clean_text};
pub(crate) use self::issue::{issue_line, issue_page, issue_table};
pub(crate) use self::table::{Align, Table};
use crate::error::{CliError, Kind};

/// In which form data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// Whether headings may be set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Color,
}

/// Standard output, in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    form: Form,
    style: Style,
}

impl Output {
    pub(crate) fn new(form: Form, color_allowed: bool) -> Self {
        let style = if color_allowed && io::stdout().is_terminal() { Style::Color } else { Style::Plain };
        Self { form, style }
    }

    /// Prints `value` as JSON, or what `text` makes for people.
    pub(crate) fn show(
        self,
        value: &impl Serialize,
        text: impl FnOnce(Style) -> String,
    ) -> Result<(), CliError> {
        match self.form {
            Form::Json => write_out(&json(value)),
            Form::Text => write_out(&text(self.style)),
        }
    }
}

/// Says something to whoever watches; a closed standard error is no reason to fail.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean_text(text));
}

fn json(value: &impl Serialize) -> String {
    let text =
        serde_json::to_string_pretty(value).expect("our wire types have string keys and finite numbers");
    clean::escape_json(&text).into_owned()
}

fn write_out(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    write!(stdout, "{text}{end}").and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::new(Kind::BrokenPipe, error.to_string()),
        _ => CliError::io("cannot write to standard output", &error),
    })
}
