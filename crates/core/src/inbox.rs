//! The inbox: what waits for a person.

use crate::state::State;
use crate::task::Task;
use crate::words::words;

words! {
    /// Why something is in the inbox.
    pub enum InboxKind, "kind of inbox item" {
        /// An agent asked something.
        Question = "question",
        /// A task cannot go on without a person.
        Blocked = "blocked",
        /// The desk gave a task up.
        DeadLetter = "dead_letter",
        /// The prompt of a task cannot be made.
        BrokenPrompt = "broken_prompt",
    }
}

impl InboxKind {
    /// Returns why a task waits for a person, if it does.
    pub fn of(task: &Task) -> Option<Self> {
        match task.state {
            _ if task.deleted_at.is_some() => None,
            State::Blocked if task.question.is_some() && task.answer.is_none() => Some(Self::Question),
            State::Blocked => Some(Self::Blocked),
            State::Failed | State::TimedOut => Some(Self::DeadLetter),
            State::Queued if task.prompt_broken => Some(Self::BrokenPrompt),
            _ => None,
        }
    }
}
