//! One step of a chore: announced, timed, its result reported.

use std::{
    process::{Command, ExitCode},
    time::Instant,
};

use anyhow::{Context as _, Result};

/// Runs `work` under a name and prints how long it took.
#[expect(clippy::disallowed_methods, reason = "how long a step took is real time")]
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result<ExitCode>) -> Result<ExitCode> {
    println!("==> {name}");
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f32();
    let outcome = match &result {
        Ok(code) if *code == ExitCode::SUCCESS => "ok",
        Ok(_) | Err(_) => "FAILED",
    };
    println!("==> {name}: {outcome} in {seconds:.1} s");
    result
}

/// Runs a command to its end and returns its exit code, 1 where a signal ended it.
pub(crate) fn run(command: &mut Command) -> Result<ExitCode> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Returns a cargo command at the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(crate::root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_is_passed_on() {
        let code = |script| run(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(code("exit 0"), ExitCode::SUCCESS);
        assert_eq!(code("exit 100"), ExitCode::from(100));
        assert_eq!(code("kill -9 $$"), ExitCode::FAILURE);
    }

    #[test]
    fn program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(error.to_string(), "cannot run /no/such/program");
    }
}
