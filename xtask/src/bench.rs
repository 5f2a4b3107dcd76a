//! `cargo xtask bench`: measures claims on both databases beside a ceiling of the same run.
//!
//! What counts are ratios of samples that alternate within one run; rates of different runs, let alone
//! machines, must not be compared. Tables and raw samples go to `bench/results`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use extraboard_testkit::postgres::{Commits, PrivatePostgres};
use serde_json::Value;

use crate::{setup, step::cargo};

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Full,
    Quick,
}

impl Extent {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match arguments[..] {
            ["claim"] => Ok(Self::Full),
            ["claim", "--quick"] => Ok(Self::Quick),
            _ => Err("error: expected `bench claim` or `bench claim --quick`".to_owned()),
        }
    }

    fn depths(self) -> &'static [u32] {
        match self {
            Self::Full => &[1_000, 100_000, 1_000_000],
            Self::Quick => &[1_000, 20_000],
        }
    }

    fn samples(self) -> u32 {
        match self {
            Self::Full => 5,
            Self::Quick => 3,
        }
    }
}

/// One setting that is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    database: &'static str,
    depth: u32,
    callers: u32,
    replicas: u32,
}

/// Rates of one cell, by what was measured.
type Rates = BTreeMap<String, Vec<f64>>;

pub(crate) fn run(extent: Extent) -> Result<ExitCode> {
    setup::run()?;
    let built = cargo(&["build", "--release", "--package", "extraboard-bench"]).status()?;
    ensure!(built.success(), "the benchmark does not build");
    let server = PrivatePostgres::start_with(Commits::Durable)?;
    let folder = crate::root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let (mut raw, mut table) = (String::new(), BTreeMap::new());
    for (index, cell) in cells(extent).into_iter().enumerate() {
        println!("{cell:?}");
        let url = if cell.database == "postgres" {
            let name = format!("bench_{index}");
            server.create_database(&name)?;
            server.url(&name)
        } else {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder)?;
            folder.join("bench.db").display().to_string()
        };
        let samples = measure(extent, cell, &url)?;
        table.insert(cell, rates(&samples)?);
        raw.push_str(&samples);
    }
    let _ = fs::remove_dir_all(&folder);
    report(extent, &table, &raw)?;
    Ok(ExitCode::SUCCESS)
}

fn cells(extent: Extent) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (database, most) in [("sqlite", 1), ("postgres", 2)] {
        for replicas in 1..=most {
            for depth in extent.depths() {
                for callers in [16, 64] {
                    cells.push(Cell { database, depth: *depth, callers, replicas });
                }
            }
        }
    }
    cells
}

/// Runs the benchmark for one cell; returns its samples, a line of JSON each.
fn measure(extent: Extent, cell: Cell, url: &str) -> Result<String> {
    // A sample must not eat up the depth it measures at: claims and pairs take as many tasks each.
    let claims = (cell.depth / 4).min(2_000);
    let arguments = [cell.depth, cell.callers, cell.replicas, extent.samples(), claims];
    let output = Command::new(crate::root().join("target/release/extraboard-bench"))
        .arg(url)
        .args(arguments.map(|argument| argument.to_string()))
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run the benchmark")?;
    ensure!(output.status.success(), "the benchmark failed for {cell:?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn rates(samples: &str) -> Result<Rates> {
    let mut rates = Rates::new();
    for line in samples.lines() {
        let sample: Value = serde_json::from_str(line)?;
        let kind = sample["kind"].as_str().context("a sample without a kind")?;
        let rate = sample["per_second"].as_f64().context("a sample without a rate")?;
        rates.entry(kind.to_owned()).or_default().push(rate);
    }
    Ok(rates)
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Writes the table and the raw samples.
fn report(extent: Extent, table: &BTreeMap<Cell, Rates>, raw: &str) -> Result<()> {
    let commit = said("git", &["rev-parse", "--short", "HEAD"])?;
    let machine = said("uname", &["-srm"])?;
    let cores = std::thread::available_parallelism()?;
    let mut text = format!(
        "# Claims\n\nCommit {commit}, `cargo xtask bench claim` ({extent:?}), {machine}, {cores} cores, client and \
         database on the same machine, commits durable. Rates are medians per second; what counts are the ratios.\n\n\
         | database | replicas | depth | callers | ceiling | claims | pairs | claims ÷ ceiling | claims ÷ shallowest |\n\
         |---|---|---|---|---|---|---|---|---|\n"
    );
    for (cell, rates) in table {
        let of = |rates: &Rates, kind: &str| rates.get(kind).map_or(f64::NAN, |rates| median(rates));
        let shallowest = Cell { depth: extent.depths()[0], ..*cell };
        let (ceiling, claims) = (of(rates, "ceiling"), of(rates, "claim"));
        let shallow = table.get(&shallowest).map_or(f64::NAN, |rates| of(rates, "claim"));
        writeln!(
            text,
            "| {} | {} | {} | {} | {ceiling:.0} | {claims:.0} | {:.0} | {:.2} | {:.2} |",
            cell.database,
            cell.replicas,
            cell.depth,
            cell.callers,
            of(rates, "pair"),
            claims / ceiling,
            claims / shallow
        )?;
    }
    let folder = crate::root().join("bench/results");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("claim.md"), &text)?;
    fs::write(folder.join("claim.jsonl"), raw)?;
    println!("{text}");
    Ok(())
}

fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(crate::root()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_measure_is_named() {
        let parse =
            |line: &str| Extent::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("claim"), Ok(Extent::Full));
        assert_eq!(parse("claim --quick"), Ok(Extent::Quick));
        assert!(parse("").is_err() && parse("http").is_err());
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn samples_are_sorted_by_kind() {
        let samples = "{\"kind\":\"claim\",\"per_second\":2.0}\n{\"kind\":\"claim\",\"per_second\":4.0}\n";
        assert_eq!(rates(samples).unwrap(), Rates::from([("claim".to_owned(), vec![2.0, 4.0])]));
        assert!(rates("{}").is_err());
    }
}
