//! What the command line asks to be measured.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bench {
    /// Claims by the desk, beside a ceiling.
    Claim,
    /// Work by HTTP, beside the desk.
    Http,
    /// Claims with prompts by templates, beside claims without.
    Prompts,
}

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Full,
    /// Minutes instead of an hour; proves nothing but that it runs.
    Quick,
}

/// Something that can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Many callers: ceiling, claims, pairs.
    Claims,
    /// One caller, one claim at a time.
    Singles,
    Why,
    Drain,
    /// Tasks at the head of the line that are not for the claimer.
    Foreign,
    /// Clients that wait for a task, and clients that poll.
    Wake,
    /// Many connections: pairs by HTTP and by the desk.
    Throughput,
    /// Claims with and without prompts by templates.
    Prompts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Pipeline,
    DepthFirst,
}

/// Something that is chosen by its name.
pub(crate) trait Named: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
    fn name(self) -> &'static str;
}

impl Named for Bench {
    const ALL: &'static [Self] = &[Self::Claim, Self::Http, Self::Prompts];

    fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Http => "http",
            Self::Prompts => "prompts",
        }
    }
}

impl Bench {
    fn parts(self) -> &'static [Part] {
        match self {
            Self::Claim => &[Part::Claims, Part::Singles, Part::Why, Part::Drain, Part::Foreign],
            Self::Http => &[Part::Wake, Part::Throughput],
            Self::Prompts => &[Part::Prompts],
        }
    }

    /// What HTTP and prompts cost does not depend on how tasks are ranked, so one profile does.
    fn profiles(self) -> &'static [Profile] {
        match self {
            Self::Claim => Profile::ALL,
            Self::Http | Self::Prompts => &[Profile::Pipeline],
        }
    }
}

impl Named for Part {
    const ALL: &'static [Self] = &[
        Self::Claims,
        Self::Singles,
        Self::Why,
        Self::Drain,
        Self::Foreign,
        Self::Wake,
        Self::Throughput,
        Self::Prompts,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::Singles => "singles",
            Self::Why => "why",
            Self::Drain => "drain",
            Self::Foreign => "foreign",
            Self::Wake => "wake",
            Self::Throughput => "throughput",
            Self::Prompts => "prompts",
        }
    }
}

impl Named for Database {
    const ALL: &'static [Self] = &[Self::Sqlite, Self::Postgres];

    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl Named for Profile {
    const ALL: &'static [Self] = &[Self::Pipeline, Self::DepthFirst];

    fn name(self) -> &'static str {
        match self {
            Self::Pipeline => "pipeline",
            Self::DepthFirst => "depth_first",
        }
    }
}

/// What to measure, how often, and where the results belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) bench: Bench,
    pub(crate) extent: Extent,
    pub(crate) parts: Vec<Part>,
    pub(crate) databases: Vec<Database>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) samples: usize,
    /// The arguments, as they were given.
    pub(crate) line: String,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut words = arguments.iter().map(String::as_str);
        let name = words.next().unwrap_or_default();
        let bench = Bench::ALL.iter().copied().find(|bench| bench.name() == name);
        let bench = bench.ok_or("error: expected `bench claim`, `bench http` or `bench prompts`")?;
        let mut options = Self {
            bench,
            extent: Extent::Full,
            parts: bench.parts().to_vec(),
            databases: Database::ALL.to_vec(),
            profiles: bench.profiles().to_vec(),
            samples: 0,
            line: arguments.join(" "),
        };
        while let Some(word) = words.next() {
            if word == "--quick" {
                options.extent = Extent::Quick;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("error: `{word}` wants a value"))?;
            match word {
                "--only" => options.parts = chosen(value, bench.parts())?,
                "--database" => options.databases = chosen(value, Database::ALL)?,
                "--profile" if bench == Bench::Claim => options.profiles = chosen(value, Profile::ALL)?,
                "--samples" => options.samples = count(value)?,
                _ => return Err(format!("error: unknown option `{word}`")),
            }
        }
        if options.samples == 0 {
            options.samples = options.extent.samples();
        }
        Ok(options)
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Tells whether the results are worth keeping: everything was measured, and often enough.
    pub(crate) fn is_whole(&self) -> bool {
        self.extent == Extent::Full
            && self.samples >= Extent::Full.samples()
            && self.bench.parts().iter().all(|part| self.has(*part))
            && Database::ALL.iter().all(|database| self.databases.contains(database))
            && self.bench.profiles().iter().all(|profile| self.profiles.contains(profile))
    }
}

/// Reads names with commas between them.
fn chosen<T: Named>(names: &str, of: &[T]) -> Result<Vec<T>, String> {
    names
        .split(',')
        .map(|name| {
            of.iter().copied().find(|one| one.name() == name).ok_or_else(|| {
                let all: Vec<_> = of.iter().map(|one| one.name()).collect();
                format!("error: unknown `{name}`, expected some of {}", all.join(","))
            })
        })
        .collect()
}

fn count(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("error: expected a number of samples, got `{value}`")),
    }
}

/// The sizes of everything.
impl Extent {
    pub(crate) fn samples(self) -> usize {
        match self {
            Self::Full => 5,
            Self::Quick => 3,
        }
    }

    pub(crate) fn depths(self) -> &'static [u32] {
        match self {
            Self::Full => &[1_000, 100_000, 1_000_000],
            Self::Quick => &[1_000, 20_000],
        }
    }

    pub(crate) fn deepest(self) -> u32 {
        self.depths().last().copied().unwrap_or_default()
    }

    pub(crate) fn shallowest(self) -> u32 {
        self.depths().first().copied().unwrap_or_default()
    }

    /// How many claims are made before as many tasks are added. The short round suits every depth and
    /// compares them; the long one lets many callers find their own rhythm.
    pub(crate) fn rounds(self) -> [u32; 2] {
        match self {
            Self::Full => [64, 2_000],
            Self::Quick => [64, 1_000],
        }
    }

    pub(crate) fn sample_ms(self) -> u32 {
        match self {
            Self::Full => 600,
            Self::Quick => 150,
        }
    }

    /// How many single claims, and how many questions, make a sample.
    pub(crate) fn singles(self) -> u32 {
        match self {
            Self::Full => 400,
            Self::Quick => 100,
        }
    }

    /// How deep a line is drained, how far, and in windows of how many claims.
    pub(crate) fn drain(self) -> [u32; 3] {
        match self {
            Self::Full => [300_000, 200_000, 20_000],
            Self::Quick => [30_000, 20_000, 2_000],
        }
    }

    /// How many wakes make a sample, of clients that wait and of clients that poll. Those take a
    /// hundred times as long.
    pub(crate) fn wakes(self) -> [u32; 2] {
        match self {
            Self::Full => [200, 40],
            Self::Quick => [50, 12],
        }
    }

    /// How deep the line is that connections claim from, and how many pairs are made before as many
    /// tasks are added.
    pub(crate) fn throughput(self) -> [u32; 2] {
        match self {
            Self::Full => [20_000, 1_000],
            Self::Quick => [2_000, 128],
        }
    }

    /// How deep the line is that is claimed from with and without prompts, and how many claims make
    /// a sample.
    pub(crate) fn prompts(self) -> [u32; 2] {
        match self {
            Self::Full => [20_000, 1_000],
            Self::Quick => [3_000, 200],
        }
    }

    /// How deep a line is of which the first half is for others.
    pub(crate) fn foreign(self) -> u32 {
        match self {
            Self::Full => 400_000,
            Self::Quick => 40_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn everything_is_measured_unless_something_is_chosen() {
        let whole = parse("claim").unwrap();
        assert!(whole.is_whole() && whole.samples == 5);
        let some = parse("claim --only drain,why --database postgres --samples 7").unwrap();
        assert_eq!((some.parts.clone(), some.samples), (vec![Part::Drain, Part::Why], 7));
        assert!(!some.is_whole() && !parse("claim --quick").unwrap().is_whole());
        assert!(!parse("claim --samples 3").unwrap().is_whole());
    }

    #[test]
    fn each_bench_has_its_own_parts() {
        let http = parse("http").unwrap();
        assert!(http.is_whole() && http.samples == 5 && http.parts == [Part::Wake, Part::Throughput]);
        assert!(!parse("http --only wake").unwrap().is_whole());
        let expected = "error: unknown `drain`, expected some of wake,throughput";
        assert_eq!(parse("http --only drain"), Err(expected.to_owned()));
        assert_eq!(parse("http --profile pipeline"), Err("error: unknown option `--profile`".to_owned()));
        let prompts = parse("prompts").unwrap();
        assert!(prompts.is_whole() && prompts.parts == [Part::Prompts]);
        assert!(!parse("prompts --quick").unwrap().is_whole());
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("").is_err() && parse("htpt").is_err() && parse("claim --samples 0").is_err());
        let expected = "error: unknown `drains`, expected some of claims,singles,why,drain,foreign";
        assert_eq!(parse("claim --only drains"), Err(expected.to_owned()));
        assert_eq!(parse("claim --only"), Err("error: `--only` wants a value".to_owned()));
        assert_eq!(parse("claim --fast 1"), Err("error: unknown option `--fast`".to_owned()));
    }
}
