//! Samples: printed as they are taken, one JSON object a line.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::callers::Times;

/// Prints what was measured and under which circumstances.
#[expect(clippy::print_stdout, reason = "samples are what this program is for")]
pub(crate) fn print(circumstances: Value, times: &mut Times) {
    times.each.sort_unstable();
    let mut sample = match circumstances {
        Value::Object(circumstances) => circumstances,
        _ => Map::new(),
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of claims fits a double")]
    let per_second = times.each.len() as f64 / times.elapsed.as_secs_f64();
    sample.insert("count".to_owned(), json!(times.each.len()));
    sample.insert("per_second".to_owned(), json!(per_second.round()));
    sample.insert("p50_us".to_owned(), json!(micros(percentile(&times.each, 50))));
    sample.insert("p99_us".to_owned(), json!(micros(percentile(&times.each, 99))));
    println!("{}", Value::Object(sample));
}

/// Returns a percentile of what was measured beside a sample, in microseconds.
pub(crate) fn percentile_us(times: &mut [Duration], percent: usize) -> u64 {
    times.sort_unstable();
    micros(percentile(times, percent))
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_that_were_taken() {
        let sorted: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&sorted, 50), Duration::from_millis(100));
        assert_eq!(percentile(&sorted, 99), Duration::from_millis(198));
        assert_eq!(percentile(&sorted[..1], 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
