//! `xb serve`

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::admin_token::AdminToken;
use crate::config::{Config, Flags};
use crate::context::Context;
use crate::error::CliError;
use crate::logging;
use crate::serve::{self, ServePlan};

/// Run a desk, one of several that may share a database
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    serving: Serving,
}

/// The flags that `xb up` and `xb serve` have in common.
#[derive(Debug, clap::Args)]
pub(crate) struct Serving {
    /// Keep tasks there: a path, sqlite:PATH, or `postgres://USER:PASSWORD@HOST/NAME`
    #[arg(long, value_name = "URL")]
    db: Option<String>,

    /// Listen there for the API
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Listen there for /health and /metrics
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<String>,

    /// Rank tasks of a new database by this profile: pipeline or `depth_first`
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let config = prepare(&args.serving, ctx)?;
    let admin_token = AdminToken::read_or_create(&config.data_dir)?;
    let invocation = ctx.invocation(&config.data_dir);
    serve::run(ServePlan { config, admin_token, invocation, demo: false, lock: None, now: ctx.now }).await
}

/// Reads the configuration, starts the log, and makes the data directory.
pub(crate) fn prepare(serving: &Serving, ctx: &Context) -> Result<Config, CliError> {
    let flags = Flags {
        db: serving.db.clone(),
        listen: serving.listen.clone(),
        metrics_listen: serving.metrics_listen.clone(),
        profile: serving.profile.clone(),
        ..Flags::default()
    };
    let config = ctx.load_with(flags)?.config;
    logging::init(&config.log, ctx.log_style());
    create_private(&config.data_dir)?;
    Ok(config)
}

fn create_private(dir: &Path) -> Result<(), CliError> {
    let what = format!("cannot create the data directory {}", dir.display());
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| CliError::io(&what, &error))
}
