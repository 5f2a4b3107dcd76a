//! The schema: every key, its shape, its variable, and what its value must be.

use std::borrow::Cow;

use extraboard_core::kind::Kind;
use extraboard_core::profile::{BadNumber, Profile, ProfileName};

use super::seed_004;

/// The largest limit.
pub(crate) const LIMIT_MAX: i64 = 1_000_000;
/// The longest poll interval: a day.
pub(crate) const POLL_INTERVAL_SECS_MAX: i64 = 86_400;

/// One key of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    DataDir,
    PollIntervalSecs,
    DatabaseUrl,
    ServerListen,
    ServerMetricsListen,
    ServerHosts,
    ServerTrustAgentId,
    ServerRateLimit,
    ServerPublicUrl,
    LeasesPullSecs,
    EventsKeepDays,
    PromptsAskForReviews,
    WebhooksGithubSecret,
    WebhooksSentrySecret,
    WebhooksPosthogSecret,
    ProfileName,
    /// A number of the profile, by the name that core gives it.
    ProfileNumber(&'static str),
    LimitTotal,
    LimitProject,
    LimitAgent,
    LimitAccount,
    LimitKind(Kind),
    LimitAgents,
    LogLevel,
    LogFormat,
}

/// What a file must write for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A truth.
    Flag,
    Text,
    Whole,
    /// A whole number, or a word for none.
    WholeOrText,
    List,
    /// Names and whole numbers.
    Table,
}

impl Key {
    /// Returns every key, in the order of the reference.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let first = [
            Self::DataDir,
            Self::PollIntervalSecs,
            Self::DatabaseUrl,
            Self::ServerListen,
            Self::ServerMetricsListen,
            Self::ServerHosts,
            Self::ServerTrustAgentId,
            Self::ServerRateLimit,
            Self::ServerPublicUrl,
            Self::LeasesPullSecs,
            Self::EventsKeepDays,
            Self::PromptsAskForReviews,
            Self::WebhooksGithubSecret,
            Self::WebhooksSentrySecret,
            Self::WebhooksPosthogSecret,
        ];
        let last = [Self::LogLevel, Self::LogFormat];
        first.into_iter().chain(Self::of_profile()).chain(Self::of_limits()).chain(last)
    }

    /// Returns the keys that make the profile.
    pub(crate) fn of_profile() -> impl Iterator<Item = Self> {
        std::iter::once(Self::ProfileName).chain(Profile::keys().map(Self::ProfileNumber))
    }

    /// Returns the keys that make the limits.
    pub(crate) fn of_limits() -> impl Iterator<Item = Self> {
        let single = [Self::LimitTotal, Self::LimitProject, Self::LimitAgent, Self::LimitAccount];
        let kinds = Kind::ALL.iter().copied().map(Self::LimitKind);
        single.into_iter().chain(kinds).chain([Self::LimitAgents])
    }

    /// Returns the dotted name that files and messages use.
    pub(crate) fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::DataDir => "data_dir",
            Self::PollIntervalSecs => "poll_interval_secs",
            Self::DatabaseUrl => "database.url",
            Self::ServerListen => "server.listen",
            Self::ServerMetricsListen => "server.metrics_listen",
            Self::ServerHosts => "server.hosts",
            Self::ServerTrustAgentId => "server.trust_agent_id",
            Self::ServerRateLimit => "server.rate_limit",
            Self::ServerPublicUrl => "server.public_url",
            Self::LeasesPullSecs => "leases.pull_secs",
            Self::EventsKeepDays => "events.keep_days",
            Self::PromptsAskForReviews => "prompts.ask_for_reviews",
            Self::WebhooksGithubSecret => "webhooks.github_secret",
            Self::WebhooksSentrySecret => "webhooks.sentry_secret",
            Self::WebhooksPosthogSecret => "webhooks.posthog_secret",
            Self::ProfileName => "profile.name",
            Self::ProfileNumber(number) => return Cow::Owned(format!("profile.{number}")),
            Self::LimitTotal => "limits.total",
            Self::LimitProject => "limits.project",
            Self::LimitAgent => "limits.agent",
            Self::LimitAccount => "limits.account",
            Self::LimitKind(kind) => return Cow::Owned(format!("limits.kinds.{kind}")),
            Self::LimitAgents => "limits.agents",
            Self::LogLevel => "log.level",
            Self::LogFormat => "log.format",
        })
    }

    /// Returns the environment variable.
    pub(crate) fn variable(self) -> String {
        format!("EXTRABOARD_{}", self.name().replace('.', "_").to_uppercase())
    }

    pub(crate) const fn shape(self) -> Shape {
        match self {
            Self::LeasesPullSecs | Self::EventsKeepDays | Self::PollIntervalSecs | Self::ProfileNumber(_) => {
                Shape::Whole
            }
            Self::LimitTotal
            | Self::LimitProject
            | Self::LimitAgent
            | Self::LimitAccount
            | Self::LimitKind(_)
            | Self::ServerRateLimit => Shape::WholeOrText,
            Self::ServerTrustAgentId | Self::PromptsAskForReviews => Shape::Flag,
            Self::ServerHosts => Shape::List,
            Self::LimitAgents => Shape::Table,
            Self::DataDir
            | Self::DatabaseUrl
            | Self::ServerListen
            | Self::ServerMetricsListen
            | Self::ServerPublicUrl
            | Self::WebhooksGithubSecret
            | Self::WebhooksSentrySecret
            | Self::WebhooksPosthogSecret
            | Self::ProfileName
            | Self::LogLevel
            | Self::LogFormat => Shape::Text,
        }
    }

    /// Tells whether its value must not be shown.
    pub(crate) const fn is_secret(self) -> bool {
        matches!(self, Self::WebhooksGithubSecret | Self::WebhooksSentrySecret | Self::WebhooksPosthogSecret)
    }

    /// Returns what a good value is, for messages.
    pub(crate) fn expected(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::DataDir => "a path",
            Self::PollIntervalSecs => "a whole number of seconds from 1 to 86400",
            Self::DatabaseUrl => "a path, `sqlite:PATH` or `postgres://…`",
            Self::ServerListen | Self::ServerMetricsListen => {
                "an address and a port, such as `127.0.0.1:8600`"
            }
            Self::ServerTrustAgentId | Self::PromptsAskForReviews => "`true` or `false`",
            Self::ServerPublicUrl => "a URL such as `https://desk.example.org`",
            Self::WebhooksGithubSecret | Self::WebhooksSentrySecret | Self::WebhooksPosthogSecret => {
                "a text of one line without spaces around it"
            }
            Self::ServerRateLimit => "requests per second from 1 to 100000, `none` or `auto`",
            Self::ServerHosts => "a list of host names, such as `[\"desk.example.org\"]`",
            Self::LeasesPullSecs => "a whole number of seconds from 10 to 86400",
            Self::EventsKeepDays => "a whole number of days from 1 to 3650",
            Self::ProfileName => "`pipeline` or `depth_first`",
            Self::ProfileNumber(number) => return Cow::Owned(expected_number(number)),
            Self::LimitTotal
            | Self::LimitProject
            | Self::LimitAgent
            | Self::LimitAccount
            | Self::LimitKind(_) => "a whole number from 0 to 1000000, or `none`",
            Self::LimitAgents => "names of agents with whole numbers from 0 to 1000000",
            Self::LogLevel => "`off`, `error`, `warn`, `info`, `debug` or `trace`",
            Self::LogFormat => "`text` or `json`",
        })
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|key| key.name() == name)
    }
}

/// Asks the profile itself, which refuses the smallest number there is.
fn expected_number(number: &str) -> String {
    match Profile::shipped(ProfileName::Pipeline).set(number, i64::MIN) {
        Err(BadNumber::Range { least, most, .. }) => format!("a whole number from {least} to {most}"),
        Err(BadNumber::Key(_)) | Ok(()) => "a whole number".to_owned(),
    }
}

/// Returns every name that a file may use: ours, and those of seed 004.
pub(crate) fn known_names() -> Vec<String> {
    let ours = Key::all().map(|key| key.name().into_owned());
    ours.chain(seed_004::names().map(|(name, _)| name)).collect()
}

/// Returns whether `name` is a table that holds keys.
pub(crate) fn is_section(name: &str) -> bool {
    let holds = |known: &String| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    known_names().iter().any(holds)
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
    // Of several that are as near the first counts, which is ours.
    let best = likened.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN).map(|(_, candidate)| candidate)
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_known(written: &str) -> Option<String> {
        nearest(written, known_names().iter().map(String::as_str)).map(str::to_owned)
    }

    #[test]
    fn the_nearest_key_is_found() {
        let check = |written, expected: &str| {
            assert_eq!(nearest_known(written).as_deref(), Some(expected), "{written}");
        };
        check("server.lisen", "server.listen");
        check("servers.metrics_listen", "server.metrics_listen");
        check("listen", "server.listen");
        check("lease.pull_seconds", "leases.pull_secs");
        check("datadir", "data_dir");
        check("database_url", "database.url");
        check("logging.level", "log.level");
        check("limit.total", "limits.total");
        check("limits.kinds.cod", "limits.kinds.code");
        check("limits.agnets", "limits.agents");
        check("profile.age_boost_per_hour", "profile.age_boost_per_day");
        check("poll_interval", "poll_interval_secs");
        check("concurrency.max_loop", "concurrency.max_loops");
        check("scheduler.priority.coed", "scheduler.priority.code");
    }

    #[test]
    fn where_nothing_is_near_nothing_is_suggested() {
        for written in ["foo", "x", "retry_count", "github.token", "foo.bar"] {
            assert_eq!(nearest_known(written), None, "{written}");
        }
    }

    #[test]
    fn a_variable_is_its_key_in_capitals() {
        assert_eq!(Key::ServerListen.variable(), "EXTRABOARD_SERVER_LISTEN");
        assert_eq!(Key::ProfileNumber("code").variable(), "EXTRABOARD_PROFILE_CODE");
        assert_eq!(Key::LimitKind(Kind::Plan).variable(), "EXTRABOARD_LIMITS_KINDS_PLAN");
    }

    #[test]
    fn every_key_has_a_name_and_a_variable_of_its_own() {
        for names in [Key::all().map(|key| key.name().into_owned()).collect(), known_names()] {
            let mut unique = names.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), names.len());
        }
        for key in Key::all() {
            assert_eq!(Key::of_name(&key.name()), Some(key));
        }
    }

    #[test]
    fn what_is_expected_of_a_number_is_what_the_profile_takes() {
        assert_eq!(Key::ProfileNumber("code").expected(), "a whole number from -1000 to 1000");
        assert_eq!(Key::ProfileNumber("retry_penalty_max").expected(), "a whole number from 0 to 10000");
    }
}
