//! What a `PATCH` of a status means: from × asked-for × who.
//!
//! Seed 000's agents report by patching a status. Here that is a verb or a
//! refusal, never a bare write. The whole table is printed in
//! `docs/lifecycle.md` and compared with it by a test.

use crate::state::{State, Verb};
use crate::status::Status;

/// In which capacity somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Holds the task's unclosed dispatch.
    Holder,
    /// A person.
    Person,
    /// Any other agent, known by name or not.
    Agent,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Holder, Self::Person, Self::Agent];
}

/// What asking for a status comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// It has that status already.
    Nothing,
    /// A verb of the state machine.
    Apply(Verb),
    /// Opens a dispatch for exactly this task.
    Claim,
    /// Reports on the dispatch: done.
    Complete,
    /// Reports on the dispatch: given back.
    Release,
    /// Reports on the dispatch: a person is needed.
    Ask,
}

impl Ask {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Apply(verb) => verb.as_str(),
            Self::Claim => "claim",
            Self::Complete => "complete",
            Self::Release => "release",
            Self::Ask => "ask",
        }
    }

    /// Returns the verb of the state machine behind it.
    pub const fn verb(self) -> Option<Verb> {
        match self {
            Self::Nothing => None,
            Self::Apply(verb) => Some(verb),
            Self::Claim => Some(Verb::Claim),
            Self::Complete => Some(Verb::Complete),
            Self::Release => Some(Verb::Requeue),
            Self::Ask => Some(Verb::Block),
        }
    }
}

/// Returns what asking for a status means, or nothing if it is refused.
pub fn ask(from: State, asked: Status, role: Role) -> Option<Ask> {
    if let Some(ask) = holder_ask(from, asked, role) {
        return Some(ask);
    }
    if Status::of(from) == asked && (!from.is_active() || role != Role::Agent) {
        return Some(Ask::Nothing);
    }
    match (from, asked) {
        (State::Triage | State::Backlog, Status::Todo) => Some(Ask::Apply(Verb::Admit)),
        (State::Queued, Status::Backlog) => Some(Ask::Apply(Verb::Park)),
        (State::Queued, Status::InProgress) => Some(Ask::Claim),
        _ if role == Role::Person => person_verb(from, asked).map(Ask::Apply),
        _ => None,
    }
}

/// Returns the reports a holder makes by asking for a status.
fn holder_ask(from: State, asked: Status, role: Role) -> Option<Ask> {
    if role != Role::Holder || !from.is_active() {
        return None;
    }
    match asked {
        Status::Done => Some(Ask::Complete),
        Status::Todo => Some(Ask::Release),
        Status::Blocked => Some(Ask::Ask),
        Status::Canceled => Some(Ask::Apply(Verb::Cancel)),
        Status::Triage | Status::Backlog | Status::InProgress | Status::InReview | Status::Failed => None,
    }
}

/// Returns the verbs that only a person may ask for.
fn person_verb(from: State, asked: Status) -> Option<Verb> {
    let verb = match (from, asked) {
        (State::InReview, Status::Done) => Verb::Approve,
        (State::InReview, Status::Todo) => Verb::SendBack,
        (State::Blocked | State::Failed | State::TimedOut, Status::Todo) => Verb::Retry,
        (State::Done | State::Canceled, Status::Todo) => Verb::Reopen,
        (_, Status::Done) => Verb::Close,
        (_, Status::Canceled) => Verb::Cancel,
        _ => return None,
    };
    from.after(verb).is_ok().then_some(verb)
}

/// Returns what may be asked for instead, and what it would mean.
pub fn legal_asks(from: State, role: Role) -> Vec<(Ask, Status)> {
    let legal = |asked: &Status| ask(from, *asked, role).map(|ask| (ask, *asked));
    Status::ALL.iter().filter_map(legal).filter(|(ask, _)| *ask != Ask::Nothing).collect()
}

/// Tells whether a verb has a route of its own: `POST /api/issues/:id/<verb>`.
pub const fn has_route(verb: Verb) -> bool {
    matches!(verb, Verb::Admit | Verb::Park | Verb::Cancel | Verb::Retry | Verb::Reopen)
}

/// Tells whether somebody in that role may use the verb by its own route.
pub const fn may(role: Role, verb: Verb) -> bool {
    match role {
        Role::Person => true,
        Role::Holder => matches!(verb, Verb::Admit | Verb::Park | Verb::Cancel),
        Role::Agent => matches!(verb, Verb::Admit | Verb::Park),
    }
}

/// Returns the verbs somebody in that role may use by their own routes now.
pub fn legal_moves(from: State, role: Role) -> Vec<&'static str> {
    from.legal_verbs().filter(|verb| has_route(*verb) && may(role, *verb)).map(Verb::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> impl Iterator<Item = (State, Status, Role)> {
        State::ALL.iter().flat_map(|from| {
            Status::ALL.iter().flat_map(move |asked| Role::ALL.map(|role| (*from, *asked, role)))
        })
    }

    #[test]
    fn every_allowed_cell_is_a_legal_transition_to_the_asked_status() {
        for (from, asked, role) in cells() {
            let Some(verb) = ask(from, asked, role).and_then(Ask::verb) else { continue };
            let to = from.after(verb).expect("an allowed cell is in the table");
            assert_eq!(Status::of(to), asked, "{from} asked for {asked} by {role:?}");
        }
    }

    #[test]
    fn an_agent_that_is_not_the_holder_never_closes_anything() {
        for (from, asked, _) in cells().filter(|cell| cell.2 == Role::Agent) {
            let closes = matches!(asked, Status::Done | Status::Canceled | Status::Failed);
            if closes && Status::of(from) != asked {
                assert_eq!(ask(from, asked, Role::Agent), None, "{from} {asked}");
            }
        }
    }

    #[test]
    fn an_agent_cannot_pretend_to_work_on_what_somebody_else_holds() {
        assert_eq!(ask(State::Running, Status::InProgress, Role::Agent), None);
        assert_eq!(ask(State::Queued, Status::InProgress, Role::Agent), Some(Ask::Claim));
    }

    #[test]
    fn a_refusal_can_name_what_is_legal() {
        let words =
            |from, role| legal_asks(from, role).iter().map(|(ask, _)| ask.as_str()).collect::<Vec<_>>();
        assert_eq!(words(State::Done, Role::Person), ["reopen"]);
        assert_eq!(words(State::Running, Role::Holder), ["release", "ask", "complete", "cancel"]);
        assert_eq!(legal_moves(State::Queued, Role::Agent), ["park"]);
        assert_eq!(legal_moves(State::Running, Role::Holder), ["cancel"]);
        assert_eq!(legal_moves(State::Failed, Role::Person), ["retry", "cancel"]);
    }
}
