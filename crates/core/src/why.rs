//! Why a task runs, waits or never will: what stands in its way, and what would
//! have to change.

use crate::clock::Timestamp;
use crate::doors::Door;
use crate::gate::{Gate, LimitScope};
use crate::id::TaskNumber;
use crate::project::ProjectStatus;
use crate::state::State;
use crate::words::words;

/// How far a position is counted.
pub const POSITION_MAX: i64 = 1_000;

words! {
    /// The answer in one word, from the best to the worst.
    pub enum Verdict, "verdict" {
        /// Somebody works on it.
        Running = "running",
        /// The next claim takes it.
        Next = "next",
        /// It gets its turn without anybody doing anything but working on.
        Waiting = "waiting",
        /// Another task or an artifact has to come first.
        Held = "held",
        /// A person has to act.
        Blocked = "blocked",
        /// Nothing under way will ever start it.
        Impossible = "impossible",
    }
}

/// One thing between a task and its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not queued.
    State(State),
    /// Its last dispatch has not ended yet.
    Ending(Timestamp),
    /// Another task comes first.
    Blocker(TaskNumber, State),
    /// Its parent comes first.
    Parent {
        /// The parent.
        number: TaskNumber,
        /// Where it stands.
        state: State,
        /// Whether it was deleted.
        deleted: bool,
    },
    /// An artifact is missing.
    Artifact(String),
    /// Something has to come first.
    Held,
    /// Its moment has not come.
    NotBefore(Timestamp),
    /// Its prompt could not be made; it is tried again then.
    PromptBroken(Timestamp),
    /// A gate is closed.
    Gate(Gate),
    /// Others are ahead of it: how many, counted to [`POSITION_MAX`].
    Behind(i64),
}

impl Obstacle {
    /// Returns the word for this sort of obstacle; gates have those of the 204 answer.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::Ending(_) => "ending",
            Self::Blocker(..) => "blocker",
            Self::Parent { .. } => "parent",
            Self::Artifact(_) => "artifact",
            Self::Held => "held",
            Self::NotBefore(_) | Self::PromptBroken(_) => "not_before",
            Self::Gate(gate) => gate.nothing().as_str(),
            Self::Behind(_) => "behind",
        }
    }

    /// Returns the verdict if this were the only obstacle.
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self::State(State::Running | State::Assigned) => Verdict::Running,
            Self::State(State::Done | State::Canceled) => Verdict::Impossible,
            Self::State(_) => Verdict::Blocked,
            Self::Blocker(..) | Self::Artifact(_) | Self::Held => Verdict::Held,
            Self::Parent { deleted: true, .. }
            | Self::Parent { state: State::Failed | State::TimedOut | State::Canceled, .. } => {
                Verdict::Impossible
            }
            Self::Parent { .. } => Verdict::Held,
            Self::Ending(_) | Self::NotBefore(_) | Self::Behind(_) => Verdict::Waiting,
            Self::PromptBroken(_) => Verdict::Blocked,
            Self::Gate(Gate::Project(_, ProjectStatus::Canceled)) => Verdict::Impossible,
            // Nothing that ends makes room under a limit of nothing.
            Self::Gate(Gate::Project(..) | Gate::Limit { limit: 0, .. }) => Verdict::Blocked,
            Self::Gate(Gate::Limit { .. } | Gate::RateLimited(..)) => Verdict::Waiting,
            Self::Gate(_) => Verdict::Impossible,
        }
    }

    /// Returns the moment at which the obstacle goes by itself, if that is known.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Ending(at)
            | Self::NotBefore(at)
            | Self::PromptBroken(at)
            | Self::Gate(Gate::RateLimited(_, at)) => Some(*at),
            _ => None,
        }
    }

    /// Returns what stands in the way, for people.
    pub fn detail(&self) -> String {
        match self {
            Self::State(state) => format!("it is {state}"),
            Self::Ending(_) => "its last dispatch has not ended yet".to_owned(),
            Self::Blocker(number, state) => format!("it is blocked by #{number}, which is {state}"),
            Self::Parent { number, deleted: true, .. } => format!("its parent #{number} was deleted"),
            Self::Parent { number, state, .. } => format!("its parent #{number} is {state}"),
            Self::Artifact(path) => format!("the artifact {path} is missing"),
            Self::Held => "a blocker, its parent or an artifact has to come first".to_owned(),
            Self::NotBefore(_) => "its moment has not come".to_owned(),
            Self::PromptBroken(_) => "its prompt could not be made, and is tried again then".to_owned(),
            Self::Gate(gate) => gate_detail(gate),
            Self::Behind(count) if *count >= POSITION_MAX => {
                format!("{POSITION_MAX} or more are ahead of it")
            }
            Self::Behind(1) => "1 is ahead of it".to_owned(),
            Self::Behind(count) => format!("{count} are ahead of it"),
        }
    }

    /// Returns what would take the obstacle away, for people.
    pub fn change(&self) -> String {
        match self {
            Self::State(state) => state_change(*state).to_owned(),
            Self::Ending(_) => "its holder reports, or its lease ends".to_owned(),
            Self::Blocker(number, _) => format!("finish or cancel #{number}, or take the relation back"),
            Self::Parent { number, deleted: true, .. } => {
                format!("give it another parent than #{number}, or do not gate it")
            }
            Self::Parent { number, .. } => format!("finish #{number}, or do not gate it by its parent"),
            Self::Artifact(path) => format!("provide {path}"),
            Self::Held => "finish what it waits for".to_owned(),
            Self::NotBefore(_) => "wait for its moment, or take that back".to_owned(),
            Self::PromptBroken(_) => "mend its template, or what its prompt is made of".to_owned(),
            Self::Gate(gate) => gate_change(gate),
            Self::Behind(_) => "work off what is ahead of it, or raise its boost".to_owned(),
        }
    }
}

fn state_change(state: State) -> &'static str {
    match state {
        State::Triage | State::Backlog => "admit it",
        State::InReview => "approve it, or send it back",
        State::Blocked | State::Failed | State::TimedOut => "retry it",
        State::Done | State::Canceled => "reopen it",
        State::Queued | State::Assigned | State::Running => "nothing",
    }
}

fn gate_detail(gate: &Gate) -> String {
    match gate {
        Gate::OtherProject => "the claimer asks for another project".to_owned(),
        Gate::OtherKind(kind) => format!("the claimer does not ask for {kind}"),
        Gate::Door(doors) => {
            let words: Vec<_> = doors.iter().map(Door::as_str).collect();
            format!("it leaves by {} only", words.join(" or "))
        }
        Gate::Needs(missing) => format!("the claimer lacks {}", missing.join(", ")),
        Gate::Owner(owner) => format!("it is for agents of {owner}"),
        Gate::Project(name, status) => format!("project {name} is {status}"),
        Gate::Limit { scope, of, limit, used } => {
            let of = match scope {
                LimitScope::Total => String::new(),
                scope => format!(" of {scope} {of}"),
            };
            format!("{used} of at most {limit}{of} are handed out")
        }
        Gate::RateLimited(account, _) => format!("{account} refuses work for a while"),
    }
}

fn gate_change(gate: &Gate) -> String {
    match gate {
        Gate::OtherProject | Gate::OtherKind(_) => "ask without that filter".to_owned(),
        Gate::Door(_) => "allow that door".to_owned(),
        Gate::Needs(missing) => format!("claim with {}, or drop the need", missing.join(", ")),
        Gate::Owner(owner) => format!("claim for {owner}"),
        Gate::Project(name, _) => format!("resume project {name}"),
        Gate::Limit { limit: 0, .. } => "raise the limit".to_owned(),
        Gate::Limit { .. } => "one of those ends, or the limit is raised".to_owned(),
        Gate::RateLimited(..) => "wait, or work on another account".to_owned(),
    }
}

/// Returns the worst verdict of all obstacles: each of them has to go.
pub fn verdict(obstacles: &[Obstacle]) -> Verdict {
    obstacles.iter().map(Obstacle::verdict).max().unwrap_or(Verdict::Next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_way_is_next() {
        assert_eq!(verdict(&[]), Verdict::Next);
    }

    #[test]
    fn the_worst_obstacle_decides() {
        let blocker = Obstacle::Blocker(TaskNumber(7), State::Running);
        let later = Obstacle::NotBefore(Timestamp::default());
        assert_eq!(verdict(&[later.clone(), blocker.clone()]), Verdict::Held);
        assert_eq!(verdict(&[Obstacle::State(State::Backlog), blocker]), Verdict::Blocked);
        assert_eq!(verdict(&[later, Obstacle::State(State::Done)]), Verdict::Impossible);
    }

    #[test]
    fn l12_a_gating_parent_that_cannot_be_done_any_more_makes_it_impossible() {
        let parent = |state, deleted| Obstacle::Parent { number: TaskNumber(1), state, deleted };
        for state in [State::Failed, State::TimedOut, State::Canceled] {
            assert_eq!(parent(state, false).verdict(), Verdict::Impossible, "{state}");
        }
        assert_eq!(parent(State::Queued, true).verdict(), Verdict::Impossible);
        assert_eq!(parent(State::Running, false).verdict(), Verdict::Held);
    }

    #[test]
    fn every_state_but_queued_and_in_hand_says_what_to_do() {
        for state in State::ALL {
            let change = Obstacle::State(*state).change();
            let acts = !matches!(state, State::Queued | State::Running | State::Assigned);
            assert_eq!(change != "nothing", acts, "{state}");
        }
    }

    #[test]
    fn a_limit_says_of_what_and_how_many() {
        let gate = |scope| Gate::Limit { scope, of: "code".to_owned(), limit: 5, used: 5 };
        let detail = |scope| Obstacle::Gate(gate(scope)).detail();
        assert_eq!(detail(LimitScope::Kind), "5 of at most 5 of kind code are handed out");
        assert_eq!(detail(LimitScope::Total), "5 of at most 5 are handed out");
    }
}
