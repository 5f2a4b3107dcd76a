//! What a desk says of itself: sentences for people, events where the log is for programs.
//!
//! A JSON log is JSON to the last line. What would be a sentence there is an event rather than text on
//! standard output, because whoever collects the log wants to know too where the desk runs, and nobody reads
//! the standard output of a service.

use std::net::SocketAddr;

use crate::config::LogFormat;
use crate::desk_file::DeskFile;
use crate::output::talk;

/// Says that the desk runs, where, and what to do next; `invocation` is how to call this program.
pub(crate) fn announce(format: LogFormat, desk: &DeskFile, invocation: &str) {
    let DeskFile { pid, url, metrics_url, database, version, .. } = desk;
    match format {
        LogFormat::Text => talk(&page(desk, invocation)),
        LogFormat::Json => tracing::info!(
            pid,
            url,
            metrics.url = format!("{metrics_url}/metrics"),
            database,
            version,
            "extraboard {version} is running, pid {pid}, at {url}"
        ),
    }
}

/// Says one thing that whoever started the desk should know.
pub(crate) fn notice(format: LogFormat, sentence: &str) {
    match format {
        LogFormat::Text => talk(sentence),
        LogFormat::Json => tracing::info!("{sentence}"),
    }
}

/// Returns what to know about an address that others can reach; nothing for loopback.
pub(crate) fn beyond_loopback(listen: SocketAddr) -> Option<String> {
    (!listen.ip().is_loopback()).then(|| {
        format!(
            "{listen} can be reached from other machines: every caller needs a token, \
             and a host name by which callers reach it must be in `server.hosts`"
        )
    })
}

fn page(desk: &DeskFile, invocation: &str) -> String {
    format!(
        "extraboard {} is running, pid {}\n  database  {}\n  api       {}\n  metrics   {}/metrics\n\
         add the first task:  {invocation} add \"Say hello\"\nstop with Ctrl-C or `{invocation} stop`",
        desk.version, desk.pid, desk.database, desk.url, desk.metrics_url
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_commands_that_find_the_desk() {
        let desk = DeskFile {
            pid: 7,
            url: "http://127.0.0.1:8600".to_owned(),
            metrics_url: "http://127.0.0.1:8601".to_owned(),
            database: "sqlite:/srv/desk/extraboard.db".to_owned(),
            started_at: String::new(),
            version: "0.1.0".to_owned(),
        };
        insta::assert_snapshot!(page(&desk, "xb --data-dir /srv/desk"), @r#"
        extraboard 0.1.0 is running, pid 7
          database  sqlite:/srv/desk/extraboard.db
          api       http://127.0.0.1:8600
          metrics   http://127.0.0.1:8601/metrics
        add the first task:  xb --data-dir /srv/desk add "Say hello"
        stop with Ctrl-C or `xb --data-dir /srv/desk stop`
        "#);
    }

    #[test]
    fn only_addresses_beyond_loopback_are_worth_a_notice() {
        let said = |address: &str| beyond_loopback(address.parse().unwrap());
        for address in ["127.0.0.1:8600", "127.9.9.9:1", "[::1]:8600"] {
            assert_eq!(said(address), None, "{address}");
        }
        for address in ["0.0.0.0:8600", "[::]:8600", "10.0.0.7:8600"] {
            let sentence = said(address).unwrap();
            assert!(sentence.contains(address) && sentence.contains("needs a token"), "{sentence}");
            assert!(sentence.contains("`server.hosts`"), "{sentence}");
        }
    }
}
