//! Chores of this repository: `cargo xtask test | ci | tidy | bench | fuzz-api`.
//!
//! Knows the repository and its tools, and no product crate.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for people and CI logs")]

mod bench;
mod ci;
mod fuzz;
mod setup;
mod step;
mod test;
mod tidy;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  test [ARGS…]  set up what the tests need (PostgreSQL, a C compiler) and run all of them;
                ARGS go to `cargo nextest run`, for example: cargo xtask test -p extraboard-store claim
  ci            fmt, clippy, tidy, docs, then test; what CI runs
  bench claim [--quick] [--only PARTS] [--database NAMES] [--profile NAMES] [--samples N]
                measure claims beside a ceiling on both databases and write bench/results; --quick takes
                minutes and proves nothing but that it runs. PARTS are some of claims,singles,why,drain,foreign.
                What is not a whole run goes to target/bench-results
  bench http [--quick] [--only PARTS] [--database NAMES] [--samples N]
                measure by HTTP how soon a client that waits has a task, beside clients that poll, and pairs
                beside the desk alone. PARTS are some of wake,throughput
  bench prompts [--quick] [--database NAMES] [--samples N]
                measure claims with prompts by the shipped templates beside claims without
  fuzz-api [EXAMPLES]
                try the API with schemathesis (from PyPI; needs Python 3), so many examples of each operation
  tidy          check what compilers do not: crate edges, where SQL stands, module docs, lengths, links";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Chore {
    Test(Vec<String>),
    Ci,
    Tidy,
    Bench(bench::Options),
    FuzzApi(u32),
    Help,
}

impl Chore {
    fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let Some(name) = arguments.next() else {
            return Err("error: no command".to_owned());
        };
        let rest: Vec<String> = arguments.collect();
        let chore = match name.as_str() {
            "test" => return Ok(Self::Test(rest)),
            "bench" => return bench::Options::parse(&rest).map(Self::Bench),
            "fuzz-api" => return fuzz_api(&rest),
            "ci" => Self::Ci,
            "tidy" => Self::Tidy,
            "help" | "--help" | "-h" => Self::Help,
            _ => return Err(format!("error: unknown command `{name}`")),
        };
        match rest.first() {
            None => Ok(chore),
            Some(extra) => Err(format!("error: `{name}` takes no argument, found `{extra}`")),
        }
    }

    fn run(self) -> Result<ExitCode> {
        match self {
            Self::Test(arguments) => test::run(&arguments),
            Self::Ci => ci::run(),
            Self::Tidy => tidy::run(),
            Self::Bench(options) => bench::run(&options),
            Self::FuzzApi(examples) => fuzz::run(examples),
            Self::Help => {
                println!("{USAGE}");
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// How many examples of each operation are tried unless it is said.
const EXAMPLES: u32 = 50;

fn fuzz_api(rest: &[String]) -> Result<Chore, String> {
    match rest {
        [] => Ok(Chore::FuzzApi(EXAMPLES)),
        [number] => number
            .parse()
            .map(Chore::FuzzApi)
            .map_err(|_| format!("error: `fuzz-api` takes a number of examples, found `{number}`")),
        [_, extra, ..] => Err(format!("error: `fuzz-api` takes one number, found `{extra}`")),
    }
}

fn main() -> ExitCode {
    let chore = match Chore::parse(env::args().skip(1)) {
        Ok(chore) => chore,
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    chore.run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Returns the root of the repository, wherever the command was called.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Chore, String> {
        Chore::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn commands_are_understood() {
        let arguments = vec!["-p".to_owned(), "xtask".to_owned()];
        assert_eq!(parse("test -p xtask"), Ok(Chore::Test(arguments)));
        assert_eq!(parse("ci"), Ok(Chore::Ci));
        assert_eq!(parse("tidy"), Ok(Chore::Tidy));
        assert_eq!(parse("--help"), Ok(Chore::Help));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(parse(""), Err("error: no command".to_owned()));
        assert_eq!(parse("tset"), Err("error: unknown command `tset`".to_owned()));
        let expected = "error: `tidy` takes no argument, found `now`";
        assert_eq!(parse("tidy now"), Err(expected.to_owned()));
    }
}
