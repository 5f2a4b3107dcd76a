//! `xb project`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use extraboard_api::client::{Client, ClientError};
use extraboard_api::project::{Project, ProjectCreate, ProjectPatch};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::{clean_line, talk};
use crate::project_file::{PLACE, ProjectFile};

const FLAGS: &FlagNames = &[("name", "project"), ("runLimit", "limits.running")];

/// Work with the project file of the directory this is called in
///
/// The file is .extraboard/project.toml, here or in the nearest directory above; `xb init` writes one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check the file, and print what it says
    Show,
    /// Create the project that the file names, or make it what the file says
    Apply {
        /// Change nothing, only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let file = ProjectFile::nearest()?;
    match args.command {
        Command::Show => show(&file, ctx),
        Command::Apply { dry_run } => {
            let run = if dry_run { Run::Dry } else { Run::Real };
            apply(&file, run, ctx).await
        }
    }
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Dry,
    Real,
}

fn show(file: &ProjectFile, ctx: &Context) -> Result<(), CliError> {
    let path = file.path.display().to_string();
    let whole = json!({"path": path, "project": file.project, "settings": file.settings});
    ctx.out.show(&whole, |_| {
        talk(&format!("{path} says"));
        let mut text = format!("project = {}\n", json!(file.project));
        for (key, value) in leaves(&json!(file.settings)) {
            let _ = writeln!(text, "{key} = {value}");
        }
        text.lines().map(|line| clean_line(line) + "\n").collect()
    })
}

async fn apply(file: &ProjectFile, run: Run, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let found = match client.project_get(&file.project).await {
        Ok(project) => Some(project),
        Err(ClientError::Api { status: 404, .. }) => None,
        Err(error) => return Err(CliError::of_request(&error, FLAGS)),
    };
    let plan = Plan::of(file, found.as_ref());
    if run == Run::Real {
        plan.carry_out(&client).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    }
    let told =
        Told { project: &file.project, dry_run: run == Run::Dry, did: plan.word(), changes: &plan.changes };
    ctx.out.show(&told, |_| told.text())
}

/// What is to be done about a project.
#[derive(Debug)]
struct Plan<'a> {
    file: &'a ProjectFile,
    is_new: bool,
    run_limit: RunLimit,
    changes: Vec<Change>,
}

/// What becomes of the number of tasks that may be handed out at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunLimit {
    Stays,
    Becomes(Option<i64>),
}

/// One key that changes.
#[derive(Debug, PartialEq, Serialize)]
struct Change {
    key: String,
    from: Option<Value>,
    to: Option<Value>,
}

impl<'a> Plan<'a> {
    fn of(file: &'a ProjectFile, found: Option<&Project>) -> Self {
        let old = found.map_or_else(|| json!({}), |project| json!(project.settings));
        let mut changes = changes(&old, &json!(file.settings));
        let run_limit = run_limit(file, found);
        if let (Some(project), RunLimit::Becomes(limit)) = (found, run_limit)
            && !changes.iter().any(|change| change.key == "limits.running")
        {
            // Somebody set the limit by other means.
            let (from, to) = (project.run_limit.map(Value::from), limit.map(Value::from));
            changes.push(Change { key: "limits.running".to_owned(), from, to });
        }
        Self { file, is_new: found.is_none(), run_limit, changes }
    }

    fn word(&self) -> &'static str {
        match (self.is_new, self.changes.is_empty()) {
            (true, _) => "created",
            (false, false) => "updated",
            (false, true) => "same",
        }
    }

    async fn carry_out(&self, client: &Client) -> Result<(), ClientError> {
        let ProjectFile { project, settings, .. } = self.file;
        if self.is_new {
            let create = ProjectCreate {
                name: project.clone(),
                run_limit: settings.limits.as_ref().and_then(|limits| limits.running),
                settings: Some(settings.clone()),
                ..ProjectCreate::default()
            };
            client.project_create(&create).await.map(drop)
        } else if self.changes.is_empty() {
            Ok(())
        } else {
            let patch = ProjectPatch {
                run_limit: match self.run_limit {
                    RunLimit::Stays => None,
                    RunLimit::Becomes(limit) => Some(limit),
                },
                settings: Some(settings.clone()),
                ..ProjectPatch::default()
            };
            client.project_patch(project, &patch).await.map(drop)
        }
    }
}

/// Returns the limit to set: the file's, or none where the file had one before. A limit that was never in the
/// file is nobody's business here.
fn run_limit(file: &ProjectFile, found: Option<&Project>) -> RunLimit {
    let wanted = file.settings.limits.as_ref().and_then(|limits| limits.running);
    let had = found.and_then(|project| project.settings.limits.as_ref()?.running);
    let has = found.and_then(|project| project.run_limit);
    if (wanted.is_none() && had.is_none()) || has == wanted {
        return RunLimit::Stays;
    }
    RunLimit::Becomes(wanted)
}

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let (old, new) = (leaves(old), leaves(new));
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    differing
        .map(|key| Change { key: key.clone(), from: old.get(key).cloned(), to: new.get(key).cloned() })
        .collect()
}

/// Returns every value that is no table, by its dotted key.
fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &Value, name: &str, found: &mut BTreeMap<String, Value>) {
    let Value::Object(fields) = value else {
        found.insert(name.to_owned(), value.clone());
        return;
    };
    for (key, value) in fields {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        collect(value, &name, found);
    }
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    project: &'a str,
    dry_run: bool,
    did: &'static str,
    changes: &'a [Change],
}

impl Told<'_> {
    fn text(&self) -> String {
        let name = clean_line(self.project);
        let mut text = match (self.did, self.dry_run) {
            ("same", _) => format!("project {name} is what {PLACE} says\n"),
            (did, true) => format!("project {name} would be {did}\n"),
            (did, false) => format!("{did} project {name}\n"),
        };
        let shown =
            |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
        for change in self.changes {
            let line = format!("  {}: {} → {}", change.key, shown(&change.from), shown(&change.to));
            text.push_str(&(clean_line(&line) + "\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn file(text: &str) -> ProjectFile {
        ProjectFile::parse(Path::new("p.toml"), &format!("project = \"apollo\"\n{text}")).unwrap()
    }

    fn project(run_limit: Option<i64>, settings: &Value) -> Project {
        serde_json::from_value(json!({
            "id": "0199p", "name": "apollo", "description": null, "status": "active", "health": "on_track",
            "goalId": null, "goal": null, "workspace": null, "runLimit": run_limit, "settings": settings,
            "createdAt": "", "updatedAt": ""
        }))
        .unwrap()
    }

    fn told(file: &ProjectFile, found: Option<&Project>, dry_run: bool) -> String {
        let plan = Plan::of(file, found);
        Told { project: &file.project, dry_run, did: plan.word(), changes: &plan.changes }.text()
    }

    #[test]
    fn a_project_is_created_updated_or_left_as_it_is() {
        let file = file("base = \"main\"\n[limits]\nrunning = 4\n[[route]]\npull = true");
        insta::assert_snapshot!(told(&file, None, false), @r#"
        created project apollo
          base: none → "main"
          limits.running: none → 4
          route: none → [{"pull":true}]
        "#);
        let old = project(Some(2), &json!({"base": "dev", "reviews": false, "limits": {"running": 2}}));
        insta::assert_snapshot!(told(&file, Some(&old), true), @r#"
        project apollo would be updated
          base: "dev" → "main"
          limits.running: 2 → 4
          reviews: false → none
          route: none → [{"pull":true}]
        "#);
        let same = project(Some(4), &json!(file.settings));
        insta::assert_snapshot!(told(&file, Some(&same), false), @r"
        project apollo is what .extraboard/project.toml says
        ");
    }

    #[test]
    fn the_limit_is_set_only_by_whoever_mentions_it() {
        let check = |text: &str, found: Option<Project>, expected: RunLimit| {
            let file = file(text);
            assert_eq!(run_limit(&file, found.as_ref()), expected, "{text} {found:?}");
        };
        let limited = json!({"limits": {"running": 4}});
        check("limits.running = 4", None, RunLimit::Becomes(Some(4)));
        check("", None, RunLimit::Stays);
        check("limits.running = 4", Some(project(Some(4), &limited)), RunLimit::Stays);
        check("limits.running = 4", Some(project(Some(7), &limited)), RunLimit::Becomes(Some(4)));
        check("limits.running = 4", Some(project(None, &json!({}))), RunLimit::Becomes(Some(4)));
        check("", Some(project(Some(7), &json!({}))), RunLimit::Stays);
        check("", Some(project(Some(4), &limited)), RunLimit::Becomes(None));
    }

    #[test]
    fn a_limit_that_was_set_by_other_means_is_a_change() {
        let file = file("limits.running = 4");
        let plan_changes =
            Plan::of(&file, Some(&project(Some(7), &json!({"limits": {"running": 4}})))).changes;
        let expected = Change { key: "limits.running".to_owned(), from: Some(json!(7)), to: Some(json!(4)) };
        assert_eq!(plan_changes, [expected]);
    }
}
