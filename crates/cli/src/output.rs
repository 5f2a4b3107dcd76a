//! What the program says: data on standard output, talk on standard error.
//!
//! The one place that writes to either. Text from outside passes through [`clean`] on its way, so that it
//! cannot drive the terminal.

mod clean;
mod issue;
mod rate;
mod rules;
mod table;
mod why;

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

pub(crate) use self::clean::{clean_line, clean_text};
pub(crate) use self::issue::{issue_line, issue_page, issue_table};
pub(crate) use self::rate::{score, share};
pub(crate) use self::rules::{limits_table, rules_page};
pub(crate) use self::table::{Align, Table};
pub(crate) use self::why::{position_text, why_page};
use crate::error::{CliError, Kind};

const CANNOT_WRITE: &str = "cannot write to standard output";

/// In which form data and failures are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// Whether headings and log levels may be set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Color,
}

impl Style {
    pub(crate) fn of_stdout(color_allowed: bool) -> Self {
        Self::of(color_allowed && io::stdout().is_terminal())
    }

    pub(crate) fn of_stderr(color_allowed: bool) -> Self {
        Self::of(color_allowed && io::stderr().is_terminal())
    }

    const fn of(color: bool) -> Self {
        if color { Self::Color } else { Self::Plain }
    }
}

/// Standard output, in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    form: Form,
    style: Style,
}

impl Output {
    pub(crate) const fn new(form: Form, style: Style) -> Self {
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

    /// Prints one of many values: as JSON it is one line.
    pub(crate) fn show_line(
        self,
        value: &impl Serialize,
        text: impl FnOnce(Style) -> String,
    ) -> Result<(), CliError> {
        match self.form {
            Form::Json => write_out(&json_line(value)),
            Form::Text => write_out(&text(self.style)),
        }
    }

    /// Tells whether standard output may carry what is no data.
    pub(crate) fn stdout_is_free(self) -> bool {
        self.form == Form::Text
    }

    /// Tells a failure on standard error: a sentence, or one line of JSON.
    pub(crate) fn tell(self, error: &CliError) {
        let Some(report) = error.report() else { return };
        match self.form {
            Form::Json => tell_line(&report),
            Form::Text => talk(&report.to_string()),
        }
    }
}

/// Prints lines of JSON that were made elsewhere.
pub(crate) fn print_json_lines(text: &str) -> Result<(), CliError> {
    write_out(&clean::escape_json(text))
}

/// Prints text that is the same for people and programs.
pub(crate) fn print_text(text: &str) -> Result<(), CliError> {
    write_out(&clean_text(text))
}

/// Says something to whoever watches; a closed standard error is no reason to fail.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean_text(text));
}

/// Passes on what a command prints. It has the user's terminal as if the user had run it.
pub(crate) fn pass_on(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    // A closed output is no reason for the command to end.
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

/// Passes on what a command prints beside its output.
pub(crate) fn pass_on_error(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

fn tell_line(value: &impl Serialize) {
    // As with `talk`: a closed standard error is no reason to fail.
    let _ = writeln!(io::stderr().lock(), "{}", json_line(value));
}

fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("our wire types have string keys and finite numbers");
    clean::escape_json(&text).into_owned()
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
        io::ErrorKind::BrokenPipe => CliError::new(Kind::BrokenPipe, format!("{CANNOT_WRITE}: {error}")),
        _ => CliError::io(CANNOT_WRITE, &error),
    })
}
