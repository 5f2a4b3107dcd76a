//! Count what became of prompts, from the log.
//!
//! Claims and reports do not count: thousands of them share one version, and would wait
//! for each other at its row. What they did stands in the log, in one order, so it is
//! counted afterwards, and each event once: where the count stands is written with it.

use std::collections::BTreeMap;

use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::id::VersionId;
use extraboard_core::reason::Reason;
use extraboard_core::report::Outcome;
use extraboard_core::review::Worked;
use serde_json::Value as Json;

use crate::error::Error;
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::{Row, params};

/// How many positions of the log are counted in one turn.
const POSITIONS: i64 = 2_000;

/// Counts a turn of the log; tells whether there may be more.
#[derive(Clone, Copy, Debug)]
pub struct PromptsCount;

/// Servers count in turns: another one that is at it has the row.
const LOCK: &str = "SELECT pos FROM prompt_count WHERE one = 1 FOR UPDATE";
const LAST: &str = "SELECT last_pos FROM sequencer";
const EVENTS: &str = "SELECT e.type, e.data, e.task, e.at, d.version, d.started_at, d.closed_at \
     FROM event e LEFT JOIN dispatch d ON d.id = e.dispatch \
     WHERE e.pos > $1 AND e.pos <= $2 \
       AND e.type IN ('dispatch.opened','dispatch.closed','task.reopened','task.sent_back') \
     ORDER BY e.pos";
/// Whose work it was: what was done since then is not what had to be done again.
const COMPLETED: &str = "SELECT version \
     FROM dispatch \
     WHERE task = $1 AND outcome = 'completed' AND closed_at <= $2 \
     ORDER BY fence DESC \
     LIMIT 1";
const ADD: &str = "UPDATE template_version \
     SET used = used + $2, completed = completed + $3, failed = failed + $4, reworked = reworked + $5, \
       duration_micros = duration_micros + $6 \
     WHERE id = $1";

impl Verb for PromptsCount {
    type Output = bool;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool, Error> {
        let row = first(tx, LOCK.into(), params![]).await?;
        let counted = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        let row = first(tx, LAST.into(), params![]).await?;
        let last = row.ok_or_else(|| Error::unreadable("no sequencer"))?.int()?;
        let until = last.min(counted + POSITIONS);
        if until <= counted {
            return Ok(false);
        }
        let mut found: BTreeMap<String, Worked> = BTreeMap::new();
        for row in tx.query(EVENTS.into(), params![counted, until]).await? {
            if let Some((version, worked)) = read(tx, row).await? {
                add(found.entry(version.to_string()).or_default(), &worked);
            }
        }
        // In the order of ids, as everybody who writes several versions.
        for (version, worked) in found {
            let params = params![
                version,
                worked.used,
                worked.completed,
                worked.failed,
                worked.reworked,
                worked.duration.as_micros(),
            ];
            expect_rows("counting", 1, tx.execute(ADD.into(), params).await?)?;
        }
        let sql = "UPDATE prompt_count SET pos = $1 WHERE one = 1";
        expect_rows("counting on", 1, tx.execute(sql.into(), params![until]).await?)?;
        Ok(until < last)
    }
}

fn add(sum: &mut Worked, one: &Worked) {
    sum.used += one.used;
    sum.completed += one.completed;
    sum.failed += one.failed;
    sum.reworked += one.reworked;
    sum.duration = Span::from_micros(sum.duration.as_micros() + one.duration.as_micros());
}

/// Returns what an event says about which version, if it says anything.
async fn read<T: Tx>(tx: &mut T, mut row: Row) -> Result<Option<(VersionId, Worked)>, Error> {
    let event_type: EventType = row.parse()?;
    let data: Json = serde_json::from_str(&row.text()?).unwrap_or_default();
    let (task, at) = (row.opt_int()?, row.int()?);
    let version: Option<VersionId> = row.opt_parse()?;
    let (started_at, closed_at) = (row.opt_int()?, row.opt_int()?);
    let none = Worked::default();
    Ok(match (event_type, version) {
        (EventType::DispatchOpened, Some(version)) => Some((version, Worked { used: 1, ..none })),
        (EventType::DispatchClosed, Some(version)) => {
            let took = closed_at.unwrap_or_default() - started_at.unwrap_or_default();
            Some((version, closed(&data, took)))
        }
        (EventType::TaskReopened, _) if data["from"] != "done" => None,
        (EventType::TaskReopened | EventType::TaskSentBack, _) => {
            let row = first(tx, COMPLETED.into(), params![task, at]).await?;
            let version = row.map(|mut row| row.opt_parse()).transpose()?.flatten();
            version.map(|version| (version, Worked { reworked: 1, ..none }))
        }
        _ => None,
    })
}

/// Returns what the end of a dispatch counts as. A report that came after the lease had
/// lapsed takes back what that counted as.
fn closed(data: &Json, took: i64) -> Worked {
    let word = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    let late = i64::from(data["late"] == true);
    let mut worked = Worked { failed: -late, ..Worked::default() };
    if word("outcome").parse() == Ok(Outcome::Completed) && (late == 1 || word("reason").is_empty()) {
        worked.completed = 1;
        worked.duration = Span::from_micros(took.max(0));
    } else if word("reason").parse().is_ok_and(Reason::is_failure) && word("outcome") != "asked" {
        worked.failed += 1;
    }
    worked
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(data: &Json, completed: i64, failed: i64) {
        let worked = closed(data, 5);
        assert_eq!((worked.completed, worked.failed), (completed, failed), "{data}");
    }

    #[test]
    fn ends_count_as_done_as_failed_or_as_nothing() {
        check(&json!({ "outcome": "completed", "reason": null, "late": false }), 1, 0);
        check(&json!({ "outcome": "failed", "reason": "execution_failed" }), 0, 1);
        check(&json!({ "outcome": null, "reason": "lease_expired" }), 0, 1);
        check(&json!({ "outcome": "released", "reason": "released" }), 0, 0);
        check(&json!({ "outcome": "asked", "reason": "asked" }), 0, 0);
        check(&json!({ "outcome": "failed", "reason": "rate_limited" }), 0, 0);
        check(&json!({ "outcome": null, "reason": "user_canceled" }), 0, 0);
    }

    #[test]
    fn a_late_report_takes_back_the_lapsed_lease() {
        check(&json!({ "outcome": "completed", "reason": "lease_expired", "late": true }), 1, -1);
        check(&json!({ "outcome": "failed", "reason": "execution_failed", "late": true }), 0, 0);
    }
}
