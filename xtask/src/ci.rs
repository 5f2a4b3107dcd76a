//! `cargo xtask ci`: everything a change must pass; the first failure ends it.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    setup,
    step::{cargo, run as run_command, step},
    test, tidy,
};

type Work = fn() -> Result<ExitCode>;

/// In order: what answers fastest comes first, but nothing builds before the machine can.
const STEPS: &[(&str, Work)] = &[
    ("set-up", || setup::run().map(|()| ExitCode::SUCCESS)),
    ("fmt", || run_command(&mut cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy::run),
    ("clippy", || {
        let arguments = ["clippy", "--workspace", "--all-targets"];
        run_command(cargo(&arguments).args(["--", "-D", "warnings"]))
    }),
    ("docs", || {
        let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
        run_command(cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("test", || test::run(&[])),
];

pub(crate) fn run() -> Result<ExitCode> {
    run_steps(STEPS)
}

fn run_steps(steps: &[(&str, Work)]) -> Result<ExitCode> {
    for (name, work) in steps {
        let code = step(name, work)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failure_ends_the_run() {
        let steps: &[(&str, Work)] = &[
            ("good", || Ok(ExitCode::SUCCESS)),
            ("bad", || Ok(ExitCode::from(7))),
            ("never", || panic!("a step ran after a failure")),
        ];
        assert_eq!(run_steps(steps).unwrap(), ExitCode::from(7));
    }
}
