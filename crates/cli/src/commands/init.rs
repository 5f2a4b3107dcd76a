//! `xb init`

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::project_file::{PLACE, working_directory};
use crate::toml_file::quoted;

/// Write a project file, .extraboard/project.toml, to be filled in
///
/// It is written where the git repository begins, or else here. `xb project apply` tells the desk what it says.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the project is called; as the directory if not given
    #[arg(long, value_name = "NAME")]
    project: Option<String>,

    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let folder = working_directory()?;
    let root = repository(&folder).unwrap_or(&folder);
    let name = match args.project.clone().or_else(|| folder_name(root)) {
        Some(name) if !name.trim().is_empty() => name,
        Some(_) | None => {
            return Err(CliError::new(Kind::Usage, "expected --project: the directory has no name"));
        }
    };
    let path = root.join(PLACE);
    let text = text(&name, origin(root).as_deref());
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    write(&path, &text, existing).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CliError::new(Kind::Conflict, format!("{} is there already", path.display()))
                .hint("--force replaces it")
        }
        _ => CliError::io(&format!("cannot write {}", path.display()), &error),
    })?;
    let told = json!({"path": path.display().to_string(), "project": name});
    ctx.out.show(&told, |_| format!("wrote {}: fill it in, then `xb project apply`", path.display()))
}

/// What becomes of a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Kept,
    Replaced,
}

fn write(path: &Path, text: &str, existing: Existing) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = match existing {
        Existing::Kept => OpenOptions::new().write(true).create_new(true).open(path)?,
        Existing::Replaced => File::create(path)?,
    };
    file.write_all(text.as_bytes())
}

/// Returns the directory in which the repository begins.
fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

fn folder_name(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_str()?.to_owned())
}

/// Returns owner and name of where the repository comes from, if that can be told.
fn origin(root: &Path) -> Option<String> {
    let config: PathBuf = root.join(".git/config");
    remote(&fs::read_to_string(config).ok()?)
}

/// Reads the URL of the remote `origin`.
fn remote(config: &str) -> Option<String> {
    let mut is_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_origin = line == r#"[remote "origin"]"#;
        } else if let Some((key, url)) = line.split_once('=')
            && is_origin
            && key.trim() == "url"
        {
            return owner_and_name(url.trim());
        }
    }
    None
}

/// Takes the last two parts of `https://host/owner/name.git`, `git@host:owner/name` and the like.
fn owner_and_name(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':')?.1,
    };
    let path = rest.trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    let is_plain =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    (is_plain(owner) && is_plain(name)).then(|| format!("{owner}/{name}"))
}

/// Returns the text of a new file: a name, and everything else to be uncommented.
fn text(name: &str, repo: Option<&str>) -> String {
    let repo =
        repo.map_or_else(|| "#repo = \"owner/name\"".to_owned(), |repo| format!("repo = {}", quoted(repo)));
    TEXT.replace("NAME", &quoted(name)).replace("REPO", &repo)
}

/// What is commented out without a space after the mark is a setting.
const TEXT: &str = r#"# What the desk knows about this project. `xb project show` checks it, and
# `xb project apply` tells it.
# Commands that are called in this directory or below mean this project.
project = NAME

# The repository, and the branch that work starts from.
REPO
#base = "main"

# Whether agents are asked what they think of their prompts.
#reviews = true

# Where tasks are worked on: none, dir or worktree; the command that makes a new one ready; files to bring along
# that the repository does not hold; and the command whose success says that the work is good.
#[workspace]
#mode = "worktree"
#setup = "make deps"
#copy = [".env.local"]
#verify = "make test"

# What is made of finished work: none, branch or pr; and when it counts as done: reported, verified, approved or
# merged.
#[finish]
#action = "branch"
#done_when = "reported"

# Who works on which tasks; the first that matches decides. Each has one of run (an adapter), pull and push.
#[[route]]
#when = { labels = ["trivial"] }
#run = "claude"
#model = "haiku"
#[[route]]
#run = "claude"
#fallback = ["codex"]

# How many tasks may be handed out at once, and what may be spent.
#[limits]
#running = 4
#budget = { task_usd = 5, day_usd = 60 }

# Where the tasks that signals make start: triage, backlog or todo.
#[signals]
#status = "triage"
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_file::ProjectFile;

    fn parse(text: &str) -> ProjectFile {
        ProjectFile::parse(Path::new("p.toml"), text).unwrap()
    }

    #[test]
    fn a_new_file_says_its_name_and_nothing_that_is_not_known() {
        let file = parse(&text("my \"app\"", None));
        assert_eq!(file.project, "my \"app\"");
        assert_eq!(serde_json::to_value(&file.settings).unwrap(), json!({}));
        assert_eq!(parse(&text("app", Some("acme/app"))).settings.repo.as_deref(), Some("acme/app"));
    }

    #[test]
    fn every_setting_can_be_uncommented() {
        let uncommented = |line: &str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting.to_owned() + "\n",
            _ => line.to_owned() + "\n",
        };
        let whole: String = text("app", None).lines().map(uncommented).collect();
        let settings = parse(&whole).settings;
        assert_eq!((settings.route.len(), settings.reviews), (2, Some(true)));
        assert_eq!(settings.limits.unwrap().running, Some(4));
    }

    #[test]
    fn a_remote_is_read_where_it_is_simple() {
        let check = |url: &str, expected: Option<&str>| {
            let config = format!(
                "[core]\n\turl = https://no/no/no\n[remote \"origin\"]\n\turl = {url}\n\tfetch = x\n"
            );
            assert_eq!(remote(&config).as_deref(), expected, "{url}");
        };
        check("https://github.com/acme/web.git", Some("acme/web"));
        check("https://token@github.com/acme/web", Some("acme/web"));
        check("git@github.com:acme/web.git", Some("acme/web"));
        check("ssh://git@host:22/acme/web.js/", Some("acme/web.js"));
        check("/srv/git/web.git", None);
        check("https://host/a/b/c", None);
        check("https://host/a b/c", None);
        assert_eq!(remote("[remote \"fork\"]\nurl = https://github.com/acme/web"), None);
    }

    #[test]
    fn a_file_is_never_replaced_unless_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PLACE);
        write(&path, "one", Existing::Kept).unwrap();
        assert_eq!(write(&path, "two", Existing::Kept).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two", Existing::Replaced).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn the_repository_begins_where_git_says() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(root.path().join("a/.git")).unwrap();
        assert_eq!(repository(&inner), Some(root.path().join("a").as_path()));
        assert_eq!(folder_name(Path::new("/srv/web")).as_deref(), Some("web"));
    }
}
