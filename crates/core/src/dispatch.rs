//! A dispatch: one hand-out of one task to one holder.

use crate::clock::{Span, Timestamp};
use crate::doors::Door;
use crate::gate::Account;
use crate::id::{DispatchId, Fence, ProjectNumber, TaskNumber, VersionId};
use crate::kind::Kind;
use crate::reason::Reason;
use crate::report::{Outcome, Retryable};

/// How long an agent that pulls may be silent.
pub const PULL_LEASE: Span = Span::from_mins(60);
/// How long a dispatch that was told to end may take at most.
pub const ENDING_LEASE: Span = Span::from_secs(60);

/// Where a dispatch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its holder works.
    Open,
    /// It was told to end, for the first reason anybody gave.
    Ending(Reason),
    /// It is over.
    Closed {
        /// Why; nothing for plain success.
        reason: Option<Reason>,
        /// When.
        at: Timestamp,
    },
}

impl Phase {
    /// Returns the word that is stored and shown.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ending(_) => "ending",
            Self::Closed { .. } => "closed",
        }
    }

    /// Returns the reason, if one was given.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Open => None,
            Self::Ending(reason) => Some(*reason),
            Self::Closed { reason, .. } => *reason,
        }
    }
}

/// One hand-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Its permanent id.
    pub id: DispatchId,
    /// The task that was handed out.
    pub task: TaskNumber,
    /// Which attempt at the task this is, since it was last admitted afresh.
    pub attempt: i64,
    /// Which hand-out of the task this is, ever.
    pub fence: Fence,
    /// Who holds it, as [`crate::caller::Caller`] writes itself.
    pub holder: String,
    /// The door it left by.
    pub door: Door,
    /// The kind of the task when it was handed out.
    pub kind: Kind,
    /// The project of the task when it was handed out.
    pub project: Option<ProjectNumber>,
    /// What its holder is run by.
    pub adapter: Option<String>,
    /// The account it is worked on.
    pub account: Option<Account>,
    /// Where it stands.
    pub phase: Phase,
    /// What its holder said about its end.
    pub outcome: Option<Outcome>,
    /// How long its holder may be silent.
    pub lease: Span,
    /// Until when it is its holder's.
    pub lease_until: Timestamp,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When its holder was last heard of.
    pub heartbeat_at: Timestamp,
    /// The holder's own account of how far it is, as JSON.
    pub progress: Option<String>,
    /// What came of it, as JSON; of a superseded dispatch, kept as evidence.
    pub result: Option<String>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// Whether another attempt makes sense; a person who ends a dispatch may say no.
    pub retryable: Retryable,
    /// What it cost, in millionths of a dollar; nothing if nobody said.
    pub cost_micros: Option<i64>,
    /// Tokens read by the model, if reported.
    pub tokens_in: Option<i64>,
    /// Tokens written by the model, if reported.
    pub tokens_out: Option<i64>,
    /// The prompt as it was sent, with a place where its token stood.
    pub prompt: Option<String>,
    /// The version of a template the prompt was made by.
    pub version: Option<VersionId>,
    /// What its holder said it did.
    pub summary: Option<String>,
}
