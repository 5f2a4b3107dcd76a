//! The words `/api` has for states.

use crate::state::State;
use crate::words::words;

words! {
    /// A state as trackers know it.
    pub enum Status, "status" {
        /// Came in.
        Triage = "triage",
        /// Not now.
        Backlog = "backlog",
        /// Queued.
        Todo = "todo",
        /// Assigned or running.
        InProgress = "in_progress",
        /// Waiting to be accepted.
        InReview = "in_review",
        /// Waits for a person.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
        /// Failed or timed out.
        Failed = "failed",
        /// Not wanted any more.
        Canceled = "canceled",
    }
}

impl Status {
    /// Returns what a state is called on `/api`.
    pub const fn of(state: State) -> Self {
        match state {
            State::Triage => Self::Triage,
            State::Backlog => Self::Backlog,
            State::Queued => Self::Todo,
            State::Assigned | State::Running => Self::InProgress,
            State::InReview => Self::InReview,
            State::Blocked => Self::Blocked,
            State::Done => Self::Done,
            State::Failed | State::TimedOut => Self::Failed,
            State::Canceled => Self::Canceled,
        }
    }

    /// Returns the states that go by this word.
    pub fn states(self) -> impl Iterator<Item = State> {
        State::ALL.iter().copied().filter(move |state| Self::of(*state) == self)
    }
}
