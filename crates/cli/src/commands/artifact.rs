//! `xb artifact`

use extraboard_api::artifact::{ArtifactCreate, ArtifactStored};
use extraboard_api::envelope::One;

use crate::commands::input::read_text;
use crate::context::Context;
use crate::error::{CliError, FlagNames};
use crate::output::clean_line;
use crate::task_ref::TaskRef;

/// The most a desk stores of one artifact.
const CONTENT_BYTES_MAX: u64 = 512 * 1024;

const FLAGS: &FlagNames = &[("path", "PATH"), ("content", "--content")];

/// Provide an artifact that other tasks of the project may wait for
///
/// Without --file or --content only its presence is told: its content lies in the project's workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task that provides it
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// What it is called: a relative path
    #[arg(value_name = "PATH")]
    path: String,

    /// Store the text of this file; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    file: Option<String>,

    /// Store this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let content = match args.file.as_deref() {
        Some(file) => Some(read_text(file, CONTENT_BYTES_MAX)?),
        None => args.content.clone(),
    };
    let client = ctx.desk()?.client;
    let create = ArtifactCreate { path: args.path.clone(), content };
    let stored = client.artifact_create(&args.id.route(), &create).await;
    let stored = stored.map_err(|error| CliError::of_named(&error, &format!("task {}", args.id), FLAGS))?;
    ctx.out.show(&One { data: &stored }, |_| line(&args.id, &stored))
}

fn line(task: &TaskRef, stored: &ArtifactStored) -> String {
    let freed: Vec<String> = stored.freed.iter().map(|number| format!("#{number}")).collect();
    let freed =
        if freed.is_empty() { String::new() } else { format!("; {} waited for it", freed.join(", ")) };
    format!("{task} provides {} ({} bytes){freed}", clean_line(&stored.path), stored.size)
}
