//! `cargo xtask tidy`: the habits of this repository that compilers do not check.
//!
//! Each check is a function from the repository's text to findings, with good and bad samples beside it.

mod docs;
mod edges;
mod finding;
mod length;
mod links;
mod migrations;
mod repository;
mod rust_source;
mod sql;
mod words;

use std::process::ExitCode;

use anyhow::Result;

use self::{finding::Finding, repository::Repository};

/// Prints every finding; any of them is a failure.
pub(crate) fn run() -> Result<ExitCode> {
    let root = crate::root();
    let repository = Repository::load(&root)?;
    let metadata = edges::read_metadata(&root)?;
    let mut findings = [
        edges::check(&metadata, &repository),
        sql::check(&repository),
        docs::check(&repository),
        words::check(&repository),
        length::check(&repository),
        links::check(&repository),
        migrations::check(&repository),
    ]
    .concat();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} to tidy", findings.len());
    Ok(ExitCode::FAILURE)
}
