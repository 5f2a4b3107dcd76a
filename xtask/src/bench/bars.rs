//! The bars: ratios that have to hold, and whether they did.

use serde_json::{Value, json};

use super::{
    options::{Database, Named as _, Options, Profile},
    samples::{Samples, Spread, whole},
};

/// What a number must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Must {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

impl Must {
    pub(super) fn is_met(self, number: f64) -> bool {
        match self {
            Self::AtLeast(least) => number >= least,
            Self::AtMost(most) => number <= most,
            Self::Below(limit) => number < limit,
        }
    }
}

impl std::fmt::Display for Must {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::Below(limit) => write!(f, "< {limit}"),
        }
    }
}

/// A bar, and what was measured.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) what: &'static str,
    pub(super) place: String,
    pub(super) measured: Spread,
    pub(super) must: Must,
}

impl Bar {
    pub(super) fn is_met(&self) -> bool {
        self.must.is_met(self.measured.median)
    }
}

/// Reads bars off the samples of a run.
pub(super) struct Bars<'a> {
    pub(super) samples: &'a Samples,
    pub(super) options: &'a Options,
}

const CALLERS: [(u32, f64); 2] = [(16, 0.8), (64, 1.5)];
pub(super) const REPLICAS: [u32; 2] = [1, 2];
pub(super) const MICROS_PER_MILLI: f64 = 1_000.0;

impl Bars<'_> {
    /// Returns every bar for which there are samples.
    pub(super) fn all(&self) -> Vec<Bar> {
        let profiles = || Profile::ALL.iter().copied();
        let places = || {
            Database::ALL.iter().flat_map(move |database| profiles().map(move |profile| (*database, profile)))
        };
        let mut bars: Vec<_> = profiles().flat_map(|profile| self.deep_claims(profile)).collect();
        bars.extend(profiles().filter_map(|profile| self.deep_singles(profile)));
        bars.extend(profiles().flat_map(|profile| self.claims_by_ceiling(profile)));
        bars.extend(profiles().flat_map(|profile| self.pairs_by_unshared(profile)));
        bars.extend(places().flat_map(|(database, profile)| self.drains(database, profile)));
        bars.extend(Database::ALL.iter().filter_map(|database| self.foreign(*database)));
        bars.extend(places().flat_map(|(database, profile)| self.why(database, profile)));
        bars
    }

    fn rates(&self, database: Database, profile: Profile, cell: &[(&str, Value)]) -> Vec<f64> {
        let of = [
            ("part", json!("claims")),
            ("database", json!(database.name())),
            ("profile", json!(profile.name())),
        ];
        self.samples.series(&[&of, cell].concat(), "per_second")
    }

    fn deep_claims(&self, profile: Profile) -> Vec<Bar> {
        let [round, _] = self.options.extent.rounds();
        let rates = |depth: u32, callers: u32, replicas: u32| {
            let cell = [
                ("kind", json!("claim")),
                ("depth", json!(depth)),
                ("callers", json!(callers)),
                ("replicas", json!(replicas)),
                ("round", json!(round)),
            ];
            self.rates(Database::Postgres, profile, &cell)
        };
        let (shallow, deep) = (self.options.extent.shallowest(), self.options.extent.deepest());
        let mut bars = Vec::new();
        for replicas in REPLICAS {
            for (callers, _) in CALLERS {
                let spread =
                    Spread::of_ratios(&rates(deep, callers, replicas), &rates(shallow, callers, replicas));
                bars.extend(spread.map(|measured| Bar {
                    what: "claims/s, deepest ÷ shallowest line (PostgreSQL)",
                    place: format!("{}, {callers} callers, {}", profile.name(), desks(replicas)),
                    measured,
                    must: Must::AtLeast(0.75),
                }));
            }
        }
        bars
    }

    fn claims_by_ceiling(&self, profile: Profile) -> Vec<Bar> {
        let mut bars = Vec::new();
        for (callers, least) in CALLERS {
            for replicas in REPLICAS {
                for depth in self.options.extent.depths() {
                    let round = self.longest_round(*depth);
                    let rates = |kind: &str| {
                        let cell = [
                            ("kind", json!(kind)),
                            ("depth", json!(depth)),
                            ("callers", json!(callers)),
                            ("replicas", json!(replicas)),
                            ("round", json!(round)),
                        ];
                        self.rates(Database::Postgres, profile, &cell)
                    };
                    let spread = Spread::of_ratios(&rates("claim"), &rates("ceiling"));
                    bars.extend(spread.map(|measured| Bar {
                        what: "claims ÷ ceiling (PostgreSQL)",
                        place: format!(
                            "{}, {callers} callers, {}, {depth} waiting",
                            profile.name(),
                            desks(replicas)
                        ),
                        measured,
                        must: Must::AtLeast(least),
                    }));
                }
            }
        }
        bars
    }

    /// Returns the longest round there are samples of at this depth.
    pub(super) fn longest_round(&self, depth: u32) -> u32 {
        let [short, long] = self.options.extent.rounds();
        let has_long =
            !self.samples.series(&[("depth", json!(depth)), ("round", json!(long))], "count").is_empty();
        if has_long { long } else { short }
    }

    fn deep_singles(&self, profile: Profile) -> Option<Bar> {
        let times = |depth: u32| {
            let of = [
                ("part", json!("singles")),
                ("database", json!(Database::Sqlite.name())),
                ("profile", json!(profile.name())),
                ("depth", json!(depth)),
            ];
            self.samples.series(&of, "p50_us")
        };
        let extent = self.options.extent;
        let measured = Spread::of_ratios(&times(extent.deepest()), &times(extent.shallowest()))?;
        let what = "p50 of a single claim, deepest ÷ shallowest line (SQLite)";
        Some(Bar { what, place: profile.name().to_owned(), measured, must: Must::AtMost(1.5) })
    }

    fn pairs_by_unshared(&self, profile: Profile) -> Vec<Bar> {
        let mut bars = Vec::new();
        for depth in self.options.extent.depths() {
            let round = self.longest_round(*depth);
            let rates = |kind: &str| {
                let cell = [
                    ("kind", json!(kind)),
                    ("depth", json!(depth)),
                    ("callers", json!(64)),
                    ("round", json!(round)),
                ];
                self.rates(Database::Sqlite, profile, &cell)
            };
            bars.extend(Spread::of_ratios(&rates("pair"), &rates("unshared")).map(|measured| Bar {
                what: "claim + complete pairs ÷ unshared ceiling, 64 callers (SQLite)",
                place: format!("{}, {depth} waiting", profile.name()),
                measured,
                must: Must::AtLeast(5.0),
            }));
        }
        bars
    }

    fn foreign(&self, database: Database) -> Option<Bar> {
        let times = |line: &str| {
            let of =
                [("part", json!("foreign")), ("database", json!(database.name())), ("line", json!(line))];
            self.samples.series(&of, "p50_us")
        };
        let measured = Spread::of_ratios(&times("foreign"), &times("plain"))?;
        let what = "p50 of a single claim, foreign tasks at the head ÷ none";
        Some(Bar { what, place: database.name().to_owned(), measured, must: Must::AtMost(3.0) })
    }

    fn drains(&self, database: Database, profile: Profile) -> Vec<Bar> {
        let drains = |snapshot: bool| {
            let of = [
                ("database", json!(database.name())),
                ("profile", json!(profile.name())),
                ("snapshot", json!(snapshot)),
            ];
            self.samples.drains(&of)
        };
        let ends = |drains: &[Vec<f64>]| {
            let ratio = |windows: &Vec<f64>| Some(windows.last()? / windows.first()?);
            Spread::of(&drains.iter().filter_map(ratio).collect::<Vec<_>>())
        };
        let rates = |drains: &[Vec<f64>]| drains.iter().map(|windows| whole(windows)).collect::<Vec<_>>();
        let (plain, held) = (drains(false), drains(true));
        let place = format!("{}, {}", database.name(), profile.name());
        let bar = |what, measured: Option<Spread>, least| {
            let place = place.clone();
            measured.map(|measured| Bar { what, place, measured, must: Must::AtLeast(least) })
        };
        [
            bar("drain, last ÷ first window", ends(&plain), 0.8),
            bar("drain with an open snapshot, last ÷ first window", ends(&held), 0.8),
            bar(
                "drain with ÷ without an open snapshot",
                Spread::of_ratios(&rates(&held), &rates(&plain)),
                0.6,
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Of all questions on the deepest line, those that took longest count.
    fn why(&self, database: Database, profile: Profile) -> Vec<Bar> {
        let mut bars = Vec::new();
        for (what, field) in [("why, p50 in ms", "p50_us"), ("why, p99 in ms", "p99_us")] {
            let slowest = WHY_KINDS
                .iter()
                .filter_map(|kind| {
                    let of = [
                        ("part", json!("why")),
                        ("database", json!(database.name())),
                        ("profile", json!(profile.name())),
                        ("depth", json!(self.options.extent.deepest())),
                        ("kind", json!(kind)),
                    ];
                    let millis: Vec<_> = self
                        .samples
                        .series(&of, field)
                        .iter()
                        .map(|micros| micros / MICROS_PER_MILLI)
                        .collect();
                    Some((kind, Spread::of(&millis)?))
                })
                .max_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
            bars.extend(slowest.map(|(kind, measured)| Bar {
                what,
                place: format!("{}, {}, slowest: {kind}", database.name(), profile.name()),
                measured,
                must: Must::Below(5.0),
            }));
        }
        bars
    }
}

/// For which tasks and for whom it is asked why.
pub(super) const WHY_KINDS: [&str; 4] =
    ["anywhere, anyone", "anywhere, claimer", "head, anyone", "head, claimer"];

pub(super) fn desks(replicas: u32) -> String {
    if replicas == 1 { "1 desk".to_owned() } else { format!("{replicas} desks") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_at_its_edge_unless_it_says_below() {
        assert!(Must::AtLeast(0.8).is_met(0.8) && !Must::AtLeast(0.8).is_met(0.79));
        assert!(Must::AtMost(3.0).is_met(3.0) && !Must::AtMost(3.0).is_met(3.1));
        assert!(Must::Below(5.0).is_met(4.9) && !Must::Below(5.0).is_met(5.0));
        assert!(!Must::AtLeast(0.8).is_met(f64::NAN) && !Must::AtMost(3.0).is_met(f64::NAN));
    }

    #[test]
    fn bars_are_read_off_the_samples_there_are() {
        let options = Options::parse(&["claim".to_owned(), "--quick".to_owned()]).unwrap();
        let single = |line: &str, micros: u32| json!({ "part": "foreign", "database": "sqlite", "line": line, "sample": 0, "p50_us": micros });
        let samples = Samples(vec![single("plain", 100), single("foreign", 400)]);
        let bars = Bars { samples: &samples, options: &options }.all();
        assert_eq!(bars.len(), 1);
        assert!((bars[0].measured.median - 4.0).abs() < 1e-9 && !bars[0].is_met());
    }
}
