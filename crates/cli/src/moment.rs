//! How people name a moment: RFC 3339, or a span from now such as `10m`, `2h` or `1d12h`.

use std::str::FromStr;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use thiserror::Error;

/// A moment as named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    In(SignedDuration),
}

#[derive(Debug, PartialEq, Eq, Error)]
#[error("expected a time such as 2026-05-01T12:00:00Z, or a span such as 10m, 2h or 1d12h")]
pub(crate) struct NotAMoment;

impl Moment {
    /// Returns the moment, given the present one; a span beyond the end of time is not one.
    pub(crate) fn resolve(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::At(timestamp) => Some(timestamp),
            Self::In(duration) => now.checked_add(duration).ok(),
        }
    }
}

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Ok(Self::At(timestamp));
        }
        let span: Span = text.parse().map_err(|_| NotAMoment)?;
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| NotAMoment)?;
        if duration.is_negative() { Err(NotAMoment) } else { Ok(Self::In(duration)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let moment: Moment = text.parse().unwrap();
        assert_eq!(moment.resolve(now).unwrap().to_string(), expected, "{text}");
    }

    #[test]
    fn spans_count_from_now() {
        check("90s", "2026-01-01T00:01:30Z");
        check("10m", "2026-01-01T00:10:00Z");
        check("2h", "2026-01-01T02:00:00Z");
        check("1d12h", "2026-01-02T12:00:00Z");
        check("1w", "2026-01-08T00:00:00Z");
    }

    #[test]
    fn times_are_shown_in_utc() {
        check("2026-05-01T12:00:00Z", "2026-05-01T12:00:00Z");
        check("2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00Z");
    }

    #[test]
    fn the_rest_is_refused() {
        for text in ["", "10", "soon", "-10m", "10m ago", "1mo", "2026-05-01", "2026-05-01T12:00:00"] {
            assert_eq!(text.parse::<Moment>(), Err(NotAMoment), "{text}");
        }
    }
}
