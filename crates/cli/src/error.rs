//! How a command fails: an exit code, a sentence, and a hint where one helps.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io;

use clap::error::ErrorKind;
use extraboard_api::client::ClientError;
use extraboard_api::error::{ErrorBody, FieldError};
use serde::Serialize;

use crate::config::ConfigProblem;
use crate::task_ref::TaskRef;

/// What kind of failure it was, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed,
    /// A bad command line, configuration or value.
    Usage,
    NotFound,
    /// Nothing answers where the desk should be; how to get one is added last, by whoever knows the flags.
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

    /// Returns the word for programs where the API has none.
    const fn code(self) -> &'static str {
        match self {
            Self::Failed | Self::BrokenPipe => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::NoDesk => "no_desk",
            Self::Conflict => "conflict",
        }
    }
}

/// A command that did not do what was asked.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    /// Empty where everything was said already.
    message: String,
    /// The API's word, where it was the API that refused.
    code: Option<String>,
    hint: Option<String>,
    /// Why there was nothing, in a word for programs.
    reason: Option<String>,
}

/// A failure as it is told: by Display to people, as JSON to programs.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    error: &'a str,
    code: &'a str,
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xb: {}", self.error)?;
        self.hint.map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// What a command calls the fields of the API: pairs of a field and a flag.
pub(crate) type FlagNames = [(&'static str, &'static str)];

/// The flags of the commands that act on one task.
const TASK_FLAGS: &FlagNames = &[("agentSummary", "--summary")];

impl CliError {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, hint: None, reason: None }
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

    /// Adds the word that tells programs why there was nothing.
    pub(crate) fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Gives a failure for want of a desk the hint how to get one, unless it has a better one.
    pub(crate) fn hint_at_desk(self, invocation: &str) -> Self {
        match (self.kind, &self.hint) {
            (Kind::NoDesk, None) => {
                self.hint(format!("start a desk with `{invocation} up`, or name one with --server"))
            }
            _ => self,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the sentence alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns what to tell; nothing for failures that were told or need no words.
    pub(crate) fn report(&self) -> Option<Report<'_>> {
        if self.message.is_empty() || self.kind == Kind::BrokenPipe {
            return None;
        }
        let code = self.code.as_deref().unwrap_or(self.kind.code());
        let (hint, reason) = (self.hint.as_deref(), self.reason.as_deref());
        Some(Report { error: &self.message, code, hint, reason })
    }

    /// Translates a refusal about one task.
    pub(crate) fn of_task(error: &ClientError, task: &TaskRef) -> Self {
        Self::of_named(error, &format!("task {task}"), TASK_FLAGS)
    }

    /// Translates a refusal about one named thing, such as `project apollo`.
    pub(crate) fn of_named(error: &ClientError, named: &str, flags: &FlagNames) -> Self {
        match error {
            ClientError::Api { status: 404, body } => {
                Self { code: Some(body.code.clone()), ..Self::new(Kind::NotFound, format!("no {named}")) }
            }
            other => Self::of_request(other, flags),
        }
    }

    /// Translates a refusal, with the flags that stand for the fields it names.
    pub(crate) fn of_request(error: &ClientError, flags: &FlagNames) -> Self {
        match error {
            ClientError::Unreachable { url, .. } if error.is_refused() => {
                let server = url.split("/api/").next().unwrap_or(url);
                Self::new(Kind::NoDesk, format!("no desk answers at {server}"))
            }
            ClientError::Api { status, body } => of_answer(*status, body, flags),
            ClientError::BadUrl { .. } | ClientError::BadHeader { .. } => {
                Self::new(Kind::Usage, error.to_string())
            }
            ClientError::Unexpected { .. } => {
                Self::new(Kind::Failed, error.to_string()).hint("is that the address of a desk?")
            }
            ClientError::Unreachable { .. } | ClientError::Setup(_) => {
                Self::new(Kind::Failed, with_causes(error))
            }
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
        Self::of_request(&error, &[])
    }
}

impl From<clap::Error> for CliError {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let message = match error.kind() {
            // Its text is the whole help.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "expected a command",
            _ => text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim_end(),
        };
        Self::new(Kind::Usage, message).hint("for more information, try --help")
    }
}

fn of_answer(status: u16, body: &ErrorBody, flags: &FlagNames) -> CliError {
    let kind = match (status, body.code.as_str()) {
        (409, _) | (_, "not_holder" | "idempotency_mismatch" | "cycle") => Kind::Conflict,
        (404, _) => Kind::NotFound,
        (400 | 422, _) => Kind::Usage,
        _ => Kind::Failed,
    };
    let error = CliError { code: Some(body.code.clone()), ..CliError::new(kind, sentence(body, flags)) };
    match (status, body.legal().as_slice()) {
        (_, legal @ [_, ..]) => CliError { message: without_legal(&error.message), ..error }
            .hint(format!("legal now: {}", legal.join(", "))),
        (401, _) => error.hint("set EXTRABOARD_TOKEN to a token of that desk"),
        _ => error,
    }
}

/// Returns what the API said, with our names for its fields, and nothing twice: its sentence repeats them.
fn sentence(body: &ErrorBody, flags: &FlagNames) -> String {
    let fields = body.fields();
    let line = |field: &FieldError| format!("{}: {}", flag_name(&field.field, flags), field.message);
    let mut unsaid = fields.iter().filter(|field| !body.error.contains(&field.message)).peekable();
    if !fields.is_empty() && unsaid.peek().is_none() {
        return fields.iter().map(line).collect::<Vec<_>>().join("; ");
    }
    unsaid.fold(body.error.clone(), |mut text, field| {
        let _ = write!(text, "\n  {}", line(field));
        text
    })
}

/// Returns a sentence without the verbs at its end, which the hint names.
fn without_legal(sentence: &str) -> String {
    let end = sentence.find("legal verbs are ").unwrap_or(sentence.len());
    sentence[..end].trim_end_matches([' ', ':', ';']).to_owned()
}

fn flag_name<'a>(field: &'a str, flags: &FlagNames) -> &'a str {
    flags.iter().find(|(name, _)| *name == field).map_or(field, |(_, flag)| flag)
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
    use clap::Parser as _;
    use serde_json::json;

    use super::*;

    fn answer(status: u16, code: &str, details: serde_json::Value) -> ClientError {
        let body =
            ErrorBody { error: "no".to_owned(), code: code.to_owned(), details: Some(details), order: None };
        ClientError::Api { status, body }
    }

    fn check(error: &ClientError, exit_code: u8, report: &str) {
        let error = CliError::of_task(error, &TaskRef::Number(42));
        assert_eq!(error.kind().exit_code(), exit_code, "{report}");
        assert_eq!(error.report().unwrap().to_string(), report);
    }

    #[test]
    fn refusals_become_sentences_and_exit_codes() {
        check(&answer(404, "not_found", json!(null)), 3, "xb: no task #42");
        check(
            &answer(409, "illegal_transition", json!({"legal": ["cancel", "park"]})),
            4,
            "xb: no\nhint: legal now: cancel, park",
        );
        check(&answer(409, "stale_dispatch", json!(null)), 4, "xb: no");
        check(&answer(403, "not_holder", json!(null)), 4, "xb: no");
        check(&answer(422, "idempotency_mismatch", json!(null)), 4, "xb: no");
        check(&answer(422, "cycle", json!({"cycle": [1, 2, 1]})), 4, "xb: no");
        check(
            &answer(422, "validation", json!([{"field": "title", "message": "1 to 500 characters"}])),
            2,
            "xb: no\n  title: 1 to 500 characters",
        );
        check(
            &answer(401, "unauthorized", json!(null)),
            1,
            "xb: no\nhint: set EXTRABOARD_TOKEN to a token of that desk",
        );
        check(&answer(503, "unavailable", json!(null)), 1, "xb: no");
    }

    #[test]
    fn a_broken_pipe_and_what_was_told_need_no_words() {
        assert!(CliError::new(Kind::BrokenPipe, "x").report().is_none());
        assert_eq!(CliError::new(Kind::BrokenPipe, "x").kind().exit_code(), 0);
        assert!(CliError::told(Kind::Conflict).report().is_none());
    }

    #[test]
    fn want_of_a_desk_is_hinted_at_unless_there_is_a_better_hint() {
        let check = |error: CliError, expected: Option<&str>| {
            assert_eq!(error.hint_at_desk("xb --data-dir d").hint.as_deref(), expected);
        };
        let generic = "start a desk with `xb --data-dir d up`, or name one with --server";
        check(CliError::new(Kind::NoDesk, "no"), Some(generic));
        check(CliError::new(Kind::NoDesk, "no").hint("better"), Some("better"));
        check(CliError::new(Kind::Failed, "no"), None);
    }

    fn check_sentence(error: &str, details: serde_json::Value, expected: &str) {
        let flags = [("type", "--kind"), ("maxRetries", "--max-retries")];
        let body = ErrorBody { error: error.to_owned(), details: Some(details), ..ErrorBody::default() };
        assert_eq!(sentence(&body, &flags), expected);
    }

    #[test]
    fn nothing_is_said_twice_and_fields_are_called_by_their_flags() {
        let kind = json!({"field": "type", "message": "expected a kind"});
        let retries = json!({"field": "maxRetries", "message": "expected 0 to 100"});
        let title = json!({"field": "title", "message": "expected 1 to 500"});
        check_sentence("no", json!(null), "no");
        check_sentence("title: expected 1 to 500", json!([title]), "title: expected 1 to 500");
        check_sentence("expected a kind", json!([kind]), "--kind: expected a kind");
        check_sentence(
            "type: expected a kind; maxRetries: expected 0 to 100",
            json!([kind, retries]),
            "--kind: expected a kind; --max-retries: expected 0 to 100",
        );
        check_sentence(
            "title: expected 1 to 500",
            json!([title, kind]),
            "title: expected 1 to 500\n  --kind: expected a kind",
        );
    }

    #[test]
    fn legal_verbs_are_left_to_the_hint() {
        assert_eq!(
            without_legal("retry is not possible: legal verbs are park, cancel"),
            "retry is not possible"
        );
        assert_eq!(without_legal("it is for a person; legal verbs are park"), "it is for a person");
        assert_eq!(without_legal("it cannot be started now: #3 waits"), "it cannot be started now: #3 waits");
    }

    #[test]
    fn programs_are_told_a_code_and_a_hint() {
        let check = |error: CliError, expected: &str| {
            assert_eq!(serde_json::to_string(&error.report().unwrap()).unwrap(), expected);
        };
        check(CliError::new(Kind::Failed, "no"), r#"{"error":"no","code":"failed","hint":null}"#);
        check(
            CliError::new(Kind::NotFound, "no").reason("limit"),
            r#"{"error":"no","code":"not_found","hint":null,"reason":"limit"}"#,
        );
        check(
            CliError::new(Kind::NoDesk, "no").hint("try"),
            r#"{"error":"no","code":"no_desk","hint":"try"}"#,
        );
        check(
            answer(422, "validation", json!(null)).into(),
            r#"{"error":"no","code":"validation","hint":null}"#,
        );
        check(
            CliError::of_task(&answer(404, "not_found", json!(null)), &TaskRef::Number(42)),
            r#"{"error":"no task #42","code":"not_found","hint":null}"#,
        );
    }

    #[test]
    fn usage_errors_are_one_sentence() {
        let check = |words: &[&str], expected: &str| {
            let error = CliError::from(crate::cli::Cli::try_parse_from(words).unwrap_err());
            assert_eq!((error.kind(), error.message()), (Kind::Usage, expected));
        };
        check(&["xb", "fly"], "unrecognized subcommand 'fly'");
        check(&["xb", "add"], "the following required arguments were not provided:\n  <TITLE>");
        check(&["xb"], "expected a command");
    }
}
