//! The configuration: one schema, flags over environment over file over embedded defaults.
//!
//! Each source becomes a [`layer::Layer`] of the keys it mentions; the layers are laid over each other and
//! checked once, into a [`Config`] in which nothing is optional. The environment is read here
//! (`environment.rs`) and nowhere else. `default.toml` names every key and is the reference. A file is TOML or,
//! by its extension, YAML; the names of seed 004's file mean keys of ours.

mod database;
mod environment;
mod file;
mod key;
mod layer;
mod node;
mod problem;
mod resolve;
mod rules;
mod secret;
mod seed_004;
mod yaml;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracing::level_filters::LevelFilter;

pub(crate) use self::database::Database;
pub(crate) use self::environment::Environment;
pub(crate) use self::key::{Key, nearest};
use self::layer::{Layer, Origin};
pub(crate) use self::problem::ConfigProblem;
pub(crate) use self::rules::Rules;
pub(crate) use self::secret::Secret;

/// The file that is read from the data directory when none is named.
const FILE_NAME: &str = "extraboard.toml";

/// How often a caller may ask where it is not said and not everybody is at home.
const REQUESTS_PER_SECOND: u32 = 100;

/// A configuration that was checked.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) data_dir: PathBuf,
    pub(crate) database: Database,
    pub(crate) server: Server,
    pub(crate) leases: Leases,
    pub(crate) events: Events,
    pub(crate) prompts: Prompts,
    pub(crate) webhooks: Webhooks,
    pub(crate) rules: Rules,
    pub(crate) log: Log,
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    pub(crate) metrics_listen: SocketAddr,
    /// Further names that requests may give as Host, in lower case.
    pub(crate) hosts: Vec<String>,
    /// Whether the name an agent gives is believed, where tokens would be asked for.
    pub(crate) trust_agent_id: bool,
    pub(crate) rate_limit: RateLimit,
    /// What prompts tell agents to call the desk by; the address it listens on if there is none.
    pub(crate) public_url: Option<String>,
}

/// How often a caller may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateLimit {
    /// As often as it likes on loopback, else so often as a busy agent does.
    Auto,
    None,
    PerSecond(u32),
}

impl Server {
    /// Returns how many requests a caller may make in a second.
    pub(crate) fn requests_per_second(&self) -> Option<u32> {
        match self.rate_limit {
            RateLimit::Auto if self.listen.ip().is_loopback() => None,
            RateLimit::Auto => Some(REQUESTS_PER_SECOND),
            RateLimit::None => None,
            RateLimit::PerSecond(number) => Some(number),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Leases {
    pub(crate) pull_secs: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Events {
    pub(crate) keep_days: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Prompts {
    /// Whether agents are asked what they think of their prompts.
    pub(crate) ask_for_reviews: bool,
}

/// What providers sign their webhooks with; one without a secret is refused.
#[derive(Debug, Clone)]
pub(crate) struct Webhooks {
    pub(crate) github: Option<Secret>,
    pub(crate) sentry: Option<Secret>,
    pub(crate) posthog: Option<Secret>,
}

#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) level: LevelFilter,
    pub(crate) format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<String>,
    pub(crate) db: Option<String>,
    pub(crate) listen: Option<String>,
    pub(crate) metrics_listen: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) verbose: u8,
}

/// A configuration, and where each of its values came from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    layer: Layer,
}

/// One value for people and programs to see, without secrets.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) key: Key,
    pub(crate) value: Value,
    pub(crate) origin: String,
}

/// Reads all sources and checks the outcome.
pub(crate) fn load(flags: &Flags, environment: &Environment) -> Result<Loaded, ConfigProblem> {
    environment.check_names()?;
    let defaults = file::defaults()?;
    let upper = Layer::of_environment(environment)?.under(&Layer::of_flags(flags));
    let file = if let Some(named) = flags.config.clone().or_else(|| environment.config_file()) {
        file::read(&absolute(&named)?)?
    } else {
        let data_dir = resolve::data_dir(&defaults.clone().under(&upper), environment)?;
        read_if_there(&data_dir.join(FILE_NAME))?
    };
    let layer = defaults.under(&file).under(&upper);
    let config = resolve::config(&layer, environment)?;
    Ok(Loaded { config, layer })
}

impl Loaded {
    /// Returns every value with its origin, in the order of the schema.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let origin =
            |key| self.layer.get(key).map_or(&Origin::Default, |setting| &setting.origin).to_string();
        Key::all().map(|key| Shown { key, value: self.config.shown(key), origin: origin(key) }).collect()
    }
}

impl Config {
    fn shown(&self, key: Key) -> Value {
        match key {
            Key::DataDir => json!(self.data_dir.display().to_string()),
            Key::DatabaseUrl => json!(self.database.to_string()),
            Key::ServerListen => json!(self.server.listen.to_string()),
            Key::ServerMetricsListen => json!(self.server.metrics_listen.to_string()),
            Key::ServerHosts => json!(self.server.hosts),
            Key::ServerTrustAgentId => json!(self.server.trust_agent_id),
            Key::ServerRateLimit => match self.server.rate_limit {
                RateLimit::Auto => json!("auto"),
                RateLimit::None => json!("none"),
                RateLimit::PerSecond(number) => json!(number),
            },
            Key::ServerPublicUrl => json!(self.server.public_url),
            Key::LeasesPullSecs => json!(self.leases.pull_secs),
            Key::EventsKeepDays => json!(self.events.keep_days),
            Key::PromptsAskForReviews => json!(self.prompts.ask_for_reviews),
            Key::WebhooksGithubSecret => shown_secret(self.webhooks.github.as_ref()),
            Key::WebhooksSentrySecret => shown_secret(self.webhooks.sentry.as_ref()),
            Key::WebhooksPosthogSecret => shown_secret(self.webhooks.posthog.as_ref()),
            Key::PollIntervalSecs => json!(self.rules.poll_interval_secs),
            Key::ProfileName => json!(self.rules.profile.name.as_str()),
            Key::ProfileNumber(number) => json!(self.rules.number(number)),
            Key::LimitTotal => json!(self.rules.limits.total),
            Key::LimitProject => json!(self.rules.limits.project),
            Key::LimitAgent => json!(self.rules.limits.agent),
            Key::LimitAccount => json!(self.rules.limits.account),
            Key::LimitKind(kind) => json!(self.rules.limits.kinds.get(&kind)),
            Key::LimitAgents => json!(self.rules.limits.agents),
            Key::LogLevel => json!(self.log.level.to_string()),
            Key::LogFormat => match self.log.format {
                LogFormat::Text => json!("text"),
                LogFormat::Json => json!("json"),
            },
        }
    }
}

/// Tells whether there is a secret, and not which.
fn shown_secret(secret: Option<&Secret>) -> Value {
    json!(secret.map(|_| "set"))
}

fn absolute(path: &Path) -> Result<PathBuf, ConfigProblem> {
    std::path::absolute(path).map_err(|source| ConfigProblem::Unreadable { path: path.to_owned(), source })
}

fn read_if_there(path: &Path) -> Result<Layer, ConfigProblem> {
    // A file that exists and cannot be read is an error, one that does not exist is not.
    match path.try_exists() {
        Ok(false) => Ok(Layer::default()),
        Ok(true) | Err(_) => file::read(path),
    }
}

#[cfg(test)]
mod tests;
