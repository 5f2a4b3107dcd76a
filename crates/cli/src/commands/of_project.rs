//! Which project a command is about: the one it names, or the one it is called in.

use extraboard_api::client::{Client, ClientError};

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::project_file;

/// The project a command is about.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OfProject {
    /// The project, by name or uuid; if not given the one `EXTRABOARD_PROJECT` names, or the nearest
    /// .extraboard/project.toml
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// No project, wherever this is called
    #[arg(long, conflicts_with = "project")]
    no_project: bool,
}

/// A project that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meant {
    pub(crate) name: String,
    /// What named it, unless the command itself did.
    origin: Option<String>,
}

impl OfProject {
    /// Returns the project that is meant, and says so to whoever watches if the command did not name it.
    pub(crate) fn meant(&self, ctx: &Context) -> Result<Option<Meant>, CliError> {
        if self.no_project {
            return Ok(None);
        }
        if let Some(name) = self.project.clone() {
            return Ok(Some(Meant { name, origin: None }));
        }
        let meant = match ctx.project() {
            Some(name) => {
                Some(Meant { name: name.to_owned(), origin: Some("EXTRABOARD_PROJECT".to_owned()) })
            }
            None => project_file::nearest_name()
                .map_err(|error| error.hint("--no-project leaves the file out"))?
                .map(|(name, path)| Meant { name, origin: Some(path.display().to_string()) }),
        };
        if let Some(Meant { name, origin: Some(origin) }) = &meant {
            ctx.remark(&format!("project {name}, named by {origin}"));
        }
        Ok(meant)
    }
}

/// Returns the name alone, as requests take it.
pub(crate) fn name(meant: Option<&Meant>) -> Option<String> {
    meant.map(|meant| meant.name.clone())
}

/// Tells whether a refusal was for want of a project that the command did not name itself, which is news to
/// whoever called it.
pub(crate) async fn explain(client: &Client, meant: Option<&Meant>, error: CliError) -> CliError {
    let Some(Meant { name, origin: Some(origin) }) = meant else { return error };
    if !matches!(error.kind(), Kind::Usage | Kind::NotFound) {
        return error;
    }
    match client.project_get(name).await {
        Err(ClientError::Api { status: 404, .. }) => unknown(name, origin),
        Ok(_) | Err(_) => error,
    }
}

fn unknown(name: &str, origin: &str) -> CliError {
    CliError::new(Kind::NotFound, format!("no project {name}, which {origin} names"))
        .hint("`xb project apply` makes it from its file; --no-project does without")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Environment;

    fn meant(words: &[&str], variables: &[(&str, &str)]) -> Option<Meant> {
        let cli = Cli::try_parse_from(["xb", "list"].iter().chain(words)).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let ctx = Context::new(cli.global, Environment::of(variables), jiff::Timestamp::UNIX_EPOCH);
        let Command::List(args) = cli.command else { unreachable!("the command is list") };
        args.of_project.meant(&ctx).unwrap()
    }

    #[test]
    fn flags_win_over_the_variable() {
        let variable = [("EXTRABOARD_PROJECT", "apollo")];
        let origin = Some("EXTRABOARD_PROJECT".to_owned());
        assert_eq!(meant(&[], &variable), Some(Meant { name: "apollo".to_owned(), origin }));
        let named = Some(Meant { name: "gemini".to_owned(), origin: None });
        assert_eq!(meant(&["--project", "gemini"], &variable), named);
        assert_eq!(meant(&["--no-project"], &variable), None);
        Cli::try_parse_from(["xb", "list", "--no-project", "--project", "a"]).unwrap_err();
    }

    #[test]
    fn an_unknown_project_is_told_with_what_named_it() {
        let report = unknown("apollo", "p.toml");
        assert_eq!(
            report.report().unwrap().to_string(),
            "xb: no project apollo, which p.toml names\n\
             hint: `xb project apply` makes it from its file; --no-project does without"
        );
    }
}
