//! What a prompt is made of: a task and what stands around it.
//!
//! All of it is bounded, whatever the size of the family or the length of the story: a
//! claim reads it. How it is written down is no matter of this module.

use crate::clock::Timestamp;
use crate::comment::{AuthorType, CommentKind};
use crate::doors::Door;
use crate::id::{DispatchId, Fence, TaskId, TaskNumber};
use crate::kind::Kind;
use crate::project::{Goal, Project};
use crate::reason::Reason;
use crate::report::Outcome;
use crate::state::State;
use crate::task::Task;
use crate::template::Facts;

/// How many siblings or children a prompt tells of: the latest.
pub const RELATIVES_MAX: usize = 20;
/// How many tasks that block it, or are blocked by it, a prompt tells of.
pub const BLOCKERS_MAX: usize = 20;
/// How many earlier attempts a prompt tells of: the latest.
pub const SESSIONS_MAX: usize = 5;
/// How many comments a prompt tells of: the latest.
pub const COMMENTS_MAX: usize = 20;
/// The label of tasks that are to make a better version of a template.
pub const IMPROVEMENT_LABEL: &str = "prompt-improvement";
/// How many characters of a longer text stand in a prompt, where that is not its own task's.
pub const EXCERPT_CHARS_MAX: usize = 2_000;

/// A task and what stands around it.
#[derive(Clone, Debug)]
pub struct Context {
    /// The task.
    pub task: Task,
    /// The door it leaves by.
    pub door: Door,
    /// The dispatch it leaves with; none in a preview.
    pub dispatch: Option<DispatchId>,
    /// The project it belongs to.
    pub project: Option<Project>,
    /// That project's goal: an active one, if there is any.
    pub goal: Option<Goal>,
    /// The task it is a part of.
    pub parent: Option<Relative>,
    /// Other parts of the same task, the latest last.
    pub siblings: Vec<Relative>,
    /// Its own parts, the latest last.
    pub children: Vec<Relative>,
    /// What waits for it.
    pub blocking: Vec<Relative>,
    /// What it waited for.
    pub blocked_by: Vec<Relative>,
    /// Earlier attempts at it and at its siblings, the latest last.
    pub sessions: Vec<Session>,
    /// What was said about it, the latest last.
    pub comments: Vec<Remark>,
    /// Whether an earlier attempt at it or at a sibling failed; also one that is not told of.
    pub has_failed_sessions: bool,
    /// Whether agents are asked what they think of their prompts.
    pub ask_for_review: bool,
    /// The version of a template that this task is to make a better one of.
    pub improves: Option<Improved>,
}

/// A version of a template that is not good enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Improved {
    /// What the template goes by.
    pub slug: String,
    /// Which version it is.
    pub number: i64,
    /// What it says.
    pub content: String,
}

/// A task that stands around another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relative {
    /// Its permanent id.
    pub id: TaskId,
    /// Its number.
    pub number: TaskNumber,
    /// What people call it.
    pub title: String,
    /// What is to be done, shortened; only of a parent.
    pub description: Option<String>,
    /// The sort of work.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// What its last agent said, shortened.
    pub agent_summary: Option<String>,
    /// How often it was handed out.
    pub fence: Fence,
}

/// An attempt that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The task it was an attempt at.
    pub task: TaskNumber,
    /// Which attempt it was, ever.
    pub fence: i64,
    /// What its holder said about its end.
    pub outcome: Option<Outcome>,
    /// Why it ended; nothing for plain success.
    pub reason: Option<Reason>,
    /// What its holder said it did, shortened.
    pub summary: Option<String>,
    /// What went wrong, shortened.
    pub error: Option<String>,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl Session {
    /// Returns how it ended, in a word.
    pub fn status(&self) -> &'static str {
        match (self.outcome, self.reason) {
            (Some(outcome), _) => outcome.as_str(),
            (None, Some(reason)) => reason.as_str(),
            (None, None) => "closed",
        }
    }

    /// Tells whether the work went wrong, or nobody was heard of again.
    pub fn has_failed(&self) -> bool {
        self.reason.is_some_and(Reason::is_failure)
    }
}

/// Something somebody said about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it was said for.
    pub kind: CommentKind,
    /// What was said, shortened.
    pub body: String,
    /// Who said it.
    pub author: String,
    /// A person or an agent.
    pub author_type: AuthorType,
    /// When.
    pub created_at: Timestamp,
}

impl Context {
    /// Returns what the choice of a template depends on.
    pub fn facts(&self, hypothesis_confidence: Option<f64>) -> Facts {
        Facts {
            kind: self.task.kind,
            signal_source: self.task.signal_source.clone(),
            labels: self.task.labels.iter().map(|label| label.name.clone()).collect(),
            project: self.task.project_id,
            has_failed_sessions: self.has_failed_sessions,
            hypothesis_confidence,
            door: self.door,
        }
    }
}

/// Shortens a text to what a prompt has room for, and says so.
pub fn excerpt(text: String) -> String {
    // It has at least as many bytes as characters.
    if text.len() <= EXCERPT_CHARS_MAX {
        return text;
    }
    match text.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shortened_at_a_character() {
        let text = "ä".repeat(EXCERPT_CHARS_MAX + 1);
        let short = excerpt(text);
        assert_eq!(short.chars().count(), EXCERPT_CHARS_MAX + 4);
        assert!(short.ends_with(" […]"));
        let just = "ä".repeat(EXCERPT_CHARS_MAX);
        assert_eq!(excerpt(just.clone()), just);
    }

    #[test]
    fn a_session_says_how_it_ended() {
        let session = |outcome, reason| Session {
            task: TaskNumber(1),
            fence: 1,
            outcome,
            reason,
            summary: None,
            error: None,
            ended_at: Timestamp::from_micros(0),
        };
        let done = session(Some(Outcome::Completed), None);
        assert_eq!((done.status(), done.has_failed()), ("completed", false));
        let failed = session(Some(Outcome::Failed), Some(Reason::ExecutionFailed));
        assert_eq!((failed.status(), failed.has_failed()), ("failed", true));
        let lost = session(None, Some(Reason::LeaseExpired));
        assert_eq!((lost.status(), lost.has_failed()), ("lease_expired", true));
        let preempted = session(None, Some(Reason::CooperativePreemption));
        assert_eq!((preempted.status(), preempted.has_failed()), ("cooperative_preemption", false));
    }
}
