//! `xb review`

use extraboard_api::client::ClientError;
use extraboard_api::envelope::One;
use extraboard_api::review::PromptReviewCreate;

use crate::commands::add::issue_ref;
use crate::context::{AgentName, Context};
use crate::error::{CliError, FlagNames, Kind};
use crate::output::clean_line;
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[
    ("versionId", "--version"),
    ("issueId", "ID"),
    ("clarity", "--clarity"),
    ("completeness", "--completeness"),
    ("relevance", "--relevance"),
    ("feedback", "--feedback"),
];

/// Say what you think of a task's prompt
///
/// Each mark is from 1 (bad) to 5 (good). Which version of which template made the prompt is told by the claim;
/// a command of `xb work` need not name it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task that the prompt was made for
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// Whether the prompt could be understood
    #[arg(long, value_name = "1-5", value_parser = mark)]
    clarity: i64,

    /// Whether all that was needed stood in it
    #[arg(long, value_name = "1-5", value_parser = mark)]
    completeness: i64,

    /// Whether what stood in it was needed
    #[arg(long, value_name = "1-5", value_parser = mark)]
    relevance: i64,

    /// What would make it better
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    feedback: Option<String>,

    /// The version that made the prompt, by uuid; `EXTRABOARD_PROMPT_VERSION` if not given
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,

    /// Say it as this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let create = request(args, ctx)?;
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let created = client.review_create(&create).await;
    let review = created.map_err(|error| refused(&error))?;
    ctx.out.show(&One { data: &review }, |_| {
        format!("review {} of version {}", clean_line(&review.id), clean_line(&review.version_id))
    })
}

/// Translates a refusal: the desk says whether it was the task or the version that is not there.
fn refused(error: &ClientError) -> CliError {
    CliError::of_request(error, FLAGS)
}

fn request(args: &Args, ctx: &Context) -> Result<PromptReviewCreate, CliError> {
    let version = args.version.as_deref().or_else(|| ctx.prompt_version());
    let version = version.ok_or_else(|| {
        CliError::new(Kind::Usage, "expected --version: which version made the prompt")
            .hint("`xb claim --json` tells it as meta.versionId, `xb templates versions SLUG --json` as id")
    })?;
    Ok(PromptReviewCreate {
        version_id: version.to_owned(),
        issue_id: issue_ref(&args.id),
        clarity: args.clarity,
        completeness: args.completeness,
        relevance: args.relevance,
        feedback: args.feedback.clone(),
        author_type: None,
        author_name: None,
    })
}

fn mark(text: &str) -> Result<i64, &'static str> {
    let mark = text.parse().ok().filter(|mark| (1..=5).contains(mark));
    mark.ok_or("expected a whole number from 1 to 5")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Environment;

    const MARKS: [&str; 6] = ["--clarity", "4", "--completeness", "5", "--relevance", "3"];

    fn read(line: &[&str], variables: &[(&str, &str)]) -> Result<serde_json::Value, String> {
        let cli = Cli::try_parse_from(["xb", "review", "42"].iter().chain(&MARKS).chain(line)).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let ctx = Context::new(cli.global, Environment::of(variables), jiff::Timestamp::UNIX_EPOCH);
        let Command::Review(args) = cli.command else { unreachable!("the command is review") };
        let request = request(&args, &ctx).map_err(|error| error.message().to_owned())?;
        Ok(serde_json::to_value(request).unwrap())
    }

    #[test]
    fn the_version_is_named_or_told_by_xb_work() {
        let of_work = [("EXTRABOARD_PROMPT_VERSION", "0199w")];
        let expected = json!({
            "versionId": "0199v", "issueId": "42", "clarity": 4, "completeness": 5, "relevance": 3,
            "feedback": "-"
        });
        assert_eq!(read(&["--version", "0199v", "--feedback", "-"], &of_work), Ok(expected));
        assert_eq!(read(&[], &of_work).unwrap()["versionId"], "0199w");
        assert!(read(&[], &[]).unwrap_err().starts_with("expected --version"));
    }

    #[test]
    fn marks_are_from_one_to_five() {
        assert_eq!(mark("1"), Ok(1));
        for text in ["0", "6", "4.5", "good"] {
            assert!(mark(text).is_err(), "{text}");
        }
    }
}
