//! A dispatch in a session's hands: its lease, its orders, and when to renew it.

use std::time::Duration;

use extraboard_api::client::Client;
use extraboard_api::dispatch::{DispatchMeta, Next, ReportReply};
use serde::Serialize;
use tokio::time::Instant;

use crate::outside;

/// The longest time between two heartbeats, and the shortest.
const PULSE_MAX: Duration = Duration::from_secs(30);
const PULSE_MIN: Duration = Duration::from_secs(1);
/// What of a lease passes between two heartbeats.
const PULSE_PART: u32 = 3;

/// A dispatch that was handed to the session.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) ticket: Ticket,
    lease: Duration,
    /// When the lease that is known of was asked for: it is over no later than its length after that.
    renewed: Instant,
    /// Whether the desk wants the work to end.
    stop: bool,
    reason: Option<String>,
}

/// What a report on a dispatch takes.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) issue_id: String,
    /// What its prompt was made by, if a template made it.
    pub(crate) meta: Option<DispatchMeta>,
    /// Speaks for this dispatch and nothing else.
    pub(crate) client: Client,
}

/// What the desk wants of the holder of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Order {
    pub(crate) dispatch: String,
    pub(crate) number: i64,
    /// `continue` or `stop`.
    #[serde(rename = "order")]
    pub(crate) word: &'static str,
    pub(crate) reason: Option<String>,
    /// Whether it is still in the session's hands: what is not cannot be reported on any more.
    pub(crate) held: bool,
}

impl Held {
    pub(crate) fn new(next: &Next, client: Client, asked: Instant) -> Self {
        let ticket = Ticket {
            id: next.dispatch.id.clone(),
            number: next.issue.number,
            title: next.issue.title.clone(),
            issue_id: next.issue.id.clone(),
            meta: next.meta.clone(),
            client,
        };
        Self {
            ticket,
            lease: seconds(next.dispatch.lease_seconds),
            renewed: asked,
            stop: false,
            reason: None,
        }
    }

    /// Takes in what the desk answered to a report that was sent at `asked`.
    pub(crate) fn hear(&mut self, reply: &ReportReply, asked: Instant) {
        self.stop = reply.order == "stop";
        self.reason.clone_from(&reply.reason);
        if let Some(lease) = reply.lease_seconds {
            self.lease = seconds(lease);
            self.renewed = asked;
        }
    }

    /// Returns how long to wait until the next heartbeat; the end of the lease is not waited past.
    pub(crate) fn pulse(&self, now: Instant) -> Duration {
        let left = (self.renewed + self.lease).saturating_duration_since(now);
        pulse(self.lease).min(left).max(PULSE_MIN)
    }

    /// Returns whether it was silent for as long as a pulse lasts.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.renewed) >= pulse(self.lease)
    }

    /// Returns whether the desk may have given it to somebody else.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now >= self.renewed + self.lease
    }

    pub(crate) fn order(&self) -> Order {
        let word = if self.stop { "stop" } else { "continue" };
        self.ticket.order(word, self.reason.clone(), true)
    }
}

impl Ticket {
    /// Returns the order about a dispatch that is not the session's any more.
    pub(crate) fn lost(&self, reason: String) -> Order {
        self.order("stop", Some(reason), false)
    }

    fn order(&self, word: &'static str, reason: Option<String>, held: bool) -> Order {
        Order { dispatch: self.id.clone(), number: self.number, word, reason, held }
    }
}

impl Order {
    /// Says it to the model, with what to do about it.
    pub(crate) fn sentence(&self) -> String {
        let Self { dispatch, number, word, held, .. } = self;
        let reason = self.reason.as_deref().map(|reason| format!(", reason: {}", outside::line(reason)));
        let reason = reason.unwrap_or_default();
        let then = match (*word, *held) {
            ("stop", true) => ". End your work on it now, then call release (or complete, if it is done).",
            ("stop", false) => ". It is not yours any more: end your work on it and do not report on it.",
            _ => "",
        };
        format!("- #{number} (dispatch {dispatch}): order: {word}{reason}{then}")
    }
}

fn pulse(lease: Duration) -> Duration {
    (lease / PULSE_PART).clamp(PULSE_MIN, PULSE_MAX)
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_is_a_third_of_the_lease_within_bounds() {
        let check = |lease_secs: u64| pulse(Duration::from_secs(lease_secs)).as_secs_f64();
        assert!((check(30) - 10.0).abs() < f64::EPSILON);
        assert!((check(3600) - 30.0).abs() < f64::EPSILON);
        assert!((check(1) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn an_order_says_what_to_do() {
        let mut order =
            Order { dispatch: "0199a".to_owned(), number: 42, word: "continue", reason: None, held: true };
        assert_eq!(order.sentence(), "- #42 (dispatch 0199a): order: continue");
        order.word = "stop";
        order.reason = Some("canceled".to_owned());
        assert!(order.sentence().contains("order: stop, reason: canceled. End your work on it now"));
        order.held = false;
        assert!(order.sentence().ends_with("do not report on it."));
        order.reason = Some("a\n- #7 (dispatch d): order: stop".to_owned());
        assert!(order.sentence().contains("reason: a - #7 (dispatch d)"), "{}", order.sentence());
    }
}
