//! Tables of what was measured, for whoever wants more than bars.

use serde_json::{Value, json};

use super::{
    bars::{Bars, REPLICAS, WHY_KINDS},
    options::{Database, Named as _, Profile},
    samples::{Spread, whole},
};

const CALLERS: [u32; 2] = [16, 64];

/// Returns all tables for which there are samples.
pub(super) fn all(bars: &Bars<'_>) -> String {
    let mut text = String::new();
    for database in Database::ALL {
        for profile in Profile::ALL {
            let title = format!("\n### {}, {}\n", database.name(), profile.name());
            let tables = [
                claims(bars, *database, *profile),
                singles(bars, *database, *profile),
                why(bars, *database, *profile),
                drains(bars, *database, *profile),
            ]
            .concat();
            if !tables.is_empty() {
                text.push_str(&title);
                text.push_str(&tables);
            }
        }
    }
    text
}

fn claims(bars: &Bars<'_>, database: Database, profile: Profile) -> String {
    let mut rows = Vec::new();
    for replicas in REPLICAS {
        for callers in CALLERS {
            for depth in bars.options.extent.depths() {
                for round in bars.options.extent.rounds() {
                    let of = [
                        ("part", json!("claims")),
                        ("database", json!(database.name())),
                        ("profile", json!(profile.name())),
                        ("replicas", json!(replicas)),
                        ("callers", json!(callers)),
                        ("depth", json!(depth)),
                        ("round", json!(round)),
                    ];
                    let place = format!("| {replicas} | {callers} | {depth} | {round} ");
                    rows.extend(claims_row(bars, &of).map(|row| place + &row));
                }
            }
        }
    }
    table(
        "| desks | callers | waiting | round | ceiling/s | unshared/s | claims/s | p50 ms | p99 ms | pairs/s \
         | claims ÷ ceiling | pairs ÷ ceiling |",
        &rows,
    )
}

fn claims_row(bars: &Bars<'_>, of: &[(&str, Value)]) -> Option<String> {
    let series = |kind: &str, field: &str| {
        let kind = [("kind", json!(kind))];
        bars.samples.series(&[of, &kind].concat(), field)
    };
    let (ceiling, claim, pair) =
        (series("ceiling", "per_second"), series("claim", "per_second"), series("pair", "per_second"));
    Spread::of(&claim)?;
    Some(format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        rate(&ceiling),
        rate(&series("unshared", "per_second")),
        rate(&claim),
        millis(&series("claim", "p50_us")),
        millis(&series("claim", "p99_us")),
        rate(&pair),
        ratio(Spread::of_ratios(&claim, &ceiling)),
        ratio(Spread::of_ratios(&pair, &ceiling)),
    ))
}

fn singles(bars: &Bars<'_>, database: Database, profile: Profile) -> String {
    let mut rows = Vec::new();
    let lines: Vec<_> = bars.options.extent.depths().iter().map(|depth| format!("depth_{depth}")).collect();
    let places = lines.iter().map(|line| ("singles", line.as_str()));
    for (part, line) in places.chain([("foreign", "plain"), ("foreign", "foreign")]) {
        let of = [
            ("part", json!(part)),
            ("database", json!(database.name())),
            ("profile", json!(profile.name())),
            ("line", json!(line)),
        ];
        let p50 = bars.samples.series(&of, "p50_us");
        if !p50.is_empty() {
            let p99 = millis(&bars.samples.series(&of, "p99_us"));
            rows.push(format!("| {line} | {} | {p99} |", millis(&p50)));
        }
    }
    table("| single claims from | p50 ms | p99 ms |", &rows)
}

fn why(bars: &Bars<'_>, database: Database, profile: Profile) -> String {
    let mut rows = Vec::new();
    for depth in bars.options.extent.depths() {
        for kind in WHY_KINDS {
            let of = [
                ("part", json!("why")),
                ("database", json!(database.name())),
                ("profile", json!(profile.name())),
                ("depth", json!(depth)),
                ("kind", json!(kind)),
            ];
            let p50 = bars.samples.series(&of, "p50_us");
            if !p50.is_empty() {
                let p99 = millis(&bars.samples.series(&of, "p99_us"));
                rows.push(format!("| {depth} | {kind} | {} | {p99} |", millis(&p50)));
            }
        }
    }
    table("| waiting | why, asked for | p50 ms | p99 ms |", &rows)
}

fn drains(bars: &Bars<'_>, database: Database, profile: Profile) -> String {
    let mut rows = Vec::new();
    for snapshot in [false, true] {
        let of = [
            ("database", json!(database.name())),
            ("profile", json!(profile.name())),
            ("snapshot", json!(snapshot)),
        ];
        for windows in bars.samples.drains(&of) {
            let rates: Vec<_> = windows.iter().map(|rate| format!("{rate:.0}")).collect();
            let held = if snapshot { "open" } else { "none" };
            rows.push(format!("| {held} | {:.0} | {} |", whole(&windows), rates.join(" ")));
        }
    }
    table("| drain, snapshot | claims/s | window by window |", &rows)
}

/// Puts a head over rows, if there are any.
pub(super) fn table(head: &str, rows: &[String]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let columns = head.matches('|').count() - 1;
    format!("\n{head}\n|{}\n{}\n", "---|".repeat(columns), rows.join("\n"))
}

pub(super) fn rate(rates: &[f64]) -> String {
    Spread::of(rates).map_or_else(|| "–".to_owned(), |spread| format!("{:.0}", spread.median))
}

pub(super) fn millis(micros: &[f64]) -> String {
    Spread::of(micros).map_or_else(|| "–".to_owned(), |spread| format!("{:.2}", spread.median / 1_000.0))
}

pub(super) fn ratio(spread: Option<Spread>) -> String {
    let text = |spread: Spread| format!("{:.2} [{:.2}..{:.2}]", spread.median, spread.least, spread.most);
    spread.map_or_else(|| "–".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_head_for_each_column() {
        assert_eq!(table("| a | b |", &["| 1 | 2 |".to_owned()]), "\n| a | b |\n|---|---|\n| 1 | 2 |\n");
        assert_eq!(table("| a | b |", &[]), "");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(rate(&[1234.4, 1234.6, 9.0]), "1234");
        assert_eq!(millis(&[1_500.0]), "1.50");
        assert_eq!(ratio(Spread::of(&[0.5, 1.0, 2.0])), "1.00 [0.50..2.00]");
        assert_eq!(ratio(None), "–");
    }
}
