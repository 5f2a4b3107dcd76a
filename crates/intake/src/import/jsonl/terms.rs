//! The fields of a line that say when it is handed out, and what it was made of.
//!
//! The invariant: what should hold a task back and cannot be read does not let it loose. Such a task is filed
//! in triage, where somebody has to look at it.

use serde_json::Value;

use super::super::draft::Status;
use super::super::terms::{Grounds, Terms};
use super::Reader;

/// Through which doors a task leaves.
const DOORS: &[&str] = &["pull", "push", "run"];
const BOOST_MAX: i64 = 10_000;
const RETRIES_MAX: i64 = 100;
const ARTIFACT_CHARS_MAX: usize = 500;
const SOURCE_CHARS_MAX: usize = 200;
const PAYLOAD_BYTES_MAX: usize = 256 * 1024;
const HYPOTHESIS_BYTES_MAX: usize = 64 * 1024;

impl Reader<'_> {
    pub(super) fn terms(&mut self) -> Terms {
        Terms {
            boost: self.number("boost", -BOOST_MAX, BOOST_MAX),
            doors: self.doors(),
            max_retries: self.number("maxRetries", 0, RETRIES_MAX),
            not_before: self.fitting("notBefore", "a time such as 2026-01-31T09:00:00Z", is_moment),
            input_artifact: self.fitting("inputArtifact", "a relative path without `..`", is_artifact),
            gated_by_parent: self.gated_by_parent(),
        }
    }

    pub(super) fn grounds(&mut self) -> Grounds {
        let is_source = |text: &str| text.chars().count() <= SOURCE_CHARS_MAX && !text.contains('\0');
        let source = format!("a text of at most {SOURCE_CHARS_MAX} characters");
        let payload = format!("at most {PAYLOAD_BYTES_MAX} bytes of JSON");
        let hypothesis = format!("an object of at most {HYPOTHESIS_BYTES_MAX} bytes");
        let is_hypothesis = |value: &Value| value.is_object() && is_within(value, HYPOTHESIS_BYTES_MAX);
        Grounds {
            signal_source: self.fitting("signalSource", &source, is_source),
            signal_payload: self.json("signalPayload", &payload, |value| is_within(value, PAYLOAD_BYTES_MAX)),
            hypothesis: self.json("hypothesis", &hypothesis, is_hypothesis),
        }
    }

    /// Returns where a task starts whose terms are these.
    pub(super) fn held_back(&mut self, status: Status, terms: &Terms) -> Status {
        let is_lost = [
            ("doors", terms.doors.is_empty()),
            ("notBefore", terms.not_before.is_none()),
            ("inputArtifact", terms.input_artifact.is_none()),
            (
                "gatedByParent",
                !terms.gated_by_parent && self.value("gatedByParent") != Some(&Value::Bool(false)),
            ),
        ];
        let lost = is_lost.into_iter().find(|(field, is_lost)| *is_lost && self.value(field).is_some());
        match (status, lost) {
            (Status::Todo, Some((field, _))) => {
                self.say(&format!("is read as triage, as its `{field}` does not say when it may start"));
                Status::Triage
            }
            (status, _) => status,
        }
    }

    fn doors(&mut self) -> Vec<String> {
        let is_door = |value: &Value| value.as_str().filter(|word| DOORS.contains(word)).map(str::to_owned);
        if self.value("doors").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            self.misfit("doors", &Value::Array(Vec::new()), "some of pull, push and run");
        }
        self.list("doors", "pull, push and run", is_door)
    }

    fn gated_by_parent(&mut self) -> bool {
        let value = self.json("gatedByParent", "true or false", Value::is_boolean);
        value.and_then(|value| value.as_bool()).unwrap_or_default()
    }

    fn number(&mut self, field: &str, least: i64, most: i64) -> Option<i64> {
        let is_within = |value: &Value| value.as_i64().is_some_and(|number| (least..=most).contains(&number));
        self.json(field, &format!("{least} to {most}"), is_within)?.as_i64()
    }

    /// Returns a text that is as it should be.
    fn fitting(&mut self, field: &str, expected: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
        let value = self.json(field, expected, |value| value.as_str().is_some_and(&fits))?;
        value.as_str().map(str::to_owned)
    }

    /// Returns a value that is as it should be; another one is named.
    fn json(&mut self, field: &str, expected: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let value = self.value(field)?.clone();
        if fits(&value) {
            return Some(value);
        }
        self.misfit(field, &value, expected);
        None
    }
}

fn is_within(value: &Value, bytes_max: usize) -> bool {
    value.to_string().len() <= bytes_max
}

/// Tells whether a text has the shape of a moment; whether there is such a day is for the desk to say.
fn is_moment(text: &str) -> bool {
    let Some((moment, rest)) = text.split_at_checked("2026-01-31T09:00:00".len()) else { return false };
    let fraction =
        rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|char: char| char.is_ascii_digit()));
    let is_fraction = fraction.is_none_or(|zone| rest.len() - zone.len() > ".".len());
    let zone = fraction.unwrap_or(rest);
    let is_zone = zone == "Z" || ["+00:00", "-00:00"].iter().any(|shape| has_shape(zone, shape));
    has_shape(moment, "0000-00-00T00:00:00") && is_fraction && is_zone
}

/// Tells whether a text has digits where the shape has them, and is the same elsewhere.
fn has_shape(text: &str, shape: &str) -> bool {
    let is_same = |(byte, wanted): (u8, u8)| byte == wanted || (wanted == b'0' && byte.is_ascii_digit());
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_same)
}

fn is_artifact(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let is_inside = !path.starts_with('/') && parts.clone().all(|part| part != "..");
    let is_printed = path.chars().count() <= ARTIFACT_CHARS_MAX && !path.chars().any(char::is_control);
    is_inside && is_printed && parts.next().is_some() && !path.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_known_by_their_shape() {
        let check = |text: &str, expected: bool| assert_eq!(is_moment(text), expected, "{text}");
        check("2026-01-31T09:00:00Z", true);
        check("2026-01-31T09:00:00.123456Z", true);
        check("2026-01-31T09:00:00+01:00", true);
        check("2026-01-31T09:00:00.5-09:30", true);
        check("2026-01-31T09:00:00", false);
        check("2026-01-31T09:00:00.Z", false);
        check("2026-01-31T09:00:00.5", false);
        check("2026-01-31T09:00:00+1", false);
        check("2026-01-31", false);
        check("31.01.2026 09:00:00Z", false);
        check("tomorrow", false);
        check("2026-01-31T09:00:0日", false);
        check("", false);
    }

    #[test]
    fn artifacts_lie_below_their_project() {
        let check = |path: &str, expected: bool| assert_eq!(is_artifact(path), expected, "{path:?}");
        check("plan.md", true);
        check("./out//plan.md", true);
        check("a/..b", true);
        check("/etc/passwd", false);
        check("a/../b", false);
        check("./", false);
        check(" ", false);
        check("a\nb", false);
        check(&"é".repeat(500), true);
        check(&"é".repeat(501), false);
    }
}
