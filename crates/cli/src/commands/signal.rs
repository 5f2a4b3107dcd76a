//! `xb signal` and `xb signals`

use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::signal::{Signal, SignalCreate};
use serde_json::{Value, json};

use crate::commands::input::{STDIN, read_text};
use crate::commands::number::whole;
use crate::commands::of_project::{self, OfProject};
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::output::{Align, Style, Table, clean_line, talk};

const FLAGS: &FlagNames = &[
    ("source", "SOURCE"),
    ("type", "TYPE"),
    ("severity", "--severity"),
    ("payload", "--payload"),
    ("sourceId", "--source-id"),
    ("projectId", "--project"),
    ("limit", "--limit"),
    ("offset", "--offset"),
    ("Idempotency-Key", "--key"),
];

/// The most that a desk takes of a payload.
const PAYLOAD_BYTES_MAX: u64 = 256 * 1024;

/// Tell the desk that something happened, and make a task of it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Who says so, for example `ci`
    #[arg(value_name = "SOURCE")]
    source: String,

    /// What sort of thing happened, for example build.failed
    #[arg(value_name = "TYPE")]
    kind: String,

    /// How bad it is
    #[arg(long, value_name = "SEVERITY")]
    severity: Severity,

    #[command(flatten)]
    payload: Payload,

    /// What happened, in a line: becomes the payload's message, and so the task's title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,

    #[command(flatten)]
    of_project: OfProject,

    /// What it is called at the source
    #[arg(long, value_name = "ID")]
    source_id: Option<String>,

    /// Tell it once only, however often this key is used
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// What was said.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Payload {
    /// All that is known, as JSON; - reads standard input
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,

    /// All that is known, as JSON in this file; - reads standard input
    #[arg(long, value_name = "FILE")]
    payload_file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// List signals, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// At most this many, 1 to 200; 50 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let mut create = request(args)?;
    let client = ctx.desk()?.client;
    let project = args.of_project.meant(ctx)?;
    create.project_id = of_project::name(project.as_ref());
    let created = match client.signal_create(&create, args.key.as_deref()).await {
        Ok(created) => created,
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&client, project.as_ref(), error).await);
        }
    };
    ctx.out.show(&One { data: &created }, |_| {
        let issue = &created.issue;
        format!("signal {} is #{}: {}", created.signal.id, issue.number, clean_line(&issue.title))
    })
}

pub(crate) async fn list(args: &ListArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let listed = client.signal_list(&PageQuery { limit: args.limit, offset: args.offset }).await;
    let list = listed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} signals", list.data.len(), list.total));
        if list.data.is_empty() { String::new() } else { signal_table(&list, style) }
    })
}

fn request(args: &Args) -> Result<SignalCreate, CliError> {
    let text = match (&args.payload.payload, &args.payload.payload_file) {
        (Some(text), _) if text == STDIN => Some(read_text(STDIN, PAYLOAD_BYTES_MAX)?),
        (Some(text), _) => Some(text.clone()),
        (None, Some(file)) => Some(read_text(file, PAYLOAD_BYTES_MAX)?),
        (None, None) => None,
    };
    Ok(SignalCreate {
        source: args.source.clone(),
        source_id: args.source_id.clone(),
        kind: args.kind.clone(),
        severity: args.severity.as_str().to_owned(),
        payload: payload(text.as_deref(), args.message.as_deref())?,
        project_id: None,
    })
}

fn payload(text: Option<&str>, message: Option<&str>) -> Result<Value, CliError> {
    let bad =
        |error: serde_json::Error| CliError::new(Kind::Usage, format!("the payload is no JSON: {error}"));
    let mut payload: Value = text.map_or(Ok(json!({})), |text| serde_json::from_str(text).map_err(bad))?;
    if let Some(message) = message {
        let fields = payload.as_object_mut().ok_or_else(|| {
            CliError::new(Kind::Usage, "--message needs a payload that is an object, or none")
        })?;
        fields.insert("message".to_owned(), json!(message));
    }
    Ok(payload)
}

fn signal_table(list: &Many<Signal>, style: Style) -> String {
    let columns = [
        ("SIGNAL", Align::Left),
        ("SEVERITY", Align::Left),
        ("SOURCE", Align::Left),
        ("TYPE", Align::Left),
        ("TASK", Align::Left),
        ("AT", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for signal in &list.data {
        table.row([
            signal.id.clone(),
            signal.severity.clone(),
            signal.source.clone(),
            signal.kind.clone(),
            signal.issue_id.clone(),
            signal.created_at.clone(),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn read(line: &[&str]) -> Result<Value, String> {
        let words = ["xb", "signal", "ci", "build.failed", "--severity", "high"].iter().chain(line);
        let cli = Cli::try_parse_from(words).unwrap();
        let Command::Signal(args) = cli.command else { unreachable!("the command is signal") };
        let request = request(&args).map_err(|error| error.message().to_owned())?;
        Ok(serde_json::to_value(request).unwrap())
    }

    #[test]
    fn source_type_and_severity_are_enough() {
        let expected = json!({"source": "ci", "type": "build.failed", "severity": "high", "payload": {}});
        assert_eq!(read(&[]).unwrap(), expected);
        Cli::try_parse_from(["xb", "signal", "ci", "build.failed"]).unwrap_err();
        Cli::try_parse_from(["xb", "signal", "ci", "build.failed", "--severity", "bad"]).unwrap_err();
    }

    #[test]
    fn a_message_becomes_a_part_of_the_payload() {
        let payload = |line: &[&str]| read(line).unwrap()["payload"].clone();
        assert_eq!(payload(&["--message", "red"]), json!({"message": "red"}));
        assert_eq!(
            payload(&["--message", "red", "--payload", r#"{"job": 7}"#]),
            json!({"job": 7, "message": "red"})
        );
        assert_eq!(payload(&["--payload", "[1]"]), json!([1]));
        let refused = read(&["--message", "red", "--payload", "[1]"]).unwrap_err();
        assert_eq!(refused, "--message needs a payload that is an object, or none");
    }

    #[test]
    fn a_payload_comes_from_a_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("payload.json");
        std::fs::write(&file, r#"{"job": 7}"#).unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(read(&["--payload-file", file]).unwrap()["payload"], json!({"job": 7}));
        std::fs::write(file, "{").unwrap();
        assert!(read(&["--payload-file", file]).unwrap_err().starts_with("the payload is no JSON: "));
        assert!(read(&["--payload-file", "/nowhere/x"]).unwrap_err().starts_with("cannot read /nowhere/x"));
    }
}
