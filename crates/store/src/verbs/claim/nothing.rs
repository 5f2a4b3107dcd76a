//! Why a claimer gets nothing, in the words of the gates.

use extraboard_core::gate::{Claimer, Nothing, closed_gates};

use super::lanes::{self, Lanes};
use super::pick::lanes_of;
use super::section::Section;
use crate::error::Error;
use crate::tx::{Tx, first};
use crate::value::params;

/// What waits, as far as it tells a claimer why it gets nothing.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Lanes with tasks in line.
    lanes: Lanes,
    /// Whether anything waits for a moment.
    timers: bool,
    /// Whether anything is held.
    held: bool,
}

const REST: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM timer) THEN 1 ELSE 0 END, \
       CASE WHEN EXISTS (SELECT 1 FROM held) THEN 1 ELSE 0 END";

/// Reads what waits.
pub(crate) async fn read<T: Tx>(tx: &mut T) -> Result<Waits, Error> {
    let strata = lanes::strata(tx).await?;
    let lanes = lanes_of(tx, &strata).await?;
    let row = first(tx, REST.into(), params![]).await?;
    let mut row = row.ok_or_else(|| Error::Broken("a question returned nothing".to_owned()))?;
    Ok(Waits { lanes, timers: row.flag()?, held: row.flag()? })
}

/// From the reason that passes soonest to the one that does not pass by itself.
const BY_HOPE: [Nothing; 4] = [Nothing::RateLimited, Nothing::Limit, Nothing::Paused, Nothing::NoMatch];

impl Waits {
    /// Returns the reason that is nearest to going away.
    pub(crate) fn why(&self, claimer: &Claimer, section: &Section) -> Nothing {
        let reasons: Vec<_> = self
            .lanes
            .values()
            .filter_map(|lane| {
                // All gates of a lane have to open, so the least hopeful one counts.
                let gates = closed_gates(lane, claimer, &section.conditions);
                let hopes = gates.iter().map(|gate| BY_HOPE.iter().position(|word| *word == gate.nothing()));
                hopes.flatten().max()
            })
            .collect();
        match reasons.into_iter().min() {
            Some(hope) => BY_HOPE[hope],
            None if self.timers => Nothing::NotBefore,
            None if self.held => Nothing::Held,
            None => Nothing::Empty,
        }
    }
}
