//! What is made of the samples of `bench http`: bars, and tables.

use serde_json::{Value, json};

use super::{
    bars::{Bar, MICROS_PER_MILLI, Must, REPLICAS},
    figures::{millis, rate, ratio, table},
    options::{Database, Named as _},
    samples::{Samples, Spread},
};

const CALLERS: [u32; 2] = [16, 64];
/// A wake is measured in milliseconds, and has to be shorter than these.
const WAKE_BARS: [(&str, &str, f64); 2] =
    [("wake of a client that waits, p50 in ms", "p50_us", 10.0), ("the same, p99 in ms", "p99_us", 50.0)];
/// The bar is for a task that comes in at another server than the one clients wait at.
const WAKE_REPLICAS: u32 = 2;

/// What the words mean.
pub(super) const HOW: &str = "\
- servers: real ones on sockets of their own, each with its own store and desk, whose loops run; in the process of \
the clients. Every client is an agent with a connection of its own, which is kept.
- wake: from just before a task is sent until a client that wants work has read the whole answer that hands it out. \
16 clients wait (`GET /api/dispatch/next?wait=30s`), or poll every second without `wait`. The client completes the \
task, untimed; the desk rests for 10 to 50 ms before the next. With 2 servers tasks come in at one and clients are at \
the other.
- POST: the part of the wake until whoever sent the task has its answer. Commit: one transaction that updates one row \
and inserts two, by one caller and without a server, just before and just after: what the disk was like.
- pair: a claim, and the report that completes it. By the desk: as in `bench claim`, without HTTP. What a round of \
pairs takes is added again before the next, untimed.";

/// Returns every bar for which there are samples.
pub(super) fn bars(samples: &Samples) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (what, field, limit) in WAKE_BARS {
        for database in Database::ALL {
            let micros = wakes(samples, *database, WAKE_REPLICAS, "wait", field);
            let millis: Vec<_> = micros.iter().map(|micros| micros / MICROS_PER_MILLI).collect();
            bars.extend(Spread::of(&millis).map(|measured| Bar {
                what,
                place: format!("{}, {}", database.name(), servers(WAKE_REPLICAS)),
                measured,
                must: Must::Below(limit),
            }));
        }
    }
    bars
}

/// Returns all tables for which there are samples.
pub(super) fn figures(samples: &Samples) -> String {
    let rows = |row: &dyn Fn(Database, u32) -> Vec<String>| -> Vec<String> {
        let databases = Database::ALL.iter();
        databases.flat_map(|database| REPLICAS.map(|replicas| row(*database, replicas))).flatten().collect()
    };
    let wakes = rows(&|database, replicas| wake_row(samples, database, replicas).into_iter().collect());
    let pairs = rows(&|database, replicas| {
        CALLERS.iter().filter_map(|callers| pair_row(samples, database, replicas, *callers)).collect()
    });
    [
        table(
            "| wakes | servers | waiting: wakes a sample | p50 ms | p99 ms | of it POST, p50 ms | a commit, p50 ms \
             | polling: wakes a sample | p50 ms | p99 ms | p50, waiting ÷ POST | p50, polling ÷ waiting \
             | p99, polling ÷ waiting |",
            &wakes,
        ),
        table(
            "| pairs | servers | connections | desk: pairs/s | p50 ms | p99 ms | HTTP: pairs/s | p50 ms | p99 ms \
             | pairs/s, HTTP ÷ desk | p50, HTTP ÷ desk |",
            &pairs,
        ),
    ]
    .concat()
}

fn wake_row(samples: &Samples, database: Database, replicas: u32) -> Option<String> {
    let of = |kind: &str, field: &str| wakes(samples, database, replicas, kind, field);
    let polling = |field: &str| ratio(Spread::of_ratios(&of("poll", field), &of("wait", field)));
    Spread::of(&of("wait", "p50_us"))?;
    Some(format!(
        "| {} | {replicas} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        database.name(),
        rate(&of("wait", "count")),
        millis(&of("wait", "p50_us")),
        millis(&of("wait", "p99_us")),
        millis(&of("wait", "created_p50_us")),
        millis(&of("commit", "p50_us")),
        rate(&of("poll", "count")),
        millis(&of("poll", "p50_us")),
        millis(&of("poll", "p99_us")),
        ratio(Spread::of_ratios(&of("wait", "p50_us"), &of("wait", "created_p50_us"))),
        polling("p50_us"),
        polling("p99_us"),
    ))
}

fn pair_row(samples: &Samples, database: Database, replicas: u32, callers: u32) -> Option<String> {
    let of = |kind: &str, field: &str| {
        let cell = [("callers", json!(callers))];
        chosen(samples, &cell, ("throughput", kind), database, replicas, field)
    };
    let compared = |field: &str| ratio(Spread::of_ratios(&of("http", field), &of("pair", field)));
    Spread::of(&of("http", "per_second"))?;
    Some(format!(
        "| {} | {replicas} | {callers} | {} | {} | {} | {} | {} | {} | {} | {} |",
        database.name(),
        rate(&of("pair", "per_second")),
        millis(&of("pair", "p50_us")),
        millis(&of("pair", "p99_us")),
        rate(&of("http", "per_second")),
        millis(&of("http", "p50_us")),
        millis(&of("http", "p99_us")),
        compared("per_second"),
        compared("p50_us"),
    ))
}

fn wakes(samples: &Samples, database: Database, replicas: u32, kind: &str, field: &str) -> Vec<f64> {
    chosen(samples, &[], ("wake", kind), database, replicas, field)
}

fn chosen(
    samples: &Samples,
    cell: &[(&str, Value)],
    (part, kind): (&str, &str),
    database: Database,
    replicas: u32,
    field: &str,
) -> Vec<f64> {
    let of = [
        ("part", json!(part)),
        ("kind", json!(kind)),
        ("database", json!(database.name())),
        ("replicas", json!(replicas)),
    ];
    samples.series(&[&of, cell].concat(), field)
}

fn servers(replicas: u32) -> String {
    if replicas == 1 { "1 server".to_owned() } else { format!("{replicas} servers") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wake(replicas: u32, kind: &str, p50: u32, p99: u32) -> Value {
        json!({
            "part": "wake", "database": "postgres", "replicas": replicas, "kind": kind, "sample": 0,
            "count": 50, "p50_us": p50, "p99_us": p99,
        })
    }

    #[test]
    fn the_bars_are_for_two_servers() {
        let samples = Samples(vec![wake(1, "wait", 99_000, 99_000), wake(2, "wait", 8_000, 60_000)]);
        let met: Vec<_> = bars(&samples).iter().map(Bar::is_met).collect();
        assert_eq!(met, [true, false]);
    }

    #[test]
    fn a_table_has_a_row_for_what_was_measured() {
        let samples = Samples(vec![wake(2, "wait", 8_000, 60_000), wake(2, "poll", 80_000, 90_000)]);
        let text = figures(&samples);
        assert!(text.contains("| postgres | 2 | 50 | 8.00 | 60.00 |"), "{text}");
        assert!(text.contains("| 10.00 [10.00..10.00] | 1.50 [1.50..1.50] |"), "{text}");
        assert!(!text.contains("pairs/s"), "{text}");
    }
}
