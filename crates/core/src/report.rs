//! What a holder says about its dispatch.

use crate::clock::Span;
use crate::reason::Reason;
use crate::words::words;

words! {
    /// How a holder says its dispatch ended; kept beside the reason.
    pub enum Outcome, "outcome" {
        /// The work is done.
        Completed = "completed",
        /// The work failed.
        Failed = "failed",
        /// The work was given back.
        Released = "released",
        /// A person is needed.
        Asked = "asked",
    }
}

words! {
    /// Why an attempt failed, in the holder's words.
    pub enum FailureClass, "class" {
        /// The work itself went wrong.
        ExecutionFailed = "execution_failed",
        /// The attempt took too long.
        AttemptTimeout = "attempt_timeout",
        /// The agent died.
        Crash = "crash",
        /// The agent could not be reached.
        AgentUnavailable = "agent_unavailable",
        /// The agent is not set up: no binary, no login.
        Setup = "setup",
        /// The provider said no for now.
        RateLimited = "rate_limited",
    }
}

impl FailureClass {
    /// Returns the reason a dispatch that failed so ends for.
    pub const fn reason(self) -> Reason {
        match self {
            Self::ExecutionFailed => Reason::ExecutionFailed,
            Self::AttemptTimeout => Reason::AttemptTimeout,
            Self::Crash => Reason::Crash,
            Self::AgentUnavailable => Reason::AgentUnavailable,
            Self::Setup => Reason::Setup,
            Self::RateLimited => Reason::RateLimited,
        }
    }
}

/// What came of the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// What came of it, as JSON.
    pub result: Option<String>,
    /// What the agent says about it.
    pub summary: Option<String>,
    /// The commits, as JSON.
    pub commits: Option<String>,
    /// The pull requests, as JSON.
    pub pull_requests: Option<String>,
}

/// A report that ends a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The work is done.
    Complete(Completion),
    /// The work failed.
    Fail {
        /// Why.
        class: FailureClass,
        /// Whether another attempt makes sense.
        retryable: Retryable,
        /// The earliest moment of the next attempt, from now.
        retry_after: Option<Span>,
        /// What went wrong, for people.
        error: Option<String>,
        /// Who refused, where the claim did not name an account.
        provider: Option<String>,
    },
    /// The work is given back.
    Release,
    /// A person is needed.
    Ask {
        /// What the agent wants to know.
        question: Option<String>,
    },
}

/// Whether another attempt makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retryable {
    /// It may work next time.
    Yes,
    /// It will fail again.
    No,
}

impl Report {
    /// Returns the outcome this report claims.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Complete(_) => Outcome::Completed,
            Self::Fail { .. } => Outcome::Failed,
            Self::Release => Outcome::Released,
            Self::Ask { .. } => Outcome::Asked,
        }
    }

    /// Returns the reason an open dispatch ends for; none for success.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Complete(_) => None,
            Self::Fail { class, .. } => Some(class.reason()),
            Self::Release => Some(Reason::Released),
            Self::Ask { .. } => Some(Reason::Asked),
        }
    }
}
