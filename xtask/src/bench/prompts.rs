//! What is made of the samples of `bench prompts`: bars, and a table.

use serde_json::json;

use super::{
    bars::{Bar, Must},
    figures::{millis, rate, ratio, table},
    options::{Database, Named as _},
    plans::PROMPTS_CALLERS,
    samples::{Samples, Spread},
};

/// How many times as long a claim with a prompt may take.
const TIMES_MAX: f64 = 2.0;

/// What the words mean.
pub(super) const HOW: &str = "\
- claim: the desk's, whose prompts are the titles of tasks. Prompted: the same by a desk that makes prompts by the \
shipped templates. Both claim tasks of the same line, in turn; a sample is a round of claims. What a round takes is \
added again before the next, untimed.
- tasks: descriptions of 2,000 characters in lines; five below each parent, which is done; in one project with an \
active goal; two labels and a comment of 500 characters each; every tenth has failed once.
- time per claim: of the whole round, by the number of claims, whatever the number of callers.";

/// Returns every bar for which there are samples.
pub(super) fn bars(samples: &Samples) -> Vec<Bar> {
    let places =
        Database::ALL.iter().flat_map(|database| PROMPTS_CALLERS.map(|callers| (*database, callers)));
    places
        .filter_map(|(database, callers)| {
            Some(Bar {
                what: "time per claim, prompted ÷ claim",
                place: format!("{}, {}", database.name(), callers_text(callers)),
                measured: times(samples, database, callers)?,
                must: Must::AtMost(TIMES_MAX),
            })
        })
        .collect()
}

/// Returns the table, if there are samples for it.
pub(super) fn figures(samples: &Samples) -> String {
    let places =
        Database::ALL.iter().flat_map(|database| PROMPTS_CALLERS.map(|callers| (*database, callers)));
    let rows: Vec<_> = places.filter_map(|(database, callers)| row(samples, database, callers)).collect();
    table(
        "| prompts | callers | claims a sample | claims/s | p50 ms | p99 ms | prompted/s | p50 ms | p99 ms \
         | mean bytes of a prompt | time per claim, prompted ÷ claim | p50, prompted ÷ claim |",
        &rows,
    )
}

fn row(samples: &Samples, database: Database, callers: u32) -> Option<String> {
    let of = |kind: &str, field: &str| chosen(samples, database, callers, kind, field);
    let times = times(samples, database, callers)?;
    Some(format!(
        "| {} | {callers} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        database.name(),
        rate(&of("prompted", "count")),
        rate(&of("claim", "per_second")),
        millis(&of("claim", "p50_us")),
        millis(&of("claim", "p99_us")),
        rate(&of("prompted", "per_second")),
        millis(&of("prompted", "p50_us")),
        millis(&of("prompted", "p99_us")),
        rate(&of("prompted", "prompt_bytes")),
        ratio(Some(times)),
        ratio(Spread::of_ratios(&of("prompted", "p50_us"), &of("claim", "p50_us"))),
    ))
}

/// Returns how many times as long a claim with a prompt took: the rates, the other way round.
fn times(samples: &Samples, database: Database, callers: u32) -> Option<Spread> {
    let rates = |kind: &str| chosen(samples, database, callers, kind, "per_second");
    Spread::of_ratios(&rates("claim"), &rates("prompted"))
}

fn chosen(samples: &Samples, database: Database, callers: u32, kind: &str, field: &str) -> Vec<f64> {
    let of = [
        ("part", json!("prompts")),
        ("database", json!(database.name())),
        ("callers", json!(callers)),
        ("kind", json!(kind)),
    ];
    samples.series(&of, field)
}

fn callers_text(callers: u32) -> String {
    if callers == 1 { "1 caller".to_owned() } else { format!("{callers} callers") }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn sample(callers: u32, kind: &str, per_second: u32) -> Value {
        json!({
            "part": "prompts", "database": "sqlite", "callers": callers, "kind": kind, "sample": 0,
            "count": 1_000, "per_second": per_second, "p50_us": 1_000, "p99_us": 2_000, "prompt_bytes": 7_654,
        })
    }

    #[test]
    fn a_claim_with_a_prompt_may_take_twice_as_long() {
        let samples = Samples(vec![
            sample(1, "claim", 1_000),
            sample(1, "prompted", 500),
            sample(64, "claim", 1_000),
            sample(64, "prompted", 400),
        ]);
        let bars = bars(&samples);
        let met: Vec<_> = bars.iter().map(|bar| (bar.place.as_str(), bar.is_met())).collect();
        assert_eq!(met, [("sqlite, 1 caller", true), ("sqlite, 64 callers", false)]);
    }

    #[test]
    fn the_table_tells_the_size_of_prompts() {
        let samples = Samples(vec![sample(16, "claim", 900), sample(16, "prompted", 600)]);
        let text = figures(&samples);
        let row = "| sqlite | 16 | 1000 | 900 | 1.00 | 2.00 | 600 | 1.00 | 2.00 | 7654 | 1.50 [1.50..1.50] |";
        assert!(text.contains(row), "{text}");
        assert_eq!(figures(&Samples::default()), "");
    }
}
