//! What a prompt is made of, as variables.

use std::cell::OnceCell;

use extraboard_core::clock::Timestamp;
use extraboard_core::id::{TemplateId, VersionId};
use extraboard_core::prompt::Context;
use serde_json::Value as Json;

use crate::token::token_place;
use crate::value::Value;

/// What stands in every prompt of a server.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where agents reach the server, such as `http://127.0.0.1:8600`.
    pub server_url: String,
}

/// What a prompt is made by.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The template.
    pub template: TemplateId,
    /// What that goes by.
    pub slug: &'a str,
    /// The version of it.
    pub version: VersionId,
    /// That version's number.
    pub number: i64,
}

/// All that a template can speak of. JSON is read when somebody asks for it.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    pub(crate) context: &'a Context,
    pub(crate) source: &'a Source<'a>,
    pub(crate) url: String,
    pub(crate) token: String,
    payload: Lazy,
    hypothesis: Lazy,
    result: Lazy,
    commits: Lazy,
    pull_requests: Lazy,
}

type Lazy = OnceCell<Option<Json>>;

impl<'a> Input<'a> {
    /// Takes what is given; nothing is copied but the address and the place of the token.
    pub(crate) fn new(context: &'a Context, source: &'a Source<'a>, surroundings: &Surroundings) -> Self {
        Self {
            context,
            source,
            url: address(&surroundings.server_url),
            token: token_place(context.dispatch),
            payload: OnceCell::new(),
            hypothesis: OnceCell::new(),
            result: OnceCell::new(),
            commits: OnceCell::new(),
            pull_requests: OnceCell::new(),
        }
    }

    pub(crate) fn payload(&self) -> Value<'_> {
        read(&self.payload, self.context.task.signal_payload.as_deref(), "signalPayload")
    }

    pub(crate) fn hypothesis(&self) -> Value<'_> {
        read(&self.hypothesis, self.context.task.hypothesis.as_deref(), "hypothesis")
    }

    pub(crate) fn result(&self) -> Value<'_> {
        read(&self.result, self.context.task.result.as_deref(), "result")
    }

    pub(crate) fn commits(&self) -> Value<'_> {
        read(&self.commits, self.context.task.commits.as_deref(), "commits")
    }

    pub(crate) fn pull_requests(&self) -> Value<'_> {
        read(&self.pull_requests, self.context.task.pull_requests.as_deref(), "pullRequests")
    }
}

/// Reads JSON once. What is none, or too deep for the parser, is a text.
fn read<'a>(cell: &'a Lazy, text: Option<&'a str>, about: &'static str) -> Value<'a> {
    let Some(text) = text else { return Value::Nothing };
    match cell.get_or_init(|| serde_json::from_str(text).ok()) {
        Some(json) => Value::Json { json, about }.plain(),
        None => Value::Text { text, about },
    }
}

/// Keeps what an address is made of: it stands in commands, where other characters mean something.
fn address(url: &str) -> String {
    let is_plain = |char: &char| char.is_ascii_alphanumeric() || "-._~:/?#[]@%=+".contains(*char);
    let url: String = url.chars().filter(is_plain).collect();
    url.trim_end_matches('/').to_owned()
}

/// Writes a moment as RFC 3339, as the API does.
pub(crate) fn moment(at: Timestamp) -> Value<'static> {
    match jiff::Timestamp::from_microsecond(at.as_micros()) {
        Ok(moment) => Value::shown(moment),
        Err(_) => Value::shown(format_args!("+{}us", at.as_micros())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_address() {
        assert_eq!(address("https://desk.example:8600/x/"), "https://desk.example:8600/x");
        assert_eq!(address("http://a$(rm -rf)`b`';\"\n"), "http://arm-rfb");
    }
}
