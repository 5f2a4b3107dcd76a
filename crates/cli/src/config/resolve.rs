//! The layers, laid over each other, become one checked [`Config`].

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tracing::level_filters::LevelFilter;

use super::database::Database;
use super::environment::Environment;
use super::key::Key;
use super::layer::{HIDDEN, Layer, Origin, Raw, Setting};
use super::problem::ConfigProblem;
use super::secret::Secret;
use super::{Config, Events, Leases, Log, LogFormat, Prompts, RateLimit, Server, Webhooks, rules};

const DATABASE_FILE: &str = "extraboard.db";

/// Checks every value of `layer`, which holds every key because the defaults do.
pub(crate) fn config(layer: &Layer, environment: &Environment) -> Result<Config, ConfigProblem> {
    let data_dir = data_dir(layer, environment)?;
    Ok(Config {
        database: database(layer, environment, &data_dir)?,
        server: Server {
            listen: text(layer, Key::ServerListen, |text| text.parse::<SocketAddr>().ok())?,
            metrics_listen: text(layer, Key::ServerMetricsListen, |text| text.parse::<SocketAddr>().ok())?,
            hosts: value(layer, Key::ServerHosts, hosts)?,
            trust_agent_id: text(layer, Key::ServerTrustAgentId, |text| text.parse().ok())?,
            rate_limit: value(layer, Key::ServerRateLimit, rate_limit)?,
            public_url: text(layer, Key::ServerPublicUrl, public_url)?,
        },
        leases: Leases { pull_secs: value(layer, Key::LeasesPullSecs, pull_secs)? },
        prompts: Prompts {
            ask_for_reviews: text(layer, Key::PromptsAskForReviews, |text| text.parse().ok())?,
        },
        webhooks: Webhooks {
            github: text(layer, Key::WebhooksGithubSecret, secret)?,
            sentry: text(layer, Key::WebhooksSentrySecret, secret)?,
            posthog: text(layer, Key::WebhooksPosthogSecret, secret)?,
        },
        events: Events { keep_days: value(layer, Key::EventsKeepDays, keep_days)? },
        rules: rules::resolve(layer)?,
        log: Log { level: text(layer, Key::LogLevel, level)?, format: text(layer, Key::LogFormat, format)? },
        data_dir,
    })
}

/// Returns the data directory, which decides where the config file is looked for and so is needed first.
pub(crate) fn data_dir(layer: &Layer, environment: &Environment) -> Result<PathBuf, ConfigProblem> {
    value(layer, Key::DataDir, |setting| match &setting.raw {
        Raw::Text(text) if text.is_empty() => Some(environment.default_data_dir()),
        Raw::Text(text) => Some(Some(absolute(text, &setting.origin, environment)?)),
        Raw::Whole(_) | Raw::List(_) | Raw::Table(_) => None,
    })?
    .ok_or(ConfigProblem::NoDataDir)
}

fn database(layer: &Layer, environment: &Environment, data_dir: &Path) -> Result<Database, ConfigProblem> {
    value(layer, Key::DatabaseUrl, |setting| match &setting.raw {
        Raw::Text(text) if text.is_empty() => Some(Database::sqlite(&data_dir.join(DATABASE_FILE))),
        Raw::Text(text) => Database::parse(text, |path| absolute(path, &setting.origin, environment)),
        Raw::Whole(_) | Raw::List(_) | Raw::Table(_) => None,
    })
}

/// Makes a path absolute: `~/` is the home directory, a path in a file starts at the file's folder.
fn absolute(text: &str, origin: &Origin, environment: &Environment) -> Option<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => environment.home()?.join(rest),
        None => origin.folder().unwrap_or(Path::new("")).join(text),
    };
    std::path::absolute(path).ok()
}

fn hosts(setting: &Setting) -> Option<Vec<String>> {
    let Raw::List(names) = &setting.raw else { return None };
    let is_host = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(c))
    };
    names.iter().all(is_host).then(|| names.iter().map(|name| name.to_ascii_lowercase()).collect())
}

fn rate_limit(setting: &Setting) -> Option<RateLimit> {
    match &setting.raw {
        Raw::Whole(number) => u32::try_from(*number)
            .ok()
            .filter(|number| (1..=100_000).contains(number))
            .map(RateLimit::PerSecond),
        Raw::Text(text) if text == "auto" => Some(RateLimit::Auto),
        Raw::Text(text) if text == "none" => Some(RateLimit::None),
        Raw::Text(_) | Raw::List(_) | Raw::Table(_) => None,
    }
}

/// Reads the URL that others reach the desk by, without a slash at its end; empty is none.
#[expect(clippy::option_option, reason = "a value that is no URL, and none at all, are told apart")]
fn public_url(text: &str) -> Option<Option<String>> {
    let url = text.trim_end_matches('/');
    if text.is_empty() {
        return Some(None);
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    // Prompts repeat it: a password has no place in it, nor has anything that would end it.
    let is_plain = |c: char| c.is_ascii_graphic() && !"@?#`\"<>{}\\".contains(c);
    (!rest.is_empty() && !rest.starts_with('/') && rest.chars().all(is_plain)).then(|| Some(url.to_owned()))
}

/// Reads a secret; empty is none.
#[expect(clippy::option_option, reason = "a value that is no secret, and none at all, are told apart")]
fn secret(text: &str) -> Option<Option<Secret>> {
    let is_whole = text.trim() == text && !text.chars().any(char::is_control);
    is_whole.then(|| (!text.is_empty()).then(|| Secret::new(text)))
}

fn pull_secs(setting: &Setting) -> Option<u32> {
    let Raw::Whole(seconds) = setting.raw else { return None };
    u32::try_from(seconds).ok().filter(|seconds| (10..=86_400).contains(seconds))
}

fn keep_days(setting: &Setting) -> Option<u32> {
    let Raw::Whole(days) = setting.raw else { return None };
    u32::try_from(days).ok().filter(|days| (1..=3_650).contains(days))
}

fn level(text: &str) -> Option<LevelFilter> {
    Some(match text {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return None,
    })
}

fn format(text: &str) -> Option<LogFormat> {
    Some(match text {
        "text" => LogFormat::Text,
        "json" => LogFormat::Json,
        _ => return None,
    })
}

/// Reads the text of a key.
pub(super) fn text<T>(
    layer: &Layer,
    key: Key,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ConfigProblem> {
    value(layer, key, |setting| match &setting.raw {
        Raw::Text(text) => read(text),
        Raw::Whole(_) | Raw::List(_) | Raw::Table(_) => None,
    })
}

/// Reads the value of a key that the defaults name.
pub(super) fn value<T>(
    layer: &Layer,
    key: Key,
    read: impl FnOnce(&Setting) -> Option<T>,
) -> Result<T, ConfigProblem> {
    let setting = layer.get(key).expect("the defaults name every key but the numbers of the profile");
    read(setting).ok_or_else(|| bad_value(key, setting))
}

/// Says what a key expects.
pub(super) fn bad_value(key: Key, setting: &Setting) -> ConfigProblem {
    ConfigProblem::BadValue {
        name: setting.name.clone(),
        value: if key.is_secret() { HIDDEN.to_owned() } else { setting.raw.to_string() },
        expected: key.expected(),
        origin: setting.origin.clone(),
    }
}
