//! Which crate may depend on which: the table of crates in ARCHITECTURE.md, enforced.
//!
//! A crate without a row is a finding, so that a new crate, like a new edge, is decided here and reviewed.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{Finding, Repository};

/// May be a development dependency of any crate, and of `xtask` a normal one.
const TESTKIT: &str = "extraboard-testkit";
const XTASK: &str = "xtask";

/// What one crate of the workspace may depend on.
struct Row {
    name: &'static str,
    /// The crates of the workspace it may use.
    ours: &'static [&'static str],
    /// The crates of others that it must never use.
    banned: &'static [&'static str],
}

const GITHUB_CLIENTS: &[&str] = &["octocrab", "octorust", "roctokit", "hubcaps"];

const TABLE: &[Row] = &[
    Row {
        name: "extraboard-core",
        ours: &[],
        banned: &["async-nats", "axum", "getrandom", "rand", "reqwest", "rusqlite", "sqlx", "tokio"],
    },
    Row { name: "extraboard-store", ours: &["extraboard-core"], banned: &["axum"] },
    Row {
        name: "extraboard-desk",
        ours: &["extraboard-core", "extraboard-store"],
        banned: &["async-nats", "axum", "rmcp"],
    },
    Row { name: "extraboard-api", ours: &["extraboard-core"], banned: &["axum", "rusqlite", "sqlx"] },
    Row {
        name: "extraboard-prompts",
        ours: &["extraboard-core"],
        banned: &["axum", "getrandom", "rand", "reqwest", "rusqlite", "sqlx", "tokio"],
    },
    Row {
        name: "extraboard-intake",
        ours: &[],
        banned: &["axum", "getrandom", "rand", "reqwest", "rusqlite", "sqlx", "tokio"],
    },
    Row {
        name: "extraboard-server",
        ours: &[
            "extraboard-api",
            "extraboard-core",
            "extraboard-desk",
            "extraboard-intake",
            "extraboard-mcp",
            "extraboard-prompts",
            "extraboard-store",
        ],
        banned: GITHUB_CLIENTS,
    },
    Row { name: "extraboard-mcp", ours: &["extraboard-api"], banned: &["rusqlite", "sqlx"] },
    Row { name: "extraboard-connect", ours: &[], banned: &["axum", "reqwest", "rusqlite", "sqlx", "tokio"] },
    Row {
        name: "extraboard",
        ours: &[
            "extraboard-api",
            "extraboard-connect",
            "extraboard-intake",
            "extraboard-mcp",
            "extraboard-prompts",
            "extraboard-core",
            "extraboard-desk",
            "extraboard-server",
            "extraboard-store",
        ],
        banned: &[],
    },
    Row {
        name: "extraboard-bench",
        ours: &[
            "extraboard-core",
            "extraboard-desk",
            "extraboard-prompts",
            "extraboard-server",
            "extraboard-store",
        ],
        banned: &["axum"],
    },
    Row { name: TESTKIT, ours: &[], banned: &["axum", "sqlx", "tokio"] },
    Row { name: XTASK, ours: &[], banned: &["tokio"] },
];

/// Asks cargo for the workspace's crates and their direct dependencies.
pub(super) fn read_metadata(root: &Path) -> Result<Value> {
    let mut command = crate::step::cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let output = command.current_dir(root).output().context("cannot run cargo")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {complaint}");
    serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata printed")
}

pub(super) fn check(metadata: &Value, repository: &Repository) -> Vec<Finding> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let ours: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let full = package["manifest_path"].as_str().unwrap_or_default();
        let path = full.strip_prefix(root).unwrap_or(full).trim_start_matches('/');
        let manifest = repository.text(path).unwrap_or_default();
        let name = package["name"].as_str().unwrap_or_default();
        let Some(row) = TABLE.iter().find(|row| row.name == name) else {
            let message = format!("crate `{name}` has no row in xtask/src/tidy/edges.rs");
            findings.push(Finding::new(path, 1, message));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            if let Some(message) = row.objection(dependency, &ours) {
                let line = line_of(manifest, dependency["name"].as_str().unwrap_or_default());
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

impl Row {
    /// Says why this crate must not have this dependency.
    fn objection(&self, dependency: &Value, ours: &[&str]) -> Option<String> {
        let (crate_name, name) = (self.name, dependency["name"].as_str()?);
        let is_for_tests = dependency["kind"] == "dev";
        if name == TESTKIT {
            let is_allowed = is_for_tests || crate_name == XTASK;
            return (!is_allowed).then(|| format!("`{name}` is for [dev-dependencies]"));
        }
        let is_ours = ours.contains(&name);
        let is_objectionable = if is_ours { !self.ours.contains(&name) } else { self.banned.contains(&name) };
        is_objectionable.then(|| format!("`{crate_name}` must not depend on `{name}`"))
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the line of a manifest that names a dependency, the first where none does.
fn line_of(manifest: &str, dependency: &str) -> usize {
    let names =
        |line: &str| line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
    manifest.lines().position(names).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::finding::expect;

    /// Checks a workspace in which one crate has one dependency.
    #[track_caller]
    fn check_edge(from: &str, to: &str, kind: Option<&str>, expected: &[&str]) {
        let package = |name: &str, dependencies: Value| {
            let manifest_path = format!("/r/{name}/Cargo.toml");
            json!({ "name": name, "manifest_path": manifest_path, "dependencies": dependencies })
        };
        let mut packages = vec![package(from, json!([{ "name": to, "kind": kind }]))];
        let others = TABLE.iter().filter(|row| row.name != from);
        packages.extend(others.map(|row| package(row.name, json!([]))));
        let metadata = json!({ "workspace_root": "/r", "packages": packages });
        let manifest = format!("[dependencies]\n{to}-more = \"1\"\n{to}.workspace = true\n");
        let path = format!("{from}/Cargo.toml");
        expect(&check(&metadata, &Repository::of(&[(&path, &manifest)])), expected);
    }

    #[test]
    fn edges_of_the_table_are_fine() {
        check_edge("extraboard-server", "extraboard-desk", None, &[]);
        check_edge("extraboard-server", "axum", None, &[]);
        check_edge("extraboard", "extraboard-store", None, &[]);
        check_edge("extraboard-core", "uuid", None, &[]);
    }

    #[test]
    fn edges_outside_the_table_are_found() {
        let check = |from, to| {
            let expected = format!("{from}/Cargo.toml:3: `{from}` must not depend on `{to}`");
            check_edge(from, to, None, &[&expected]);
            check_edge(from, to, Some("dev"), &[&expected]);
        };
        check("extraboard-core", "tokio");
        check("extraboard-core", "extraboard-store");
        check("extraboard-store", "axum");
        check("extraboard-desk", "axum");
        check("extraboard-api", "extraboard-store");
        check("extraboard-server", "octocrab");
        check("xtask", "extraboard-core");
        check("extraboard-testkit", "extraboard-core");
    }

    #[test]
    fn testkit_is_for_tests() {
        check_edge("extraboard-store", TESTKIT, Some("dev"), &[]);
        check_edge(XTASK, TESTKIT, None, &[]);
        let expected = ["extraboard-store/Cargo.toml:3: `extraboard-testkit` is for [dev-dependencies]"];
        check_edge("extraboard-store", TESTKIT, None, &expected);
    }

    #[test]
    fn crate_without_a_row_is_found() {
        let expected = ["types/Cargo.toml:1: crate `types` has no row in xtask/src/tidy/edges.rs"];
        check_edge("types", "serde", None, &expected);
    }

    #[test]
    fn metadata_of_this_workspace_can_be_read() {
        let metadata = read_metadata(&crate::root()).unwrap();
        let names = list(&metadata["packages"]).iter().map(|package| &package["name"]);
        assert_eq!(names.filter(|name| *name == XTASK).count(), 1);
    }
}
