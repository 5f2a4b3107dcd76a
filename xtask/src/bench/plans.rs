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
}

/// In how many lanes tasks for others stand.
const FOREIGN_LANES: u32 = 250;
const CALLERS: [u32; 2] = [16, 64];
const DRAIN_CALLERS: u32 = 16;

/// Makes a plan for these lines.
pub(super) fn plan(options: &Options, profile: Profile, lines: &[Line], parts: &[Value]) -> Value {
    let lines: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "name": line.name, "url": line.url, "depth": line.depth,
                "foreign": line.foreign, "lanes": FOREIGN_LANES,
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
    // One process owns an SQLite file, and there every commit is shared unless there is but one caller.
    let (kinds, replicas): (&[&str], &[u32]) = match database {
        Database::Sqlite => (&["ceiling", "unshared", "claim", "pair"], &[1]),
        Database::Postgres => (&["ceiling", "claim", "pair"], &[1, 2]),
    };
    let claims = json!({ "claims": {
        "kinds": kinds, "callers": CALLERS, "replicas": replicas,
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
