//! `cargo xtask fuzz-api`: schemathesis against a running desk, by the desk's own OpenAPI document.

use std::{
    fs,
    net::TcpStream,
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use extraboard_testkit::process::{Process, free_port, wait_until};

use crate::{
    setup,
    step::{cargo, run as run_command, step},
};

/// The version that was tried with this.
const PACKAGE: &str = "schemathesis==4.32.5";
/// What must hold: no failure of ours, only declared answers of declared shapes, 405 for methods that are not
/// declared, and no bad input taken for good.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,unsupported_method,allow_header_conformance,negative_data_rejection";
/// One would revoke the token all of them use, the other never ends.
const LEFT_OUT: [&str; 2] = ["revokeToken", "streamEvents"];
const START_LIMIT: Duration = Duration::from_secs(30);

/// Tries the API, so many examples of each operation.
pub(crate) fn run(examples: u32) -> Result<ExitCode> {
    setup::run()?;
    let folder = crate::root().join("target/fuzz-api");
    let built = step("build", || run_command(&mut cargo(&["build", "--bin", "xb"])))?;
    ensure!(built == ExitCode::SUCCESS, "xb does not build");
    step("schemathesis", || install(&folder).map(|()| ExitCode::SUCCESS))?;
    step("fuzz-api", || fuzz(&folder, examples))
}

/// Installs schemathesis into a folder of its own, unless it is there.
fn install(folder: &Path) -> Result<()> {
    let program = folder.join("venv/bin/schemathesis");
    if program.exists() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let venv = folder.join("venv");
    let made = run_command(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    ensure!(
        made == ExitCode::SUCCESS,
        "python3 -m venv failed: install Python 3 with venv (on Debian and Ubuntu: apt-get install python3-venv)"
    );
    let pip = venv.join("bin/pip");
    let installed = run_command(Command::new(pip).args(["install", "--quiet", PACKAGE]))?;
    ensure!(installed == ExitCode::SUCCESS, "{PACKAGE} cannot be installed");
    Ok(())
}

/// Runs a desk on an empty folder, and schemathesis against it.
fn fuzz(folder: &Path, examples: u32) -> Result<ExitCode> {
    let data = folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    let (port, metrics_port) = (free_port(), free_port());
    let mut serve = Command::new(crate::root().join("target/debug/xb"));
    serve
        .arg("serve")
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .args(["--metrics-listen", &format!("127.0.0.1:{metrics_port}")])
        .arg("--data-dir")
        .arg(&data);
    let mut desk = Process::spawn(&mut serve);
    wait_until(START_LIMIT, "the desk to listen", || TcpStream::connect(("127.0.0.1", port)).ok());
    let token = fs::read_to_string(data.join("admin.token")).context("the desk left no admin.token")?;
    let mut schemathesis = Command::new(folder.join("venv/bin/schemathesis"));
    schemathesis
        .arg("run")
        .arg(format!("http://127.0.0.1:{port}/api/openapi.json"))
        .args(["--header", &format!("Authorization: Bearer {}", token.trim())])
        .args(["--checks", CHECKS])
        .args(["--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--max-examples", &examples.to_string()])
        .current_dir(folder);
    for operation in LEFT_OUT {
        schemathesis.args(["--exclude-operation-id", operation]);
    }
    let code = run_command(&mut schemathesis)?;
    ensure!(desk.status().is_none(), "the desk ended meanwhile");
    desk.kill_9();
    Ok(code)
}
