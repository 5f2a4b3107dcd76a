//! `cargo xtask test`: sets the machine up, starts a private PostgreSQL and runs every test against it.
//!
//! Nothing is skipped silently: what cannot be set up fails, what is left out is said. PostgreSQL ends with
//! this process, however it ends.

use std::process::{Command, ExitCode};

use anyhow::Result;
use extraboard_testkit::{database::ADMIN_URL_VARIABLE, postgres::PrivatePostgres};

use crate::{
    setup,
    step::{cargo, run as run_command},
};

/// What runs the tests.
#[derive(Clone, Copy)]
enum Runner {
    Nextest,
    CargoTest,
}

/// Runs the tests; `arguments` are handed to the runner.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    setup::run()?;
    let server = PrivatePostgres::start()?;
    let url = server.url("postgres");
    println!("private PostgreSQL: {url}");
    let runner = choose_runner();
    for line in command_lines(runner, arguments) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        println!("$ cargo {}", line.join(" "));
        let code = run_command(cargo(&line).env(ADMIN_URL_VARIABLE, &url))?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    if matches!(runner, Runner::Nextest) && !arguments.is_empty() {
        println!("doc tests were not run, because arguments choose the tests");
    }
    Ok(ExitCode::SUCCESS)
}

fn choose_runner() -> Runner {
    if setup::succeeds(Command::new("cargo").args(["nextest", "--version"])) {
        return Runner::Nextest;
    }
    println!("cargo-nextest is not installed: the same tests run with `cargo test`");
    Runner::CargoTest
}

/// Returns the arguments of each cargo call.
fn command_lines(runner: Runner, arguments: &[String]) -> Vec<Vec<String>> {
    let start = match runner {
        Runner::Nextest => "nextest run",
        Runner::CargoTest => "test --no-fail-fast",
    };
    let chooses_package =
        arguments.iter().any(|argument| argument == "-p" || argument.starts_with("--package"));
    let workspace = if chooses_package { "" } else { "--workspace" };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut tests = words(&format!("{start} {workspace}"));
    tests.extend_from_slice(arguments);
    match (runner, arguments.is_empty()) {
        // Nextest does not know doc tests. They go first, so that the last word is the whole suite's.
        (Runner::Nextest, true) => vec![words("test --workspace --doc"), tests],
        // `cargo test` runs doc tests by itself.
        (Runner::CargoTest, _) | (Runner::Nextest, false) => vec![tests],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runner: Runner, arguments: &str, expected: &[&str]) {
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let lines: Vec<String> =
            command_lines(runner, &arguments).iter().map(|line| line.join(" ")).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn everything_runs_without_arguments() {
        check(Runner::Nextest, "", &["test --workspace --doc", "nextest run --workspace"]);
        check(Runner::CargoTest, "", &["test --no-fail-fast --workspace"]);
    }

    #[test]
    fn arguments_choose_the_tests() {
        check(Runner::Nextest, "claim", &["nextest run --workspace claim"]);
        check(Runner::Nextest, "-p xtask", &["nextest run -p xtask"]);
        check(Runner::Nextest, "--package=xtask", &["nextest run --package=xtask"]);
    }
}
