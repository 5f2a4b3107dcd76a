//! The one state machine: every change of a task's state is a row of one table.

use crate::words::words;

words! {
    /// Where a task stands.
    pub enum State, "state" {
        /// Came in, nobody has looked yet.
        Triage = "triage",
        /// Accepted, not now.
        Backlog = "backlog",
        /// To be handed out as soon as nothing holds it back.
        Queued = "queued",
        /// Pushed to an agent that has not started.
        Assigned = "assigned",
        /// In somebody's hands.
        Running = "running",
        /// Done, waiting to be accepted.
        InReview = "in_review",
        /// Waits for a person.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
        /// Given up after failures.
        Failed = "failed",
        /// Given up after time-outs.
        TimedOut = "timed_out",
        /// Not wanted any more.
        Canceled = "canceled",
    }
}

words! {
    /// What can happen to a task.
    pub enum Verb, "verb" {
        /// Let it be handed out.
        Admit = "admit",
        /// Take it out of the queue, keep it.
        Park = "park",
        /// Hand it out.
        Claim = "claim",
        /// Push it to an agent.
        Assign = "assign",
        /// The agent it was pushed to begins.
        Start = "start",
        /// It is finished.
        Complete = "complete",
        /// It is finished, subject to review.
        Submit = "submit",
        /// The review accepts it.
        Approve = "approve",
        /// The review wants it done again.
        SendBack = "send_back",
        /// Its dispatch ended without a result.
        Requeue = "requeue",
        /// It cannot go on without a person.
        Block = "block",
        /// A person answered what was asked.
        Answer = "answer",
        /// It is given up after failures.
        Fail = "fail",
        /// It is given up after time-outs.
        TimeOut = "time_out",
        /// It gets another go.
        Retry = "retry",
        /// It is open again.
        Reopen = "reopen",
        /// A person finished it themselves.
        Close = "close",
        /// It is not wanted any more.
        Cancel = "cancel",
    }
}

/// A verb that the table does not allow in that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{verb} is not possible for a {from} task: legal verbs are {}", legal(*from))]
pub struct IllegalTransition {
    /// The state the task is in.
    pub from: State,
    /// What was asked for.
    pub verb: Verb,
}

impl State {
    /// Returns the state that follows: the whole table.
    ///
    /// The rows from `Queued` that end a dispatch are for the late report of the
    /// newest dispatch, whose lease lapsed and whose task nobody claimed since.
    #[rustfmt::skip]
    pub const fn after(self, verb: Verb) -> Result<Self, IllegalTransition> {
        use {State as S, Verb as V};
        Ok(match (self, verb) {
            (S::Triage | S::Backlog,                 V::Admit)    => S::Queued,
            (S::Queued,                              V::Park)     => S::Backlog,
            (S::Queued,                              V::Claim)    => S::Running,
            (S::Queued,                              V::Assign)   => S::Assigned,
            (S::Assigned,                            V::Start)    => S::Running,
            (S::Assigned | S::Running | S::Queued,   V::Complete) => S::Done,
            (S::Assigned | S::Running | S::Queued,   V::Submit)   => S::InReview,
            (S::Assigned | S::Running | S::Queued,   V::Requeue)  => S::Queued,
            (S::Assigned | S::Running | S::Queued,   V::Block)    => S::Blocked,
            (S::Assigned | S::Running | S::Queued,   V::Fail)     => S::Failed,
            (S::Assigned | S::Running | S::Queued,   V::TimeOut)  => S::TimedOut,
            (S::InReview,                            V::Approve)  => S::Done,
            (S::InReview,                            V::SendBack) => S::Queued,
            (S::Blocked,                             V::Answer)   => S::Queued,
            (S::Blocked | S::Failed | S::TimedOut,   V::Retry)    => S::Queued,
            (S::Done | S::Canceled,                  V::Reopen)   => S::Queued,
            (S::Triage | S::Backlog | S::Queued | S::Assigned | S::Running | S::Blocked,
                                                     V::Close)    => S::Done,
            (S::Triage | S::Backlog | S::Queued | S::Assigned | S::Running | S::InReview
                | S::Blocked | S::Failed | S::TimedOut,
                                                     V::Cancel)   => S::Canceled,
            (from, verb) => return Err(IllegalTransition { from, verb }),
        })
    }

    /// Tells whether the task is out of the desk's hands until somebody reopens it.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::TimedOut | Self::Canceled)
    }

    /// Tells whether somebody works on the task.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Assigned | Self::Running)
    }

    /// Returns the verbs the table allows.
    pub fn legal_verbs(self) -> impl Iterator<Item = Verb> {
        Verb::ALL.iter().copied().filter(move |verb| self.after(*verb).is_ok())
    }
}

fn legal(from: State) -> String {
    let verbs: Vec<_> = from.legal_verbs().map(Verb::as_str).collect();
    verbs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_states_leave_only_by_retry_reopen_and_cancel() {
        for state in State::ALL.iter().filter(|state| state.is_terminal()) {
            for verb in state.legal_verbs() {
                assert!(
                    matches!(verb, Verb::Retry | Verb::Reopen | Verb::Cancel),
                    "{state} leaves by {verb}"
                );
            }
        }
    }

    #[test]
    fn every_verb_is_legal_somewhere_and_every_state_has_a_way_out() {
        for verb in Verb::ALL {
            assert!(State::ALL.iter().any(|state| state.after(*verb).is_ok()), "{verb}");
        }
        for state in State::ALL {
            assert!(state.legal_verbs().next().is_some(), "{state}");
        }
    }

    #[test]
    fn first_terminal_state_wins() {
        for state in [State::Done, State::Canceled] {
            assert_eq!(state.legal_verbs().collect::<Vec<_>>(), [Verb::Reopen], "{state}");
        }
    }

    #[test]
    fn a_refusal_names_the_legal_verbs() {
        let refusal = State::Done.after(Verb::Park).unwrap_err().to_string();
        assert_eq!(refusal, "park is not possible for a done task: legal verbs are reopen");
    }
}
