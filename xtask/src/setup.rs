//! What the tests need of the machine: looked for, else installed, else an error that says what to install.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use extraboard_testkit::postgres::Binaries;

/// Something the machine must have.
struct Need {
    name: &'static str,
    /// Its packages on Debian and Ubuntu.
    packages: &'static [&'static str],
    is_met: fn() -> bool,
}

const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler (for the bundled SQLite)",
        packages: &["gcc", "libc6-dev"],
        is_met: || succeeds(Command::new("cc").arg("--version")),
    },
    Need {
        name: "curl (for the loop of docs/agent-guide.md)",
        packages: &["curl", "ca-certificates"],
        is_met: || succeeds(Command::new("curl").arg("--version")),
    },
    Need { name: "a PostgreSQL server", packages: &["postgresql"], is_met: || Binaries::find().is_ok() },
];

/// Makes sure that the machine has everything.
pub(crate) fn run() -> Result<()> {
    NEEDS.iter().filter(|need| !(need.is_met)()).try_for_each(|need| meet(need, install))
}

fn meet(need: &Need, install: fn(&[&str]) -> Result<()>) -> Result<()> {
    let packages = need.packages.join(" ");
    println!("{} is missing: installing {packages}", need.name);
    let advice = || {
        format!(
            "{} is missing and could not be installed here; \
             install it (on Debian and Ubuntu: apt-get install {packages}) and run again",
            need.name
        )
    };
    install(need.packages).with_context(advice)?;
    ensure!((need.is_met)(), advice());
    Ok(())
}

/// Installs Debian packages, as root or through a `sudo` that asks nothing.
fn install(packages: &[&str]) -> Result<()> {
    ensure!(Path::new("/usr/bin/apt-get").exists(), "there is no apt-get");
    apt_get(&["update"])?;
    let arguments = ["install", "-y", "--no-install-recommends"];
    apt_get(&[&arguments, packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let line = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    let mut command = if is_root()? {
        Command::new(line[0])
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", line[0]]);
        sudo
    };
    command.args(&line[1..]).args(arguments);
    let status = command.status().context("not root, and there is no sudo")?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("cannot run id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// Tells whether a command can be run and succeeds, without showing what it prints.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER_MET: Need = Need { name: "a unicorn", packages: &["unicorn", "horn"], is_met: || false };

    fn message(install: fn(&[&str]) -> Result<()>) -> String {
        format!("{:#}", meet(&NEVER_MET, install).unwrap_err())
    }

    #[test]
    fn failed_installation_says_what_to_install_and_why_it_failed() {
        let message = message(|_| bail!("there is no apt-get"));
        assert!(message.contains("apt-get install unicorn horn"), "{message}");
        assert!(message.ends_with("there is no apt-get"), "{message}");
    }

    #[test]
    fn installation_without_effect_is_a_failure() {
        let message = message(|_| Ok(()));
        assert!(message.contains("a unicorn is missing"), "{message}");
    }

    #[test]
    fn command_that_is_not_there_does_not_succeed() {
        assert!(succeeds(&mut Command::new("true")));
        assert!(!succeeds(&mut Command::new("false")));
        assert!(!succeeds(&mut Command::new("/no/such/program")));
    }
}
