//! Pick candidates for claimers, in the order they came.

use std::collections::{HashMap, HashSet};

use extraboard_core::gate::{Claimer, Conditions, closed_gates};
use extraboard_core::id::{LaneId, TaskNumber};
use extraboard_core::line::Lane;

use super::heads::{self, Candidate};
use super::lanes::{self, Lanes, Stratum};
use super::section::{Levels, Section};
use crate::error::Error;
use crate::tx::Tx;

/// How many rows of the line a claim walks before it looks lane by lane.
const WALK_ROWS: usize = 64;

/// Gives each claimer the first item that is open to it, in the order claimers came.
///
/// Items are lanes in the order of the line; what is given counts in limits at once,
/// so that many claimers together get what they would get one after the other.
pub(crate) fn match_up(
    claimers: &[&Claimer],
    items: &[&Lane],
    conditions: &Conditions,
) -> Vec<Option<usize>> {
    let mut conditions = conditions.clone();
    let mut given = HashSet::new();
    claimers
        .iter()
        .map(|claimer| {
            let mut known: HashMap<*const Lane, bool> = HashMap::new();
            let best = items.iter().enumerate().find(|(index, lane)| {
                let lane: &Lane = lane;
                let mut is_open = || closed_gates(lane, claimer, &conditions).is_empty();
                !given.contains(index) && *known.entry(lane).or_insert_with(&mut is_open)
            });
            let (index, lane) = best.map(|(index, lane)| (index, *lane))?;
            given.insert(index);
            conditions.usage.take(lane, claimer);
            Some(index)
        })
        .collect()
}

/// Picks tasks for these claimers, and so many to spare for the first of them; tasks
/// in `passed` are not considered.
pub(super) async fn pick<T: Tx>(
    tx: &mut T,
    section: &Section,
    claimers: &[&Claimer],
    spare: usize,
    passed: &HashSet<TaskNumber>,
) -> Result<Vec<TaskNumber>, Error> {
    let Some(first) = claimers.first() else { return Ok(Vec::new()) };
    let wanted = claimers.len() + spare + passed.len();
    // Many levels are many walks, so each of them is kept short.
    let rows = if section.levels == Levels::One { wanted.max(WALK_ROWS) } else { wanted };
    let heads::Walk { candidates: walk, is_whole } = heads::walk(tx, section, rows).await?;
    let mut ids: Vec<_> = walk.iter().map(|candidate| candidate.lane.0).collect();
    ids.sort_unstable();
    ids.dedup();
    let lanes = lanes::read(tx, ids).await?;
    let eager: Vec<_> = claimers.iter().copied().chain(std::iter::repeat_n(*first, spare)).collect();
    let (picked, is_complete) = choose(&eager, &walk, &lanes, section, passed);
    if is_complete || is_whole {
        return Ok(picked);
    }
    let (heads, lanes) = open_heads(tx, section, &eager, wanted).await?;
    Ok(choose(&eager, &heads, &lanes, section, passed).0)
}

/// Chooses among candidates; tells whether every claimer got something.
fn choose(
    claimers: &[&Claimer],
    candidates: &[Candidate],
    lanes: &Lanes,
    section: &Section,
    passed: &HashSet<TaskNumber>,
) -> (Vec<TaskNumber>, bool) {
    let (mut numbers, mut items) = (Vec::new(), Vec::new());
    for candidate in candidates.iter().filter(|candidate| !passed.contains(&candidate.rank.number)) {
        if let Some(lane) = lanes.get(&candidate.lane) {
            numbers.push(candidate.rank.number);
            items.push(lane);
        }
    }
    let matched = match_up(claimers, &items, &section.conditions);
    let is_complete = matched.iter().all(Option::is_some);
    (matched.into_iter().flatten().map(|index| numbers[index]).collect(), is_complete)
}

/// Reads the heads of all lanes that are open to any of these claimers.
async fn open_heads<T: Tx>(
    tx: &mut T,
    section: &Section,
    claimers: &[&Claimer],
    rows: usize,
) -> Result<(Vec<Candidate>, Lanes), Error> {
    let (strata, lanes) = match section.levels {
        // One order for all of them, so a lane is one stratum.
        Levels::One => {
            let lanes = lanes::waiting(tx).await?;
            (lanes.keys().map(|lane| Stratum { lane: *lane, level: 0 }).collect(), lanes)
        }
        Levels::Many => {
            let strata = lanes::strata(tx).await?;
            let lanes = lanes_of(tx, &strata).await?;
            (strata, lanes)
        }
    };
    let mut is_open: HashMap<LaneId, bool> = HashMap::new();
    let open: Vec<_> = strata
        .into_iter()
        .filter(|stratum| {
            *is_open.entry(stratum.lane).or_insert_with(|| {
                lanes.get(&stratum.lane).is_some_and(|lane| is_open_to_any(lane, claimers, section))
            })
        })
        .collect();
    Ok((heads::of_strata(tx, section, &open, rows).await?, lanes))
}

fn is_open_to_any(lane: &Lane, claimers: &[&Claimer], section: &Section) -> bool {
    claimers.iter().any(|claimer| closed_gates(lane, claimer, &section.conditions).is_empty())
}

/// Reads the lanes of strata.
pub(crate) async fn lanes_of<T: Tx>(tx: &mut T, strata: &[Stratum]) -> Result<Lanes, Error> {
    let mut ids: Vec<_> = strata.iter().map(|stratum| stratum.lane.0).collect();
    ids.dedup();
    lanes::read(tx, ids).await
}
