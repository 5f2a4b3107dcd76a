//! The command line against a desk that runs: what it prints, what it says, how it exits.

mod dashboard;
mod desks;
mod doctor;
mod errors;
mod export;
mod graph;
mod import;
mod labels;
mod line;
mod logs;
mod project_file;
mod projects;
mod pull;
mod reviews;
mod rules;
mod settings;
mod signals;
mod tasks;
mod template_files;
mod templates;
mod tokens;

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::harness::{Desk, xb};

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Outcome {
    /// Checks the exit code; returns what was printed.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        &self.out
    }

    /// Checks a failure: its exit code, a sentence that says something, and nothing on standard output.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, says: &str) {
        assert_eq!(self.exits(code), "", "{self:?}");
        assert!(self.err.contains(says), "{:?} does not say {says:?}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Runs a command of the desk's folder.
pub(crate) fn run(desk: &Desk, words: &[&str]) -> Outcome {
    desk.run(words).into()
}

/// Runs a command of the desk's folder in some directory.
pub(crate) fn run_in(desk: &Desk, directory: &Path, words: &[&str]) -> Outcome {
    xb(desk.data_dir()).args(words).current_dir(directory).output().unwrap().into()
}

/// Runs a command of the desk's folder and lets it read a text from standard input.
pub(crate) fn run_reading(desk: &Desk, words: &[&str], text: &str) -> Outcome {
    let mut command = xb(desk.data_dir());
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that has read enough may be gone before all is written.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// Runs a command that must succeed and print JSON.
#[track_caller]
pub(crate) fn json(desk: &Desk, words: &[&str]) -> Value {
    let outcome = run(desk, &[words, &["--json"]].concat());
    serde_json::from_str(outcome.exits(0)).unwrap_or_else(|error| panic!("{words:?}: {error}: {outcome:?}"))
}
