//! Webhooks: one way in for all providers, from the raw request to a signal.
//!
//! [`read`] verifies the signature over the raw body before it parses anything, then asks the provider's own
//! module what the delivery says. Providers change their payloads, so every field is optional: what is
//! missing is replaced by a word that says so, and never refused.

mod field;
mod github;
mod posthog;
mod sentry;
mod signature;
mod title;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::text::{TITLE_CHARS_MAX, sha256_hex, short_line};
pub use title::title;

/// The longest source, source id and type of a signal, in characters.
const WORD_CHARS_MAX: usize = 200;

/// Who sends webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// GitHub, signed with `X-Hub-Signature-256`.
    Github,
    /// Sentry's integrations, signed with `Sentry-Hook-Signature`.
    Sentry,
    /// `PostHog`, which sends the secret itself in `X-PostHog-Secret`.
    Posthog,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Github, Self::Sentry, Self::Posthog];

    /// Returns the word that names the provider in paths and as the source of signals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Sentry => "sentry",
            Self::Posthog => "posthog",
        }
    }

    /// Returns the header that identifies one delivery, where the provider sends one.
    const fn delivery_header(self) -> Option<&'static str> {
        match self {
            Self::Github => Some("X-GitHub-Delivery"),
            Self::Sentry => Some("Request-ID"),
            Self::Posthog => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|provider| provider.as_str() == word);
        found.ok_or_else(|| UnknownProvider(word.to_owned()))
    }
}

/// A word that names no provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` sends no webhooks here: expected github, sentry or posthog")]
pub struct UnknownProvider(pub String);

/// One request as it came in.
#[derive(Clone, Copy)]
pub struct Delivery<'a> {
    /// Whose route it came to.
    pub provider: Provider,
    /// Looks a header up, without regard to case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body, byte for byte: the signature is of these bytes.
    pub body: &'a [u8],
}

impl fmt::Debug for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.body.len();
        f.debug_struct("Delivery").field("provider", &self.provider).field("body_length", &length).finish()
    }
}

impl<'a> Delivery<'a> {
    /// Returns a header's value without the space around it; an empty one counts as missing.
    fn header(&self, name: &str) -> Option<&'a str> {
        (self.header)(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Returns what identifies this delivery, so that a repetition is recognised.
    ///
    /// The provider stands in front because two of them may count alike. What is not a plain word of
    /// reasonable length is not believed to be an id, and the body speaks for itself.
    fn key(&self) -> String {
        let is_plain =
            |id: &&str| id.len() <= WORD_CHARS_MAX && id.chars().all(|char| char.is_ascii_graphic());
        let id = self.provider.delivery_header().and_then(|name| self.header(name)).filter(is_plain);
        match id {
            Some(id) => format!("{}:{id}", self.provider),
            None => format!("{}:sha256:{}", self.provider, sha256_hex(self.body)),
        }
    }
}

/// What a delivery turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Something happened.
    Signal(SignalDraft),
    /// The provider only tries the line; there is nothing to do.
    Ping,
}

/// A signal to be filed.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalDraft {
    /// The provider's word.
    pub source: String,
    /// What the provider calls the thing, where it says so; at most 200 characters.
    pub source_id: Option<String>,
    /// What sort of event it is, in the provider's words; 1 to 200 characters.
    pub signal_type: String,
    /// How bad it is.
    pub severity: Severity,
    /// One line of at most 500 characters.
    pub title: String,
    /// The whole body.
    pub payload: Value,
    /// What identifies the delivery, beginning with the provider: the same again is a repetition.
    pub delivery: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Needs work soon.
    High,
    /// Needs work now.
    Critical,
}

impl Severity {
    /// Returns the word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Why a delivery was not heard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The header with the signature is missing or empty.
    #[error("the header {0} is missing: every delivery must be signed")]
    MissingSignature(&'static str),
    /// The signature is not the one the secret makes of this body.
    #[error("the signature does not fit: check that the provider has the same secret")]
    BadSignature,
    /// The body is signed but not JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// The body is JSON but not an object.
    #[error("the body is not a JSON object")]
    NotAnObject,
}

/// What a provider's module reads off a delivery.
struct Reading {
    source_id: Option<String>,
    signal_type: String,
    severity: Severity,
    title: String,
}

/// Verifies a delivery with the provider's secret and says what it is about.
///
/// An empty secret verifies nothing: anybody could sign with it.
pub fn read(delivery: &Delivery<'_>, secret: &str) -> Result<Heard, WebhookError> {
    signature::verify(delivery, secret)?;
    let payload = parse(delivery.body)?;
    let reading = match delivery.provider {
        Provider::Github => github::read(delivery.header("X-GitHub-Event"), &payload),
        Provider::Sentry => sentry::read(delivery.header("Sentry-Hook-Resource"), &payload),
        Provider::Posthog => Some(posthog::read(&payload)),
    };
    let Some(reading) = reading else { return Ok(Heard::Ping) };
    let id = reading.source_id.map(|id| short_line(&id, WORD_CHARS_MAX));
    Ok(Heard::Signal(SignalDraft {
        source: delivery.provider.as_str().to_owned(),
        source_id: id.filter(|id| !id.is_empty()),
        signal_type: short_line(&reading.signal_type, WORD_CHARS_MAX),
        severity: reading.severity,
        title: short_line(&reading.title, TITLE_CHARS_MAX),
        payload,
        delivery: delivery.key(),
    }))
}

fn parse(body: &[u8]) -> Result<Value, WebhookError> {
    let payload: Value = serde_json::from_slice(body).map_err(|error| {
        // GitHub's default when a webhook is made by hand.
        let is_form = body.starts_with(b"payload=");
        let hint = if is_form { " (it is a form: set the content type to application/json)" } else { "" };
        WebhookError::NotJson(format!("{error}{hint}"))
    })?;
    if payload.is_object() { Ok(payload) } else { Err(WebhookError::NotAnObject) }
}

#[cfg(test)]
mod tests;
