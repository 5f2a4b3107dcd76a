//! The report: bars, tables, and every sample beside them.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{
    bars::{Bar, Bars},
    figures, http, machine,
    options::{Bench, Extent, Options},
    prompts,
    samples::Samples,
};

/// Samples as they come, and the report made of them.
pub(super) struct Results {
    options: Options,
    samples: Samples,
    commit: String,
    date: String,
    /// What its files are called, but for their endings.
    name: String,
    raw: fs::File,
    raw_path: PathBuf,
}

impl Results {
    /// Makes the file samples are kept in from the first one on.
    pub(super) fn open(options: &Options) -> Result<Self> {
        let folder = crate::root().join("target/bench-results");
        fs::create_dir_all(&folder)?;
        let (commit, date) = (machine::commit()?, machine::today()?);
        let name = match options.bench {
            Bench::Claim => format!("{date}-{commit}"),
            Bench::Http => format!("{date}-{commit}-http"),
            Bench::Prompts => format!("{date}-{commit}-prompts"),
        };
        let raw_path = folder.join(format!("{name}.jsonl"));
        let raw = fs::File::create(&raw_path).context("cannot keep samples")?;
        Ok(Self { options: options.clone(), samples: Samples::default(), commit, date, name, raw, raw_path })
    }

    /// Keeps a sample.
    pub(super) fn add(&mut self, sample: Value) -> Result<()> {
        println!("{sample}");
        writeln!(self.raw, "{sample}")?;
        self.samples.0.push(sample);
        Ok(())
    }

    /// Writes the report, to `bench/results` if it is a whole one.
    pub(super) fn write(&self, versions: &[String], is_complete: bool) -> Result<()> {
        let text = self.text(versions, is_complete)?;
        let name = &self.name;
        let mut folder = crate::root().join("target/bench-results");
        if is_complete && self.options.is_whole() {
            folder = crate::root().join("bench/results");
            fs::create_dir_all(&folder)?;
            fs::copy(&self.raw_path, folder.join(format!("{name}.jsonl")))?;
        }
        let path = folder.join(format!("{name}.md"));
        fs::write(&path, &text)?;
        println!("{text}\nwritten to {}", short(&path));
        Ok(())
    }

    fn text(&self, versions: &[String], is_complete: bool) -> Result<String> {
        let bars = Bars { samples: &self.samples, options: &self.options };
        let (title, how, found, figures) = match self.options.bench {
            Bench::Claim => ("Claims", HOW, bars.all(), figures::all(&bars)),
            Bench::Http => ("HTTP", http::HOW, http::bars(&self.samples), http::figures(&self.samples)),
            Bench::Prompts => {
                ("Prompts", prompts::HOW, prompts::bars(&self.samples), prompts::figures(&self.samples))
            }
        };
        let met = found.iter().filter(|bar| bar.is_met()).count();
        let Self { commit, date, name, options, .. } = self;
        let mut text = format!(
            "# {title}, {date}\n\n\
             - commit: {commit}\n- command: `cargo xtask bench {}`\n- machine: {}\n- databases: {}\n\n\
             {COMMON}\n\n{how}\n\n",
            options.line,
            machine::describe()?,
            versions.join("; "),
        );
        if !is_complete {
            text.push_str("**The run failed before it was complete.**\n\n");
        }
        match (options.extent, options.is_whole()) {
            (Extent::Quick, _) => text.push_str("**A quick run: it proves nothing but that it runs.**\n\n"),
            (Extent::Full, false) => text.push_str("**Not a whole run: only what the command chose.**\n\n"),
            (Extent::Full, true) => {}
        }
        write!(text, "## Bars\n\n{met} of {} met.\n\n{}", found.len(), table(&found))?;
        write!(text, "\n## Figures\n\nMedians of {} samples.\n{figures}", options.samples)?;
        write!(text, "\nEvery sample, as it was taken: `{name}.jsonl`.\n")?;
        Ok(text)
    }
}

const COMMON: &str = "\
Client and database share the machine, commits are durable. Rates of different runs must not be compared: what \
counts are ratios of samples that were taken in turn. A ratio is the median of the ratios of each turn, with the \
least and the greatest of them.";

const HOW: &str = "\
- ceiling: one transaction that updates one row and inserts two; as many callers and connections as the claims \
beside it, no desk at work. On SQLite callers share commits; unshared: one caller, a commit each.
- claim: the desk's, with dispatch, event and prompt; its sequencer, timers and chores run. Pair: a claim, and the \
report that completes it, by the same caller.
- waiting: how deep the line is. What a round of claims takes is added again before the next, untimed. Depths are \
compared by rounds of equal length; claims and ceiling by the longest round that leaves the depth within 3.3 %.
- drain: claims without anything coming in, by windows of equally many claims; the open snapshot is an idle \
REPEATABLE READ transaction of another client.
- foreign: half of the line, in 250 lanes and ahead of everything else, is for others. Plain: a line as deep without \
them.";

fn table(bars: &[Bar]) -> String {
    let mut text = "| bar | where | measured | must be | |\n|---|---|---|---|---|\n".to_owned();
    for bar in bars {
        let met = if bar.is_met() { "met" } else { "**not met**" };
        let measured = figures::ratio(Some(bar.measured));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} | {measured} | {} | {met} |", bar.what, bar.place, bar.must);
    }
    text
}

/// Returns a path as seen from the root of the repository.
fn short(path: &Path) -> String {
    path.strip_prefix(crate::root()).unwrap_or(path).display().to_string()
}
