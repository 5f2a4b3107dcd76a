//! The runs: databases are made and filled, measured, and removed.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{
    databases::Databases,
    options::{Database, Named as _, Options, Part, Profile},
    plans::{self, Line, Tasks, plan},
    report::Results,
};

/// Everything that was asked for, one run after the other.
pub(super) struct Runs<'a> {
    options: &'a Options,
    databases: Databases,
    results: &'a mut Results,
}

impl<'a> Runs<'a> {
    pub(super) fn new(options: &'a Options, results: &'a mut Results) -> Result<Self> {
        Ok(Self { options, databases: Databases::new(&options.databases)?, results })
    }

    pub(super) fn all(&mut self) -> Result<()> {
        for database in self.options.databases.clone() {
            for profile in self.options.profiles.clone() {
                self.depths(database, profile)?;
                if self.options.has(Part::Drain) {
                    self.drains(database, profile)?;
                }
            }
            if self.options.has(Part::Foreign) {
                self.foreign(database)?;
            }
            if self.options.has(Part::Wake) {
                let part = plans::wake(self.options.extent, database);
                self.http(database, Part::Wake, 0, part)?;
            }
            if self.options.has(Part::Throughput) {
                let [depth, _] = self.options.extent.throughput();
                let part = plans::throughput(self.options.extent, database);
                self.http(database, Part::Throughput, depth, part)?;
            }
            if self.options.has(Part::Prompts) {
                self.prompts(database)?;
            }
        }
        Ok(())
    }

    /// Says which databases were measured, while they are there.
    pub(super) fn versions(&self) -> Vec<String> {
        self.databases.versions()
    }

    /// Measures lines of different depths, in turn.
    fn depths(&mut self, database: Database, profile: Profile) -> Result<()> {
        let parts = plans::of_depths(self.options, database);
        if parts.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for depth in self.options.extent.depths() {
            lines.push(self.line(database, &format!("depth_{depth}"), *depth, 0)?);
        }
        self.fill(database, profile, &lines)?;
        self.measure(database, profile, &lines, &parts, &json!({}))?;
        self.remove(database, &lines)
    }

    /// Drains lines, on PostgreSQL with and without an open snapshot in turn.
    fn drains(&mut self, database: Database, profile: Profile) -> Result<()> {
        let snapshots: &[bool] = match database {
            Database::Sqlite => &[false],
            Database::Postgres => &[false, true],
        };
        let [depth, ..] = self.options.extent.drain();
        for sample in 0..self.options.samples {
            for has_snapshot in snapshots {
                let lines = [self.line(database, "drain", depth, 0)?];
                self.fill(database, profile, &lines)?;
                let snapshot = if *has_snapshot { Some(self.databases.snapshot("drain")?) } else { None };
                let extra = json!({ "sample": sample, "snapshot": has_snapshot });
                let parts = [plans::drain(self.options.extent)];
                self.measure(database, profile, &lines, &parts, &extra)?;
                drop(snapshot);
                self.remove(database, &lines)?;
            }
        }
        Ok(())
    }

    /// Claims from two lines of equal depth, of which one has foreign tasks at its head, in turn.
    fn foreign(&mut self, database: Database) -> Result<()> {
        let depth = self.options.extent.foreign();
        let lines =
            [self.line(database, "plain", depth, 0)?, self.line(database, "foreign", depth, depth / 2)?];
        self.fill(database, Profile::Pipeline, &lines)?;
        let parts = [plans::singles(self.options.extent)];
        self.measure(database, Profile::Pipeline, &lines, &parts, &json!({ "part": "foreign" }))?;
        self.remove(database, &lines)
    }

    /// Measures work by HTTP on a line so deep.
    fn http(&mut self, database: Database, part: Part, depth: u32, plan: Value) -> Result<()> {
        let lines = [self.line(database, part.name(), depth, 0)?];
        self.fill(database, Profile::Pipeline, &lines)?;
        let known = json!({ "part": part.name() });
        self.measure(database, Profile::Pipeline, &lines, &[plan], &known)?;
        self.remove(database, &lines)
    }

    /// Measures claims with and without prompts on one line, in turn.
    fn prompts(&mut self, database: Database) -> Result<()> {
        let [depth, _] = self.options.extent.prompts();
        let name = Part::Prompts.name();
        let lines = [Line { tasks: Tasks::Families, ..self.line(database, name, depth, 0)? }];
        self.fill(database, Profile::Pipeline, &lines)?;
        let parts = [plans::prompts(self.options.extent)];
        self.measure(database, Profile::Pipeline, &lines, &parts, &json!({ "part": name }))?;
        self.remove(database, &lines)
    }

    fn line(&self, database: Database, name: &str, depth: u32, foreign: u32) -> Result<Line> {
        let url = self.databases.create(database, name)?;
        Ok(Line { name: name.to_owned(), url, depth, foreign, tasks: Tasks::Bare })
    }

    fn fill(&mut self, database: Database, profile: Profile, lines: &[Line]) -> Result<()> {
        let plan = plan(self.options, profile, lines, &plans::fill());
        self.run(&plan, &json!({}))?;
        lines.iter().try_for_each(|line| self.databases.settle(database, &line.name))
    }

    fn remove(&self, database: Database, lines: &[Line]) -> Result<()> {
        lines.iter().try_for_each(|line| self.databases.remove(database, &line.name))
    }

    fn measure(
        &mut self,
        database: Database,
        profile: Profile,
        lines: &[Line],
        parts: &[Value],
        extra: &Value,
    ) -> Result<()> {
        let mut known = json!({ "database": database.name(), "profile": profile.name() });
        merge(&mut known, extra);
        self.run(&plan(self.options, profile, lines, parts), &known)
    }

    /// Runs the program and keeps what it prints, with what else is known about it.
    fn run(&mut self, plan: &Value, known: &Value) -> Result<()> {
        let mut program = Command::new(crate::root().join("target/release/extraboard-bench"))
            .arg(plan.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the benchmark")?;
        let output = program.stdout.take().context("the benchmark has no output")?;
        for line in BufReader::new(output).lines() {
            let mut sample: Value = serde_json::from_str(&line?)?;
            merge(&mut sample, known);
            self.results.add(sample)?;
        }
        let status = program.wait()?;
        ensure!(status.success(), "the benchmark ended with {status}");
        Ok(())
    }
}

fn merge(value: &mut Value, other: &Value) {
    if let (Some(value), Some(other)) = (value.as_object_mut(), other.as_object()) {
        value.extend(other.clone());
    }
}
