//! `xb import`

mod filing;
mod report;

use std::path::Path;

use extraboard_intake::import::{Format, INPUT_BYTES_MAX, Options, Read, read};

use self::filing::{Closed, Filing, Plan};
use crate::commands::input::{STDIN, read_text};
use crate::commands::of_project::{self, OfProject};
use crate::context::Context;
use crate::error::{CliError, Kind};

/// Make tasks of what another tracker exported, each once
///
/// A task remembers the key of what it was made from, so the same file can be imported again: what is there
/// already is not changed. Parents and blockers come first, labels that are not there yet are added, and what
/// people said about an item becomes comments of its task.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the file is
    #[arg(value_enum, value_name = "FORMAT")]
    format: FormatArg,

    /// The file; - reads standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// Change nothing, only say what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    of_project: OfProject,

    /// What keys are told apart by: the repository of GitHub issues that do not name theirs, or any word for a
    /// task list, the name of whose file is taken if it is not given
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,

    /// Where tasks that are not finished start; as the file says if not given
    #[arg(long, value_name = "STATUS")]
    status: Option<StartStatus>,

    /// Import what is finished too, as tasks that are
    #[arg(long)]
    closed: bool,
}

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatArg {
    /// What `gh issue list --json number,title,body,…` prints, or GitHub's REST API
    Github,
    /// The issues.jsonl of beads
    Beads,
    /// What `xb export` writes
    Jsonl,
    /// Task lists: `- [ ] title`
    Markdown,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Github => Self::Github,
            FormatArg::Beads => Self::Beads,
            FormatArg::Jsonl => Self::Jsonl,
            FormatArg::Markdown => Self::Markdown,
        }
    }
}

/// Where a task starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StartStatus {
    Triage,
    Backlog,
    Todo,
}

impl StartStatus {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Backlog => "backlog",
            Self::Todo => "todo",
        }
    }
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let found = drafts(args)?;
    let client = ctx.desk()?.client;
    let project = args.of_project.meant(ctx)?;
    let plan = Plan {
        project: of_project::name(project.as_ref()),
        status: args.status.map(StartStatus::as_str),
        closed: if args.closed { Closed::Imported } else { Closed::LeftOut },
    };
    if let Some(name) = &plan.project
        && let Err(error) = client.project_get(name).await
    {
        let error = CliError::of_named(&error, &format!("project {name}"), &[]);
        return Err(of_project::explain(&client, project.as_ref(), error).await);
    }
    let mut filing = Filing::new(&client, &plan);
    filing.note(&found.problems);
    let filed =
        if args.dry_run { filing.look(&found.drafts).await } else { filing.file(&found.drafts).await };
    filed?;
    let report = filing.into_report();
    ctx.out.show(&report, |_| report.text())?;
    if report.refused() == 0 { Ok(()) } else { Err(CliError::told(Kind::Failed)) }
}

fn drafts(args: &Args) -> Result<Read, CliError> {
    let text = read_text(&args.file, INPUT_BYTES_MAX as u64)?;
    let options = Options { namespace: namespace(args) };
    read(args.format.into(), &text, &options)
        .map_err(|error| CliError::new(Kind::Usage, format!("{}: {error}", args.file)))
}

/// Returns what keys are told apart by: a task list is called by its file.
fn namespace(args: &Args) -> Option<String> {
    let stem = || {
        let stem = Path::new(&args.file).file_stem()?.to_str()?;
        (args.format == FormatArg::Markdown && args.file != STDIN).then(|| stem.to_owned())
    };
    args.repo.clone().or_else(stem)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(line: &str) -> Args {
        let words = ["xb", "import"].into_iter().chain(line.split_whitespace());
        let Command::Import(args) = Cli::try_parse_from(words).unwrap().command else {
            unreachable!("the command is import")
        };
        args
    }

    #[test]
    fn a_task_list_is_called_by_its_file_unless_something_is_named() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(namespace(&args(line)).as_deref(), expected, "{line}");
        };
        check("markdown docs/TODO.md", Some("TODO"));
        check("markdown docs/TODO.md --repo acme/web", Some("acme/web"));
        check("markdown -", None);
        check("github issues.json", None);
        check("github issues.json --repo acme/web", Some("acme/web"));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("issues.json");
        std::fs::write(&file, "{").unwrap();
        let refused = drafts(&args(&format!("github {}", file.display()))).unwrap_err();
        assert!(
            refused.message().starts_with(&format!("{}: line 1", file.display())),
            "{}",
            refused.message()
        );
    }
}
