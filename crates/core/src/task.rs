//! A task: the unit of work, and what may be changed about it.

use crate::capabilities::Capabilities;
use crate::clock::Timestamp;
use crate::doors::Doors;
use crate::id::{DispatchId, Fence, ProjectId, ProjectNumber, TaskId, TaskNumber};
use crate::kind::Kind;
use crate::label::TaskLabel;
use crate::line::{Lane, Rank};
use crate::priority::Priority;
use crate::profile::Ranking;
use crate::reason::Counters;
use crate::state::{IllegalTransition, State, Verb};

/// The longest title, in characters.
pub const TITLE_CHARS_MAX: usize = 500;
/// The longest description, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 100_000;
/// How often a task is tried again unless it says otherwise.
pub const MAX_RETRIES_DEFAULT: i64 = 3;
/// The most retries a task may ask for.
pub const MAX_RETRIES_MAX: i64 = 100;
/// The most points an operator may add or take.
pub const BOOST_MAX: i64 = 10_000;
/// The longest name of an owner, in characters.
pub const OWNER_CHARS_MAX: usize = 100;
/// The longest external key, in characters.
pub const EXTERNAL_KEY_CHARS_MAX: usize = 300;
/// The longest path of an artifact, in characters.
pub const ARTIFACT_CHARS_MAX: usize = 500;

/// A unit of work.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, as it is stored")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its permanent id.
    pub id: TaskId,
    /// Its short number.
    pub number: TaskNumber,
    /// What people call it.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// The sort of work.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// Points the operator added.
    pub boost: i64,
    /// The ways it may leave.
    pub doors: Doors,
    /// What it takes to do it.
    pub needs: Capabilities,
    /// Whose agents may do it; anybody's if nobody is named.
    pub owner: Option<String>,
    /// The words people sort it by, in the order of their names.
    pub labels: Vec<TaskLabel>,
    /// What it is called where it came from; no two have the same.
    pub external_key: Option<String>,
    /// The project it belongs to.
    pub project: Option<ProjectNumber>,
    /// That project's permanent id.
    pub project_id: Option<ProjectId>,
    /// The task it is a part of.
    pub parent: Option<TaskNumber>,
    /// That task's permanent id.
    pub parent_id: Option<TaskId>,
    /// How many tasks it lies below.
    pub depth: i64,
    /// Whether it waits for its parent.
    pub gated_by_parent: bool,
    /// Whether its parent is not done; false without a parent.
    pub parent_open: bool,
    /// How many of its blockers hold it back.
    pub open_blockers: i64,
    /// The artifact it waits for.
    pub artifact: Option<String>,
    /// Whether that is there.
    pub artifact_present: bool,
    /// How often it may be tried again.
    pub max_retries: i64,
    /// Where the signal behind it came from.
    pub signal_source: Option<String>,
    /// The signal itself, as JSON.
    pub signal_payload: Option<String>,
    /// The guess behind it, as JSON.
    pub hypothesis: Option<String>,
    /// What the last agent said about it.
    pub agent_summary: Option<String>,
    /// What came of it, as JSON.
    pub result: Option<String>,
    /// The commits that came of it, as JSON.
    pub commits: Option<String>,
    /// The pull requests that came of it, as JSON.
    pub pull_requests: Option<String>,
    /// What an agent asked last.
    pub question: Option<String>,
    /// What was answered to that.
    pub answer: Option<String>,
    /// Whether its prompt could not be made when it was its turn.
    pub prompt_broken: bool,
    /// What last went wrong.
    pub last_error: Option<String>,
    /// The earliest moment it may be handed out.
    pub not_before: Option<Timestamp>,
    /// Since when it waits; kept by every return to the queue but admit and reopen.
    pub queued_at: Option<Timestamp>,
    /// How often it was handed out, ever.
    pub fence: Fence,
    /// How often it was handed out since it was last admitted afresh.
    pub attempt: i64,
    /// Its dispatch that is not closed.
    pub dispatch: Option<DispatchId>,
    /// How often in a row it failed, by cause.
    pub counters: Counters,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was first handed out.
    pub started_at: Option<Timestamp>,
    /// When it was finished.
    pub completed_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
}

/// Where a task is kept while it waits. Every queued task without a dispatch is in
/// exactly one of the last three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It does not wait for a claim.
    Nowhere,
    /// It waits for a blocker, its parent or an artifact.
    Held,
    /// It waits for a moment.
    Timer(Timestamp),
    /// It stands in line.
    Line,
}

/// What a task's place in line depends on; the profile and the goal aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    lane: Lane,
    priority: Priority,
    boost: i64,
    depth: i64,
    failures: i64,
    queued_at: Option<Timestamp>,
}

impl Task {
    /// Returns where the task belongs: in line exactly if it is ready.
    ///
    /// Time plays no part: a moment that is past is removed from the task by
    /// [`Task::forget_past`] in the transaction that moves it into the line.
    pub fn place(&self) -> Place {
        let waits = self.state == State::Queued && self.dispatch.is_none() && self.deleted_at.is_none();
        match self.not_before {
            _ if !waits || self.queued_at.is_none() => Place::Nowhere,
            _ if self.is_held() => Place::Held,
            Some(at) => Place::Timer(at),
            None => Place::Line,
        }
    }

    /// Tells whether a blocker, the parent or an artifact holds the task back.
    pub const fn is_held(&self) -> bool {
        self.open_blockers > 0 || self.waits_for_parent() || self.waits_for_artifact()
    }

    /// Tells whether the task waits for its parent.
    pub const fn waits_for_parent(&self) -> bool {
        self.gated_by_parent && self.parent_open
    }

    /// Tells whether the task waits for an artifact.
    pub const fn waits_for_artifact(&self) -> bool {
        self.artifact.is_some() && !self.artifact_present
    }

    /// Returns the task's rank, if it waits.
    pub fn rank(&self, ranking: &Ranking) -> Option<Rank> {
        let queued_at = self.queued_at?;
        let points = ranking.profile.score(self, ranking.goal, queued_at).points();
        Some(Rank::new(&ranking.profile, points, queued_at, self.number))
    }

    /// Returns what the task's place in line depends on.
    pub fn standing(&self) -> Standing {
        Standing {
            lane: self.lane(),
            priority: self.priority,
            boost: self.boost,
            depth: self.depth,
            failures: self.counters.crash + self.counters.retry,
            queued_at: self.queued_at,
        }
    }

    /// Drops a moment to wait for that has come.
    pub fn forget_past(&mut self, now: Timestamp) {
        self.not_before = self.not_before.filter(|at| *at > now);
    }

    /// Returns the lane the task belongs to.
    pub fn lane(&self) -> Lane {
        Lane {
            project: self.project,
            kind: self.kind,
            needs: self.needs.clone(),
            owner: self.owner.clone(),
            doors: self.doors,
        }
    }

    /// Applies a verb: the new state and what goes with it.
    pub fn apply(&mut self, verb: Verb, now: Timestamp) -> Result<(), IllegalTransition> {
        self.state = self.state.after(verb)?;
        match verb {
            Verb::Admit => {
                self.queued_at = Some(now);
                self.attempt = 0;
            }
            Verb::Reopen => {
                self.queued_at = Some(now);
                self.completed_at = None;
                self.start_afresh();
            }
            Verb::Retry => {
                self.queued_at = self.queued_at.or(Some(now));
                self.start_afresh();
            }
            Verb::Park => {
                self.queued_at = None;
                self.prompt_broken = false;
            }
            Verb::Claim | Verb::Assign => {
                self.started_at = self.started_at.or(Some(now));
                self.not_before = None;
                self.fence.0 += 1;
                self.attempt += 1;
            }
            Verb::Complete | Verb::Approve | Verb::Close => {
                self.completed_at = Some(now);
                self.counters = Counters::default();
                self.last_error = None;
            }
            Verb::Start
            | Verb::Submit
            | Verb::SendBack
            | Verb::Requeue
            | Verb::Block
            | Verb::Answer
            | Verb::Fail
            | Verb::TimeOut
            | Verb::Cancel => {}
        }
        Ok(())
    }

    fn start_afresh(&mut self) {
        self.counters = Counters::default();
        self.not_before = None;
        self.attempt = 0;
        self.prompt_broken = false;
    }
}
