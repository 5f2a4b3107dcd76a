//! Plans for the program that measures: what it is to do with which databases.

use serde_json::{Value, json};

use super::options::{Database, Extent, Named as _, Options, Part, Profile};

/// A line to be filled: a database and how many tasks wait there.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) depth: u32,
    /// How many tasks at its head are for others.
    pub(super) foreign: u32,
    pub(super) tasks: Tasks,
}

/// What sort of tasks wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tasks {
    Bare,
    /// With all that prompts tell of.
    Families,
}

impl Tasks {
    fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Families => "families",
        }
    }
}

/// In how many lanes tasks for others stand.
const FOREIGN_LANES: u32 = 250;
const CALLERS: [u32; 2] = [16, 64];
/// Prompts are made while others wait, so it matters whether there are any.
pub(super) const PROMPTS_CALLERS: [u32; 3] = [1, 16, 64];
/// A round is longer than this, and so is a sample by itself.
const ONE_ROUND_MS: u32 = 1;
const DRAIN_CALLERS: u32 = 16;
/// How many clients want work while there is none.
const CLIENTS: u32 = 16;
/// How long a client that polls lets pass.
const POLL_MS: u32 = 1_000;
/// How many single commits are timed beside wakes.
const COMMITS: u32 = 50;

/// Makes a plan for these lines.
pub(super) fn plan(options: &Options, profile: Profile, lines: &[Line], parts: &[Value]) -> Value {
    let lines: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "name": line.name, "url": line.url, "depth": line.depth,
                "foreign": line.foreign, "lanes": FOREIGN_LANES, "tasks": line.tasks.name(),
            })
        })
        .collect();
    json!({ "profile": profile.name(), "lines": lines, "parts": parts, "samples": options.samples })
}

pub(super) fn fill() -> Vec<Value> {
    vec![json!("fill")]
}

/// Returns what is measured on lines of different depths.
pub(super) fn of_depths(options: &Options, database: Database) -> Vec<Value> {
    let extent = options.extent;
    // On SQLite every commit is shared unless there is but one caller.
    let kinds: &[&str] = match database {
        Database::Sqlite => &["ceiling", "unshared", "claim", "pair"],
        Database::Postgres => &["ceiling", "claim", "pair"],
    };
    let claims = json!({ "claims": {
        "kinds": kinds, "callers": CALLERS, "replicas": replicas(database),
        "rounds": extent.rounds(), "sample_ms": extent.sample_ms(),
    }});
    // It is asked for any task there is, so before most of them are claimed.
    let parts = [
        (Part::Why, json!({ "why": { "asks": extent.singles() } })),
        (Part::Singles, singles(extent)),
        (Part::Claims, claims),
    ];
    parts.into_iter().filter(|(part, _)| options.has(*part)).map(|(_, plan)| plan).collect()
}

pub(super) fn singles(extent: Extent) -> Value {
    json!({ "singles": { "claims": extent.singles() } })
}

pub(super) fn drain(extent: Extent) -> Value {
    let [_, claims, window] = extent.drain();
    json!({ "drain": { "callers": DRAIN_CALLERS, "claims": claims, "window": window } })
}

/// Returns how clients that wait are measured beside clients that poll.
pub(super) fn wake(extent: Extent, database: Database) -> Value {
    let [waited, polled] = extent.wakes();
    json!({ "wake": {
        "clients": CLIENTS, "replicas": replicas(database), "waited": waited, "polled": polled,
        "poll_ms": POLL_MS, "commits": COMMITS,
    }})
}

/// Returns how pairs by HTTP are measured beside pairs by the desk.
pub(super) fn throughput(extent: Extent, database: Database) -> Value {
    let [_, round] = extent.throughput();
    json!({ "claims": {
        "kinds": ["pair", "http"], "callers": CALLERS, "replicas": replicas(database),
        "rounds": [round], "sample_ms": extent.sample_ms(),
    }})
}

/// Returns how claims with prompts are measured beside claims without.
pub(super) fn prompts(extent: Extent) -> Value {
    let [_, round] = extent.prompts();
    json!({ "claims": {
        "kinds": ["claim", "prompted"], "callers": PROMPTS_CALLERS, "replicas": [1],
        "rounds": [round], "sample_ms": ONE_ROUND_MS,
    }})
}

/// One process owns an SQLite file.
fn replicas(database: Database) -> &'static [u32] {
    match database {
        Database::Sqlite => &[1],
        Database::Postgres => &[1, 2],
    }
}
