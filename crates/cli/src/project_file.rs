//! The project file that lies in a repository, so that it is reviewed like code: `.extraboard/project.toml`.
//!
//! Its keys are those of the project's settings, and `project`, its name.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use extraboard_api::settings::ProjectSettings;

use crate::error::{CliError, Kind};
use crate::toml_file::{Document, Source, TomlProblem};

/// Where the file lies in a repository.
pub(crate) const PLACE: &str = ".extraboard/project.toml";

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

const NAME: &str = "project";

/// Every key of the file.
const KEYS: [&str; 22] = [
    NAME,
    "repo",
    "base",
    "workspace.mode",
    "workspace.setup",
    "workspace.copy",
    "workspace.verify",
    "finish.action",
    "finish.done_when",
    "route[].when.labels",
    "route[].when.kinds",
    "route[].run",
    "route[].model",
    "route[].fallback",
    "route[].pull",
    "route[].push",
    "limits.running",
    "limits.budget.task_usd",
    "limits.budget.day_usd",
    "signals.status",
    "reviews",
    "route[].when",
];

/// What a project file says.
#[derive(Debug, PartialEq)]
pub(crate) struct ProjectFile {
    pub(crate) path: PathBuf,
    pub(crate) project: String,
    pub(crate) settings: ProjectSettings,
}

impl ProjectFile {
    /// Reads the file nearest to the working directory.
    pub(crate) fn nearest() -> Result<Self, CliError> {
        let folder = working_directory()?;
        let none = || {
            CliError::new(Kind::NotFound, format!("no {PLACE} in {} or above", folder.display()))
                .hint("`xb init` writes one")
        };
        let path = find(&folder).ok_or_else(none)?;
        let text = read(&path)?;
        Ok(Self::parse(&path, &text)?)
    }

    /// Reads and checks the text of a file.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, TomlProblem> {
        let mut document = Document::parse(Source { path, text, first_line: 1 }, &KEYS)?;
        let project = document.take_text(NAME)?;
        let named = project.filter(|name| !name.trim().is_empty());
        let project = named.ok_or_else(|| {
            document.problem(NAME, format!("`{NAME}` is missing: expected the project's name"))
        })?;
        let settings: ProjectSettings = document.read()?;
        match settings.problems().first() {
            Some(wrong) => {
                Err(document.problem(&wrong.field, format!("`{}` {}", wrong.field, wrong.message)))
            }
            None => Ok(Self { path: path.to_owned(), project, settings }),
        }
    }
}

/// Returns the name that the nearest project file gives, and where that is; the rest of it may be anything.
pub(crate) fn nearest_name() -> Result<Option<(String, PathBuf)>, CliError> {
    let Some(path) = find(&working_directory()?) else { return Ok(None) };
    let name = name_in(&path, &read(&path)?)?;
    Ok(Some((name, path)))
}

/// Returns the working directory.
pub(crate) fn working_directory() -> Result<PathBuf, CliError> {
    std::env::current_dir().map_err(|error| CliError::io("cannot tell the working directory", &error))
}

/// Returns the project file of a folder or of the nearest one above that has one.
fn find(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|folder| folder.join(PLACE))
        .find(|path| fs::metadata(path).is_ok_and(|it| it.is_file()))
}

fn name_in(path: &Path, text: &str) -> Result<String, TomlProblem> {
    let table: toml::Table = text.parse().map_err(|_| match ProjectFile::parse(path, text) {
        Err(problem) => problem,
        Ok(file) => unreachable!("{} is TOML for one reader only", file.path.display()),
    })?;
    match table.get(NAME).and_then(toml::Value::as_str) {
        Some(name) if !name.trim().is_empty() => Ok(name.to_owned()),
        Some(_) | None => {
            let message = format!("`{NAME}` is missing: expected the project's name");
            Err(TomlProblem { path: path.to_owned(), line: 1, message })
        }
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let shown = path.display();
    let mut text = String::new();
    let opened = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    opened.map_err(|error| CliError::new(Kind::Usage, format!("cannot read {shown}: {error}")))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(CliError::new(Kind::Usage, format!("{shown} is larger than 1 MiB")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FULL: &str = r#"
project = "payments"
repo = "acme/payments"
base = "main"
reviews = true
[workspace]
mode = "worktree"
setup = "make deps"
copy = [".env.local"]
verify = "make test"
[finish]
action = "branch"
done_when = "reported"
[[route]]
when = { labels = ["trivial"], kinds = ["task"] }
run = "claude"
model = "haiku"
fallback = ["codex"]
[[route]]
pull = true
[[route]]
push = true
[limits]
running = 4
budget = { task_usd = 5, day_usd = 60.5 }
[signals]
status = "triage"
"#;

    fn parse(text: &str) -> Result<ProjectFile, TomlProblem> {
        ProjectFile::parse(Path::new("p.toml"), text)
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parse(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_file_with_every_key_is_read() {
        let file = parse(FULL).unwrap();
        assert_eq!(file.project, "payments");
        let expected = json!({
            "repo": "acme/payments", "base": "main",
            "workspace": {
                "mode": "worktree", "setup": "make deps", "copy": [".env.local"], "verify": "make test"
            },
            "finish": {"action": "branch", "done_when": "reported"},
            "route": [
                {
                    "when": {"labels": ["trivial"], "kinds": ["task"]}, "run": "claude", "model": "haiku",
                    "fallback": ["codex"]
                },
                {"pull": true}, {"push": true}
            ],
            "limits": {"running": 4, "budget": {"task_usd": 5.0, "day_usd": 60.5}},
            "signals": {"status": "triage"}, "reviews": true
        });
        assert_eq!(serde_json::to_value(&file.settings).unwrap(), expected);
        for key in KEYS {
            let last = key.rsplit(['.', ']']).next().unwrap();
            assert!(FULL.contains(&format!("{last} = ")), "{key} is not in the sample");
        }
    }

    #[test]
    fn a_name_is_enough_and_needed() {
        assert_eq!(parse("project = \"p\"").unwrap().settings, ProjectSettings::default());
        check("base = \"main\"", "p.toml line 1: `project` is missing: expected the project's name");
        check("project = \" \"", "p.toml line 1: `project` is missing: expected the project's name");
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_key() {
        check(
            "project = \"p\"\n[workspace]\nmoed = \"dir\"",
            "p.toml line 3: unknown key `workspace.moed`: did you mean `workspace.mode`?",
        );
        check(
            "project = \"p\"\n[workspace]\nmode = \"tree\"",
            "p.toml line 3: `workspace.mode` `tree` is none of none, dir, worktree",
        );
        check(
            "project = \"p\"\n[[route]]\npull = true\n\n[[route]]\nmodel = \"haiku\"\nrun = \"a\"\npush = true",
            "p.toml line 5: `route[1]` must have exactly one of `run`, `pull` and `push`",
        );
        check(
            "project = \"p\"\n[limits]\nbudget = { day_usd = -1 }",
            "p.toml line 3: `limits.budget.day_usd` must be a number of 0 or more",
        );
        check(
            "project = \"p\"\n[limits]\nrunning = \"four\"",
            "p.toml line 3: `limits.running`: invalid type: string \"four\", expected i64",
        );
    }

    #[test]
    fn the_nearest_file_above_is_found() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(inner.join("c")).unwrap();
        let write = |folder: &Path| {
            fs::create_dir_all(folder.join(".extraboard")).unwrap();
            fs::write(folder.join(PLACE), "project = \"p\"").unwrap();
        };
        write(root.path());
        assert_eq!(find(&inner.join("c")), Some(root.path().join(PLACE)));
        write(&inner);
        assert_eq!(find(&inner.join("c")), Some(inner.join(PLACE)));
    }

    #[test]
    fn a_name_is_found_whatever_else_the_file_says() {
        let name = |text: &str| name_in(Path::new("p.toml"), text).map_err(|problem| problem.to_string());
        assert_eq!(name("project = \"p\"\nnewer = true"), Ok("p".to_owned()));
        assert!(name("newer = true").unwrap_err().contains("`project` is missing"));
        assert!(name("project = \"p\"\nx =").unwrap_err().contains("line 2: not TOML"));
    }
}
