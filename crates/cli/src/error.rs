//! How a command fails: an exit code, a sentence, and a hint where one helps.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

use extraboard_api::client::ClientError;
use extraboard_api::error::ErrorBody;

use crate::config::ConfigProblem;
use crate::task_ref::TaskRef;

/// What kind of failure it was, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed,
    /// A bad command line, configuration or value.
    Usage,
    NotFound,
    /// Nothing answers where the desk should be.
    NoDesk,
    Conflict,
    /// Whoever read our output has enough; that is no failure.
    BrokenPipe,
}

impl Kind {
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound | Self::NoDesk => 3,
            Self::Conflict => 4,
        }
    }
}

/// A command that did not do what was asked.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    /// Empty where everything was said already.
    message: String,
    hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Returns a failure whose parts were reported one by one.
    pub(crate) fn told(kind: Kind) -> Self {
        Self::new(kind, "")
    }

    /// Returns a failure of the system below us, named with what was tried.
    pub(crate) fn io(what: &str, source: &io::Error) -> Self {
        Self::new(Kind::Failed, format!("{what}: {source}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns what to print, without a newline at the end; nothing for failures that were told or need no
    /// words.
    pub(crate) fn report(&self) -> Option<String> {
        if self.message.is_empty() || self.kind == Kind::BrokenPipe {
            return None;
        }
        let mut text = format!("xb: {}", self.message);
        if let Some(hint) = &self.hint {
            let _ = write!(text, "\nhint: {hint}");
        }
        Some(text)
    }

    /// Translates a refusal about one task.
    pub(crate) fn of_task(error: ClientError, task: &TaskRef) -> Self {
        match error {
            ClientError::Api { status: 404, .. } => Self::new(Kind::NotFound, format!("no task {task}")),
            other => Self::from(other),
        }
    }
}

impl From<ConfigProblem> for CliError {
    fn from(problem: ConfigProblem) -> Self {
        Self::new(Kind::Usage, with_causes(&problem))
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Unreachable { url, .. } if error.is_refused() => {
                let server = url.split("/api/").next().unwrap_or(url);
                Self::new(Kind::NoDesk, format!("no desk answers at {server}"))
                    .hint("start a desk with `xb up`, or name one with --server")
            }
            ClientError::Api { status, body } => of_answer(*status, body),
            ClientError::BadUrl { .. } | ClientError::BadHeader { .. } => {
                Self::new(Kind::Usage, error.to_string())
            }
            ClientError::Unexpected { .. } => {
                Self::new(Kind::Failed, error.to_string()).hint("is that the address of a desk?")
            }
            ClientError::Unreachable { .. } | ClientError::Setup(_) => {
                Self::new(Kind::Failed, with_causes(&error))
            }
        }
    }
}

fn of_answer(status: u16, body: &ErrorBody) -> CliError {
    let kind = match (status, body.code.as_str()) {
        (409, _) | (_, "not_holder" | "idempotency_mismatch") => Kind::Conflict,
        (404, _) => Kind::NotFound,
        (400 | 422, _) => Kind::Usage,
        _ => Kind::Failed,
    };
    let mut message = body.error.clone();
    for field in body.fields() {
        let _ = write!(message, "\n  {}: {}", field.field, field.message);
    }
    let error = CliError::new(kind, message);
    match (status, body.legal().as_slice()) {
        (_, legal @ [_, ..]) => error.hint(format!("legal now: {}", legal.join(", "))),
        (401, _) => error.hint("set EXTRABOARD_TOKEN to a token of that desk"),
        _ => error,
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(status: u16, code: &str, details: serde_json::Value) -> ClientError {
        let body =
            ErrorBody { error: "no".to_owned(), code: code.to_owned(), details: Some(details), order: None };
        ClientError::Api { status, body }
    }

    fn check(error: ClientError, exit_code: u8, report: &str) {
        let error = CliError::of_task(error, &TaskRef::Number(42));
        assert_eq!(error.kind().exit_code(), exit_code, "{report}");
        assert_eq!(error.report().unwrap(), report);
    }

    #[test]
    fn refusals_become_sentences_and_exit_codes() {
        check(answer(404, "not_found", json!(null)), 3, "xb: no task #42");
        check(
            answer(409, "illegal_transition", json!({"legal": ["cancel", "park"]})),
            4,
            "xb: no\nhint: legal now: cancel, park",
        );
        check(answer(409, "stale_dispatch", json!(null)), 4, "xb: no");
        check(answer(403, "not_holder", json!(null)), 4, "xb: no");
        check(answer(422, "idempotency_mismatch", json!(null)), 4, "xb: no");
        check(
            answer(422, "validation", json!([{"field": "title", "message": "1 to 500 characters"}])),
            2,
            "xb: no\n  title: 1 to 500 characters",
        );
        check(
            answer(401, "unauthorized", json!(null)),
            1,
            "xb: no\nhint: set EXTRABOARD_TOKEN to a token of that desk",
        );
        check(answer(503, "unavailable", json!(null)), 1, "xb: no");
    }

    #[test]
    fn a_broken_pipe_and_what_was_told_need_no_words() {
        assert_eq!(CliError::new(Kind::BrokenPipe, "x").report(), None);
        assert_eq!(CliError::new(Kind::BrokenPipe, "x").kind().exit_code(), 0);
        assert_eq!(CliError::told(Kind::Conflict).report(), None);
    }
}
