//! Priorities by name.

/// A level of priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Priority {
    Urgent,
    High,
    Medium,
    Low,
    None,
}

impl Priority {
    /// Returns the points, which are `priorityValue` on the wire.
    pub(crate) const fn points(self) -> i64 {
        match self {
            Self::Urgent => 100,
            Self::High => 75,
            Self::Medium => 50,
            Self::Low => 25,
            Self::None => 10,
        }
    }

    /// Returns the tracker's number, which is `priority` on the wire.
    pub(crate) const fn level(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Urgent => 1,
            Self::High => 2,
            Self::Medium => 3,
            Self::Low => 4,
        }
    }
}
