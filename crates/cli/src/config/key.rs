//! The schema: every key, its type, its variable, and what its value must be.

/// One key of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    DataDir,
    DatabaseUrl,
    ServerListen,
    ServerMetricsListen,
    ServerHosts,
    LeasesPullSecs,
    LogLevel,
    LogFormat,
}

/// What a file must write for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Whole,
    List,
}

impl Key {
    pub(crate) const ALL: [Self; 8] = [
        Self::DataDir,
        Self::DatabaseUrl,
        Self::ServerListen,
        Self::ServerMetricsListen,
        Self::ServerHosts,
        Self::LeasesPullSecs,
        Self::LogLevel,
        Self::LogFormat,
    ];

    /// Returns the dotted name that files and messages use.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DataDir => "data_dir",
            Self::DatabaseUrl => "database.url",
            Self::ServerListen => "server.listen",
            Self::ServerMetricsListen => "server.metrics_listen",
            Self::ServerHosts => "server.hosts",
            Self::LeasesPullSecs => "leases.pull_secs",
            Self::LogLevel => "log.level",
            Self::LogFormat => "log.format",
        }
    }

    /// Returns the environment variable.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Self::DataDir => "EXTRABOARD_DATA_DIR",
            Self::DatabaseUrl => "EXTRABOARD_DATABASE_URL",
            Self::ServerListen => "EXTRABOARD_SERVER_LISTEN",
            Self::ServerMetricsListen => "EXTRABOARD_SERVER_METRICS_LISTEN",
            Self::ServerHosts => "EXTRABOARD_SERVER_HOSTS",
            Self::LeasesPullSecs => "EXTRABOARD_LEASES_PULL_SECS",
            Self::LogLevel => "EXTRABOARD_LOG_LEVEL",
            Self::LogFormat => "EXTRABOARD_LOG_FORMAT",
        }
    }

    pub(crate) const fn shape(self) -> Shape {
        match self {
            Self::LeasesPullSecs => Shape::Whole,
            Self::ServerHosts => Shape::List,
            Self::DataDir
            | Self::DatabaseUrl
            | Self::ServerListen
            | Self::ServerMetricsListen
            | Self::LogLevel
            | Self::LogFormat => Shape::Text,
        }
    }

    /// Returns what a good value is, for messages.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::DataDir => "a path",
            Self::DatabaseUrl => "a path, `sqlite:PATH` or `postgres://…`",
            Self::ServerListen | Self::ServerMetricsListen => {
                "an address and a port, such as `127.0.0.1:8600`"
            }
            Self::ServerHosts => "a list of host names, such as `[\"desk.example.org\"]`",
            Self::LeasesPullSecs => "a whole number of seconds from 10 to 86400",
            Self::LogLevel => "`off`, `error`, `warn`, `info`, `debug` or `trace`",
            Self::LogFormat => "`text` or `json`",
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Returns whether `name` is a table that holds keys.
    pub(crate) fn is_section(name: &str) -> bool {
        Self::ALL.iter().any(|key| key.name().split_once('.').is_some_and(|(section, _)| section == name))
    }
}

/// From here on a name may have been meant; the best possible is 1.
const LIKENESS_MIN: f64 = 0.5;

/// Returns the candidate most like what was written, by the whole name or by its last part; `None` if nothing
/// is near.
pub(crate) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |candidate: &str| {
        let whole = strsim::normalized_damerau_levenshtein(written, candidate);
        let last = strsim::normalized_damerau_levenshtein(last_part(written), last_part(candidate));
        whole.max(0.9 * last)
    };
    let likened = candidates.into_iter().map(|candidate| (likeness(candidate), candidate));
    let (best, candidate) = likened.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best >= LIKENESS_MIN).then_some(candidate)
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_found() {
        let check = |written, expected| {
            assert_eq!(nearest(written, Key::ALL.map(Key::name)), Some(expected), "{written}");
        };
        check("server.lisen", "server.listen");
        check("servers.metrics_listen", "server.metrics_listen");
        check("listen", "server.listen");
        check("lease.pull_seconds", "leases.pull_secs");
        check("datadir", "data_dir");
        check("database_url", "database.url");
        check("logging.level", "log.level");
    }

    #[test]
    fn where_nothing_is_near_nothing_is_suggested() {
        for written in ["foo", "x", "agents", "agents.max", "retry_count", "github.token", "foo.bar"] {
            assert_eq!(nearest(written, Key::ALL.map(Key::name)), None, "{written}");
        }
    }

    #[test]
    fn a_variable_is_its_key_in_capitals() {
        for key in Key::ALL {
            let expected = format!("EXTRABOARD_{}", key.name().replace('.', "_").to_uppercase());
            assert_eq!(key.variable(), expected);
        }
    }
}
