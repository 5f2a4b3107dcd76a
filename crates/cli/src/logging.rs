//! Log lines on standard error, for the commands that keep running.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::EnvFilter;

use crate::config::{Log, LogFormat};
use crate::output::Style;

/// Installs the subscriber; a second call changes nothing.
pub(crate) fn init(log: &Log, style: Style) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(log.level))
        .with_ansi(style == Style::Color)
        .with_writer(std::io::stderr);
    // An error only says that a subscriber was installed before.
    let _ = match log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Built from the configuration: `RUST_LOG` is not read.
///
/// The database driver tells its daily business at info; whoever debugs may want that, nobody else. The MCP
/// library tells whole messages, prompts and tokens among them: nobody wants those in a log.
fn filter(level: LevelFilter) -> EnvFilter {
    let quieted = match level {
        LevelFilter::OFF | LevelFilter::ERROR | LevelFilter::WARN => "",
        LevelFilter::INFO => ",sqlx=warn,rmcp=warn",
        LevelFilter::DEBUG | LevelFilter::TRACE => ",rmcp=warn",
    };
    EnvFilter::builder().parse_lossy(format!("{level}{quieted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_quiet_unless_somebody_debugs() {
        let check = |level, expected: &str| assert_eq!(filter(level).to_string(), expected);
        check(LevelFilter::OFF, "off");
        check(LevelFilter::ERROR, "error");
        check(LevelFilter::WARN, "warn");
        check(LevelFilter::INFO, "sqlx=warn,rmcp=warn,info");
        check(LevelFilter::DEBUG, "rmcp=warn,debug");
        check(LevelFilter::TRACE, "rmcp=warn,trace");
    }
}
