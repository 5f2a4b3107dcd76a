//! Samples, and what is made of them: medians of ratios of samples that were taken in the same turn.

use serde_json::Value;

/// All samples of a run, in the order they were taken.
#[derive(Debug, Default)]
pub(super) struct Samples(pub(super) Vec<Value>);

/// What a sample has to say of itself to be chosen.
pub(super) type Filter<'a> = &'a [(&'a str, Value)];

impl Samples {
    /// Returns a number of each sample that is chosen, by turns.
    pub(super) fn series(&self, filter: Filter<'_>, field: &str) -> Vec<f64> {
        let mut chosen: Vec<_> = self
            .0
            .iter()
            .filter(|sample| filter.iter().all(|(key, value)| sample[*key] == *value))
            .filter_map(|sample| Some((sample["sample"].as_u64()?, sample[field].as_f64()?)))
            .collect();
        chosen.sort_by_key(|(turn, _)| *turn);
        chosen.into_iter().map(|(_, number)| number).collect()
    }

    /// Returns the rates of each drain that is chosen, window by window.
    pub(super) fn drains(&self, filter: Filter<'_>) -> Vec<Vec<f64>> {
        let turns =
            self.0.iter().filter_map(|sample| sample["sample"].as_u64()).max().map_or(0, |last| last + 1);
        let drain = |turn| {
            let of_turn = [("part", Value::from("drain")), ("sample", Value::from(turn))];
            let filter = [filter, &of_turn].concat();
            let windows =
                self.0.iter().filter(|sample| filter.iter().all(|(key, value)| sample[*key] == *value));
            windows.filter_map(|sample| sample["per_second"].as_f64()).collect::<Vec<_>>()
        };
        (0..turns).map(drain).filter(|rates| !rates.is_empty()).collect()
    }
}

/// Returns the rate of a drain as a whole; its windows have equally many claims.
pub(super) fn whole(windows: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are few windows")]
    let count = windows.len() as f64;
    count / windows.iter().map(|rate| 1.0 / rate).sum::<f64>()
}

/// The middle of what was measured, and its extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Spread {
    /// Returns nothing where nothing was measured.
    pub(super) fn of(numbers: &[f64]) -> Option<Self> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Self { median: f64::midpoint(low, high), least, most })
    }

    /// Compares samples of the same turn.
    pub(super) fn of_ratios(tops: &[f64], bottoms: &[f64]) -> Option<Self> {
        let ratios: Vec<_> = tops.iter().zip(bottoms).map(|(top, bottom)| top / bottom).collect();
        Self::of(&ratios)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let spread = Spread::of(&[3.0, 1.0, 2.5]).unwrap();
        assert_eq!(spread, Spread { median: 2.5, least: 1.0, most: 3.0 });
        assert_eq!(Spread::of(&[1.0, 2.0]).map(|spread| spread.median), Some(1.5));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn samples_of_one_turn_are_compared() {
        let sample = |kind: &str, turn: u32, rate: f64| json!({ "kind": kind, "sample": turn, "rate": rate });
        let samples = Samples(vec![
            sample("claim", 1, 8.0),
            sample("claim", 0, 2.0),
            sample("ceiling", 0, 4.0),
            sample("ceiling", 1, 4.0),
        ]);
        let series = |kind: &str| samples.series(&[("kind", json!(kind))], "rate");
        assert_eq!(series("claim"), [2.0, 8.0]);
        let spread = Spread::of_ratios(&series("claim"), &series("ceiling")).unwrap();
        assert_eq!((spread.median, spread.least, spread.most), (1.25, 0.5, 2.0));
        assert_eq!(Spread::of_ratios(&series("claim"), &series("pair")), None);
    }

    #[test]
    fn drains_are_told_apart_by_their_turn() {
        let window = |turn: u32, rate: f64| json!({ "part": "drain", "sample": turn, "per_second": rate });
        let samples = Samples(vec![window(0, 4.0), window(0, 2.0), window(1, 3.0)]);
        assert_eq!(samples.drains(&[]), [vec![4.0, 2.0], vec![3.0]]);
        assert!((whole(&[4.0, 2.0]) - 8.0 / 3.0).abs() < 1e-9);
    }
}
