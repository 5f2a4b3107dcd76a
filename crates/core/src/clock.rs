//! Points and spans of time, and the clock that is passed in.
//!
//! Whole microseconds, so that both databases keep exactly what was written.
//! Nothing here reads the system's clock.

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Makes a point from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns whole milliseconds since the epoch, never negative.
    pub const fn as_millis(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0.cast_unsigned() / 1_000 }
    }

    /// Returns the point that lies `span` later.
    #[must_use]
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Returns the point that lies `span` earlier.
    #[must_use]
    pub const fn minus(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the time that passed since `earlier`, negative if it lies ahead.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Makes a span of microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Makes a span of seconds.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Makes a span of minutes.
    pub const fn from_mins(mins: i64) -> Self {
        Self::from_secs(mins.saturating_mul(60))
    }

    /// Makes a span of days.
    pub const fn from_days(days: i64) -> Self {
        Self::from_mins(days.saturating_mul(24 * 60))
    }

    /// Returns the span in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds of the span.
    pub const fn as_secs(self) -> i64 {
        self.0 / 1_000_000
    }

    /// Returns the span as a standard duration, zero if it is negative.
    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_micros(if self.0 < 0 { 0 } else { self.0.cast_unsigned() })
    }
}

/// Whoever knows what time it is.
pub trait Clock: Send + Sync {
    /// Returns the present.
    fn now(&self) -> Timestamp;
}

/// Whoever draws random bytes.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_time_saturates_instead_of_wrapping() {
        let end = Timestamp::from_micros(i64::MAX);
        assert_eq!(end.plus(Span::from_days(1)), end);
        assert_eq!(Span::from_days(i64::MAX).as_micros(), i64::MAX);
    }

    #[test]
    fn a_clock_that_went_back_gives_a_negative_span() {
        let earlier = Timestamp::from_micros(5);
        assert_eq!(Timestamp::from_micros(2).since(earlier), Span::from_micros(-3));
        assert_eq!(Span::from_micros(-3).to_std(), std::time::Duration::ZERO);
    }
}
