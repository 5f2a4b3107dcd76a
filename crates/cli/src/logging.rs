//! Log lines on standard error, for the commands that keep running.

use tracing_subscriber::filter::EnvFilter;

use crate::config::{Log, LogFormat};

/// Installs the subscriber; a second call changes nothing.
pub(crate) fn init(log: &Log) {
    // Built from the configuration: `RUST_LOG` is not read.
    let filter = EnvFilter::builder().with_default_directive(log.level.into()).parse_lossy("");
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error only says that a subscriber was installed before.
    let _ = match log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
