//! Checking values against their ranges, all fields at once.

use std::time::Duration;

use extraboard_api::error::FieldError;
use extraboard_api::work::{Commit, PullRequest};
use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::id::{BadTaskRef, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::label::{LABEL_CHARS_MAX, LABELS_MAX};
use extraboard_core::priority::{Level, Priority};
use extraboard_core::project::NAME_CHARS_MAX;
use extraboard_core::status::Status;
use extraboard_core::task::{
    ARTIFACT_CHARS_MAX, BOOST_MAX, DESCRIPTION_CHARS_MAX, EXTERNAL_KEY_CHARS_MAX, MAX_RETRIES_MAX,
    OWNER_CHARS_MAX, TITLE_CHARS_MAX,
};
use extraboard_store::verbs::{LabelRef, ProjectRef};
use serde::Serialize;
use serde_json::Value;

use crate::error::ApiError;

/// The largest account of progress.
pub(crate) const PROGRESS_BYTES_MAX: usize = 16 * 1024;
/// The largest result, and hypothesis.
pub(crate) const RESULT_BYTES_MAX: usize = 64 * 1024;
/// The largest signal.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 256 * 1024;
/// The longest source of a signal.
pub(crate) const SOURCE_CHARS_MAX: usize = 200;
/// The longest summary, error or other text of a report.
pub(crate) const REPORT_CHARS_MAX: usize = 20_000;
/// The longest name of a commit.
const SHA_CHARS_MAX: usize = 100;
/// The most commits or pull requests.
const LIST_MAX: usize = 200;
/// The longest name of a provider, of an account with it, or of an adapter.
pub(crate) const PROVIDER_CHARS_MAX: usize = 200;

/// What is wrong with a request, field by field.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<FieldError>);

impl Problems {
    /// Adds what is wrong with a field.
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    /// Fails if anything is wrong.
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::Invalid(self.0)) }
    }

    /// Checks a title: something to read, not too long.
    pub(crate) fn title(&mut self, title: &str) {
        if title.trim().is_empty() {
            self.add("title", format!("expected 1 to {TITLE_CHARS_MAX} characters, got none"));
        }
        self.text("title", title, TITLE_CHARS_MAX);
    }

    /// Checks a description.
    pub(crate) fn description(&mut self, text: &str) {
        self.text("description", text, DESCRIPTION_CHARS_MAX);
    }

    /// Checks text against the most characters it may have.
    pub(crate) fn text(&mut self, field: &str, text: &str, chars_max: usize) {
        let chars = text.chars().count();
        if chars > chars_max {
            self.add(field, format!("expected at most {chars_max} characters, got {chars}"));
        }
        if text.contains('\0') {
            self.add(field, "expected text without NUL characters");
        }
    }

    /// Reads a word of a closed set.
    pub(crate) fn word<W>(&mut self, field: &str, word: &str) -> Option<W>
    where
        W: std::str::FromStr,
        W::Err: std::fmt::Display,
    {
        word.parse().map_err(|error: W::Err| self.add(field, format!("{error}, got {word:?}"))).ok()
    }

    /// Reads a comma list of words.
    pub(crate) fn words<W>(&mut self, field: &str, list: &str) -> Vec<W>
    where
        W: std::str::FromStr,
        W::Err: std::fmt::Display,
    {
        list.split(',').map(str::trim).filter_map(|word| self.word(field, word)).collect()
    }

    /// Reads a kind.
    pub(crate) fn kind(&mut self, word: &str) -> Option<Kind> {
        self.word("type", word)
    }

    /// Reads a status.
    pub(crate) fn status(&mut self, word: &str) -> Option<Status> {
        self.word("status", word)
    }

    /// Reads a level, 0 to 4.
    pub(crate) fn level(&mut self, number: i64) -> Option<Level> {
        let level = Level::from_tracker(number);
        if level.is_none() {
            let levels = "0 (none), 1 (urgent), 2 (high), 3 (medium) or 4 (low)";
            self.add("priority", format!("expected {levels}, got {number}"));
        }
        level
    }

    /// Reads points, 1 to 100.
    pub(crate) fn points(&mut self, points: i64) -> Option<Priority> {
        let priority = Priority::new(points);
        if priority.is_none() {
            self.add("priorityValue", format!("expected 1 to 100, got {points}"));
        }
        priority
    }

    /// Refuses level and points together.
    pub(crate) fn one_priority(&mut self, level: Option<i64>, points: Option<i64>) {
        if level.is_some() && points.is_some() {
            self.add("priority", "expected either priority or priorityValue, got both");
        }
    }

    /// Reads a set of doors.
    pub(crate) fn doors(&mut self, words: &[String]) -> Option<Doors> {
        let doors: Vec<Door> = words.iter().filter_map(|word| self.word("doors", word)).collect();
        let set = Doors::new(doors);
        if words.is_empty() {
            self.add("doors", "expected at least one of pull, push, run");
        }
        set
    }

    /// Checks a number against its range.
    pub(crate) fn range(&mut self, field: &str, number: i64, range: std::ops::RangeInclusive<i64>) {
        if !range.contains(&number) {
            self.add(field, format!("expected {} to {}, got {number}", range.start(), range.end()));
        }
    }

    /// Checks a number of retries.
    pub(crate) fn max_retries(&mut self, number: i64) {
        self.range("maxRetries", number, 0..=MAX_RETRIES_MAX);
    }

    /// Reads a moment.
    pub(crate) fn moment(&mut self, field: &str, text: &str) -> Option<Timestamp> {
        let moment = text.parse::<jiff::Timestamp>().ok();
        if moment.is_none() {
            self.add(field, format!("expected an RFC 3339 time such as 2026-01-31T09:00:00Z, got {text:?}"));
        }
        moment.map(|moment| Timestamp::from_micros(moment.as_microsecond()))
    }

    /// Reads JSON of any shape, up to a size.
    /// Reads how long to wait, such as `30s`, `500ms` or `1m`; a number alone is seconds.
    pub(crate) fn wait(&mut self, field: &str, text: &str, most: Duration) -> Duration {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => Some(1),
            "" | "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        let millis = digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
        match millis.map(Duration::from_millis) {
            Some(wait) if wait <= most => wait,
            _ => {
                let most = most.as_secs();
                self.add(
                    field,
                    format!("expected a time such as 30s or 500ms, at most {most}s, got `{text}`"),
                );
                Duration::ZERO
            }
        }
    }

    /// Checks commits.
    pub(crate) fn commits(&mut self, list: &[Commit]) -> String {
        for commit in list {
            self.name("commits", &commit.sha, SHA_CHARS_MAX);
            self.web_address("commits", commit.url.as_deref());
        }
        self.list("commits", list)
    }

    /// Checks pull requests.
    pub(crate) fn pull_requests(&mut self, list: &[PullRequest]) -> String {
        for request in list {
            self.range("pullRequests", request.number, 1..=i64::MAX);
            self.web_address("pullRequests", request.url.as_deref());
        }
        self.list("pullRequests", list)
    }

    /// Checks an address that people will follow: of the web, not of a script.
    fn web_address(&mut self, field: &str, url: Option<&str>) {
        let is_web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        if let Some(url) = url.filter(|url| !is_web(url)) {
            self.add(field, format!("expected a url that begins with https:// or http://, got {url:?}"));
        }
    }

    /// Checks a list of commits or pull requests, and writes it as it is kept.
    fn list<T: Serialize>(&mut self, field: &str, list: &[T]) -> String {
        if list.len() > LIST_MAX {
            self.add(field, format!("expected at most {LIST_MAX} of them, got {}", list.len()));
        }
        let text = serde_json::to_string(list).unwrap_or_default();
        if text.len() > RESULT_BYTES_MAX {
            self.add(field, format!("expected at most {RESULT_BYTES_MAX} bytes, got {}", text.len()));
        }
        if text.contains("\\u0000") {
            self.add(field, "expected text without NUL characters");
        }
        text
    }

    pub(crate) fn json(&mut self, field: &str, value: &Value, bytes_max: usize) -> String {
        let text = value.to_string();
        if text.len() > bytes_max {
            self.add(field, format!("expected at most {bytes_max} bytes of JSON, got {}", text.len()));
        }
        text
    }

    /// Reads a JSON object, up to a size.
    pub(crate) fn object(&mut self, field: &str, value: &Value, bytes_max: usize) -> String {
        if !value.is_object() {
            self.add(field, "expected an object");
        }
        self.json(field, value, bytes_max)
    }
}

/// What tasks say about their place among others.
impl Problems {
    /// Checks a name: something to read and to print, not too long.
    pub(crate) fn name(&mut self, field: &str, name: &str, chars_max: usize) {
        let chars = name.chars().count();
        if name.trim().is_empty() || chars > chars_max {
            self.add(field, format!("expected 1 to {chars_max} characters, got {chars}"));
        }
        if name.chars().any(char::is_control) {
            self.add(field, "expected characters that can be printed");
        }
    }

    /// Checks a name that has to stand alone in a path, where a dot or two mean something else.
    pub(crate) fn path_name(&mut self, field: &str, name: &str, chars_max: usize) {
        self.name(field, name, chars_max);
        if matches!(name, "." | "..") {
            self.add(field, format!("expected a name, got {name:?}"));
        }
    }

    /// Reads how another issue is named.
    pub(crate) fn issue_ref(&mut self, field: &str, text: &str) -> Option<TaskRef> {
        self.word(field, text)
    }

    /// Reads how a project is named.
    pub(crate) fn project_ref(&mut self, field: &str, text: &str) -> ProjectRef {
        self.name(field, text, NAME_CHARS_MAX);
        ProjectRef::new(text)
    }

    /// Reads a set of capabilities.
    pub(crate) fn capabilities(&mut self, field: &str, words: &[String]) -> Option<Capabilities> {
        Capabilities::new(words).map_err(|error| self.add(field, error.to_string())).ok()
    }

    /// Checks an operator's points.
    pub(crate) fn boost(&mut self, points: i64) {
        self.range("boost", points, -BOOST_MAX..=BOOST_MAX);
    }

    /// Checks the name of an owner.
    pub(crate) fn owner(&mut self, name: &str) {
        self.name("owner", name, OWNER_CHARS_MAX);
    }

    /// Reads the labels an issue is to have.
    pub(crate) fn labels(&mut self, labels: &[String]) -> Vec<LabelRef> {
        if labels.len() > LABELS_MAX {
            self.add("labelIds", format!("expected at most {LABELS_MAX} labels, got {}", labels.len()));
        }
        for label in labels {
            self.name("labelIds", label, LABEL_CHARS_MAX);
        }
        labels.iter().map(|label| LabelRef::new(label)).collect()
    }

    /// Reads what an issue is called where it comes from.
    pub(crate) fn external_key(&mut self, key: &str) -> String {
        self.name("externalKey", key, EXTERNAL_KEY_CHARS_MAX);
        key.to_owned()
    }

    /// Reads the path of an artifact, below wherever its project's artifacts lie.
    ///
    /// Empty parts and single dots are dropped: whoever waits for `./plan.md` would otherwise
    /// wait for ever beside a `plan.md`.
    pub(crate) fn artifact(&mut self, field: &str, path: &str) -> String {
        self.name(field, path, ARTIFACT_CHARS_MAX);
        let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if path.starts_with('/') || parts.contains(&"..") || parts.is_empty() {
            self.add(field, format!("expected a relative path without `..`, got {path:?}"));
        }
        parts.join("/")
    }
}

/// Reads how another issue is named, where nothing else can be at fault.
pub(crate) fn issue_ref(field: &str, text: &str) -> Result<TaskRef, ApiError> {
    text.parse().map_err(|error: BadTaskRef| ApiError::invalid(field, format!("{error}, got {text:?}")))
}

/// The page a list asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

/// The most that is returned at once.
const LIMIT_MAX: i64 = 200;
/// How many there are unless the caller says.
const LIMIT_DEFAULT: i64 = 50;
/// How far an offset reaches; beyond that there are cursors.
const OFFSET_MAX: i64 = 10_000;

impl Problems {
    /// Reads limit and offset.
    pub(crate) fn page(&mut self, limit: Option<i64>, offset: Option<i64>) -> Page {
        let page = Page { limit: limit.unwrap_or(LIMIT_DEFAULT), offset: offset.unwrap_or(0) };
        self.range("limit", page.limit, 1..=LIMIT_MAX);
        self.range("offset", page.offset, 0..=OFFSET_MAX);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the messages about the fields at fault.
    fn told(read: impl FnOnce(&mut Problems)) -> Vec<String> {
        let mut problems = Problems::default();
        read(&mut problems);
        problems.0.into_iter().map(|problem| format!("{}: {}", problem.field, problem.message)).collect()
    }

    #[test]
    fn an_artifact_is_named_by_a_relative_path() {
        let read = |path| {
            let mut problems = Problems::default();
            let read = problems.artifact("path", path);
            problems.check().is_ok().then_some(read)
        };
        assert_eq!(read("out/plan.md").as_deref(), Some("out/plan.md"));
        assert_eq!(read("./out//./plan.md").as_deref(), Some("out/plan.md"));
        assert_eq!(read("..a/b..").as_deref(), Some("..a/b.."));
        let long = "x".repeat(ARTIFACT_CHARS_MAX + 1);
        for bad in ["", " ", ".", "./", "/etc/passwd", "..", "a/../b", "a/..", "a\0b", "a\nb", &long] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_name_can_be_read_and_printed() {
        let check = |name: &str| told(|problems| problems.name("owner", name, 3));
        assert!(check("añn").is_empty());
        assert_eq!(check(""), ["owner: expected 1 to 3 characters, got 0"]);
        assert_eq!(check("  "), ["owner: expected 1 to 3 characters, got 2"]);
        assert_eq!(check("anna"), ["owner: expected 1 to 3 characters, got 4"]);
        assert_eq!(check("a\0b"), ["owner: expected characters that can be printed"]);
    }

    #[test]
    fn a_name_in_a_path_is_not_a_dot() {
        let check = |name: &str| told(|problems| problems.path_name("name", name, 9));
        assert_eq!(check(".."), ["name: expected a name, got \"..\""]);
        assert_eq!(check("."), ["name: expected a name, got \".\""]);
        assert!(check("...").is_empty());
    }

    #[test]
    fn an_issue_is_named_by_uuid_or_number() {
        let check = |text: &str| {
            told(|problems| {
                problems.issue_ref("parentId", text);
            })
        };
        assert!(check("42").is_empty());
        assert!(check("01890000-0000-7000-8000-000000000000").is_empty());
        assert_eq!(check("#42"), ["parentId: expected an issue's uuid or number, got \"#42\""]);
    }

    #[test]
    fn capabilities_and_points_have_limits() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let check = |list: &[&str]| {
            told(|problems| {
                problems.capabilities("needs", &words(list));
            })
        };
        assert!(check(&["Rust", "c++", "node:22"]).is_empty());
        let message = "needs: expected words of 1 to 50 letters, digits and -_.+#/:, got \"a b\"";
        assert_eq!(check(&["a b"]), [message]);
        assert!(told(|problems| problems.boost(-10_000)).is_empty());
        assert_eq!(told(|problems| problems.boost(10_001)), ["boost: expected -10000 to 10000, got 10001"]);
    }
}
