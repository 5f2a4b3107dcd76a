//! What to measure, as `cargo xtask bench` writes it.

use extraboard_core::profile::ProfileName;
use serde::{Deserialize, Deserializer};

/// What one run of this program measures.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Plan {
    /// How tasks are ranked.
    #[serde(deserialize_with = "profile")]
    pub(crate) profile: ProfileName,
    /// The databases, a line of waiting tasks in each.
    pub(crate) lines: Vec<LinePlan>,
    /// What is done with them, in this order.
    pub(crate) parts: Vec<Part>,
    /// How often each thing is measured.
    pub(crate) samples: usize,
}

/// A database and the tasks that wait in it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LinePlan {
    /// What its samples are known by.
    pub(crate) name: String,
    /// The database.
    pub(crate) url: String,
    /// How many tasks wait.
    pub(crate) depth: i64,
    /// How many of those stand ahead of all others and are not for us.
    #[serde(default)]
    pub(crate) foreign: i64,
    /// In how many lanes those are.
    #[serde(default)]
    pub(crate) lanes: i64,
    /// What tasks wait.
    #[serde(default)]
    pub(crate) tasks: TasksPlan,
}

/// What sort of tasks a line is filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TasksPlan {
    /// As the profile ranks them, and nothing else about them.
    #[default]
    Bare,
    /// With all that prompts tell of.
    Families,
}

/// Something that is measured, or done so that it can be.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// Fills lines that are empty; all other parts want full ones.
    Fill,
    Claims(ClaimsPlan),
    Singles(SinglesPlan),
    Why(WhyPlan),
    Drain(DrainPlan),
    Wake(WakePlan),
}

/// Many callers at once, each kind of work in turn.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClaimsPlan {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) callers: Vec<usize>,
    /// How many desks share the database.
    pub(crate) replicas: Vec<usize>,
    /// How long a sample is timed, at least.
    pub(crate) sample_ms: u64,
    /// How many claims are made before as many tasks are added: a sample for each, unless that is
    /// too much of the line.
    pub(crate) rounds: Vec<usize>,
}

/// What callers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The least a claim could do.
    Ceiling,
    /// The same for one caller, so that nobody shares a commit.
    Unshared,
    Claim,
    /// A claim whose prompt is made by the templates that are shipped.
    Prompted,
    /// A claim, and the report that completes it.
    Pair,
    /// The same by HTTP, a connection for each caller.
    Http,
}

impl Kind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Unshared => "unshared",
            Self::Claim => "claim",
            Self::Prompted => "prompted",
            Self::Pair => "pair",
            Self::Http => "http",
        }
    }
}

/// One caller, one claim at a time, the lines in turn.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SinglesPlan {
    /// How many claims of each line make a sample.
    pub(crate) claims: usize,
}

/// One caller that asks why.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WhyPlan {
    /// How many questions make a sample.
    pub(crate) asks: usize,
}

/// Claims without anything coming in.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DrainPlan {
    pub(crate) callers: usize,
    pub(crate) claims: usize,
    /// How many claims make a sample.
    pub(crate) window: usize,
}

/// Clients that want work by HTTP while there is none, and a task at a time that comes in.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WakePlan {
    /// How many clients want work.
    pub(crate) clients: usize,
    /// How many servers share the database; tasks come in at the first, clients are at the last.
    pub(crate) replicas: Vec<usize>,
    /// How many tasks make a sample where clients wait.
    pub(crate) waited: usize,
    /// How many where clients poll.
    pub(crate) polled: usize,
    /// How long clients that poll let pass when there was nothing.
    pub(crate) poll_ms: u64,
    /// How many single commits are timed beside it.
    pub(crate) commits: usize,
}

fn profile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProfileName, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(serde::de::Error::custom)
}
