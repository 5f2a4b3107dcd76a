//! Projects and goals: what tasks belong to, and what they are for.

use crate::clock::Timestamp;
use crate::id::{GoalId, ProjectId, ProjectNumber};
use crate::words::words;

/// The longest name of a project or title of a goal, in characters.
pub const NAME_CHARS_MAX: usize = 200;

words! {
    /// Where a project stands.
    pub enum ProjectStatus, "project status" {
        /// Not looked at yet.
        Backlog = "backlog",
        /// To be done some day.
        Planned = "planned",
        /// Being worked on.
        Active = "active",
        /// Not to be worked on for now.
        Paused = "paused",
        /// Finished.
        Completed = "completed",
        /// Given up.
        Canceled = "canceled",
    }
}

impl ProjectStatus {
    /// Tells whether tasks of such a project are not handed out.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Paused | Self::Canceled)
    }
}

words! {
    /// How a project is doing.
    pub enum Health, "health" {
        /// As planned.
        OnTrack = "on_track",
        /// Could go wrong.
        AtRisk = "at_risk",
        /// Is going wrong.
        OffTrack = "off_track",
    }
}

words! {
    /// Where a goal stands.
    pub enum GoalStatus, "goal status" {
        /// Being pursued.
        Active = "active",
        /// Reached.
        Achieved = "achieved",
        /// Given up.
        Abandoned = "abandoned",
    }
}

/// Something tasks belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its permanent id.
    pub id: ProjectId,
    /// Its short number, used inside.
    pub number: ProjectNumber,
    /// What people call it; no two have the same.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// Where it stands.
    pub status: ProjectStatus,
    /// How it is doing.
    pub health: Health,
    /// The goal it serves.
    pub goal: Option<GoalId>,
    /// The directory its artifacts are looked for in.
    pub workspace: Option<String>,
    /// How many of its tasks may be handed out at once.
    pub run_limit: Option<i64>,
    /// What else its file says, as JSON.
    pub settings: Option<String>,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Something to be reached. Its values are text, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Its permanent id.
    pub id: GoalId,
    /// What people call it.
    pub title: String,
    /// What it is about.
    pub description: Option<String>,
    /// What is measured.
    pub metric: Option<String>,
    /// The value to be reached, a JSON number.
    pub target_value: Option<String>,
    /// The value as it is, a JSON number.
    pub current_value: Option<String>,
    /// What the values are in.
    pub unit: Option<String>,
    /// Where it stands.
    pub status: GoalStatus,
    /// The project it is a goal of.
    pub project: Option<ProjectNumber>,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
