//! The seam between the command line and the server: everything is prepared, here it runs until told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use extraboard_core::clock::{Clock as _, Span};
use extraboard_desk::{Desk, Running, Settings};
use extraboard_server::{
    App, AppSettings, AskForReviews, Health, Prompts, ServerKey, WebhookSecrets, hash_token,
    install_templates, own_url, serve, serve_metrics,
};
use extraboard_store::error::Error;
use extraboard_store::verbs::{AdminTokenKeep, Render};
use extraboard_store::{Opening, Store};
use jiff::Timestamp;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use crate::admin_token::AdminToken;
use crate::config::{Config, Secret, Server};
use crate::desk_file::{DeskFile, Published};
use crate::desk_lock::DeskLock;
use crate::error::{CliError, Kind};
use crate::signals::Signals;
use crate::system::{SystemClock, SystemEntropy};
use crate::{announce, demo, process};

/// What a desk needs to run.
#[derive(Debug)]
pub(crate) struct ServePlan {
    pub(crate) config: Config,
    pub(crate) admin_token: AdminToken,
    /// How to call this program so that it finds this desk.
    pub(crate) invocation: String,
    /// Whether to add sample tasks.
    pub(crate) demo: bool,
    /// Held by `xb up` until the desk has ended; `xb serve` has none.
    pub(crate) lock: Option<DeskLock>,
    pub(crate) now: Timestamp,
}

/// How long requests under way may take once the desk was asked to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Runs a desk until a signal asks it to end.
pub(crate) async fn run(plan: ServePlan) -> Result<(), CliError> {
    // Before anybody can know of the desk, so that whoever asks it to end finds it listening.
    let signals = Signals::catch()?;
    let metrics = bind(plan.config.server.metrics_listen, "--metrics-listen").await?;
    let api = bind(plan.config.server.listen, "--listen").await?;
    let file = describe(&plan, &api, &metrics)?;
    let health = Health::starting(record_metrics()?);
    let numbers = tokio::spawn(serve_metrics(metrics, health.clone()));
    let store = open_store(&plan, &file).await?;
    let (desk, mut running) = start_desk(&plan, &api, store).await?;
    if plan.demo {
        demo::add(&desk, plan.config.log.format).await?;
    }
    let app = App::new(desk.clone(), app_settings(&plan, &api, &desk).await?);
    let _published = publish(&plan, &file)?;
    announce(&plan, &file);
    health.up(desk.clone());
    let served = until_stopped(api, app, signals, &health, &mut running).await;
    running.stop().await;
    numbers.abort();
    served
}

fn record_metrics() -> Result<PrometheusHandle, CliError> {
    PrometheusBuilder::new()
        .install_recorder()
        .map_err(|error| CliError::new(Kind::Failed, format!("cannot record metrics: {error}")))
}

async fn open_store(plan: &ServePlan, file: &DeskFile) -> Result<Store, CliError> {
    let opening = Opening { now: SystemClock.now(), note: format!("pid {} at {}", file.pid, file.url) };
    Store::open(plan.config.database.url(), &opening).await.map_err(store_failed)
}

async fn start_desk(plan: &ServePlan, api: &TcpListener, store: Store) -> Result<(Desk, Running), CliError> {
    let config = &plan.config;
    let url = told_url(config, own_address(api)?);
    let ask = if config.prompts.ask_for_reviews { AskForReviews::Yes } else { AskForReviews::No };
    let settings = Settings {
        pull_lease: Span::from_secs(config.leases.pull_secs.into()),
        events_kept: Span::from_days(config.events.keep_days.into()),
        render: Render::templates(Prompts::new(url, ask)),
        rules: config.rules.said.clone(),
    };
    let started = Desk::new(store, Arc::new(SystemClock), Arc::new(SystemEntropy), settings).await;
    let (desk, loops) = started.map_err(store_failed)?;
    install_templates(&desk).await.map_err(store_failed)?;
    Ok((desk, loops.start()))
}

/// Returns what prompts tell agents to report to.
fn told_url(config: &Config, address: SocketAddr) -> String {
    if let Some(url) = &config.server.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let url = own_url(address);
    if address.ip().is_unspecified() {
        tracing::warn!(
            "prompts tell agents to report to {url}: set server.public_url to what they reach this desk by"
        );
    }
    url
}

fn own_address(listener: &TcpListener) -> Result<SocketAddr, CliError> {
    listener.local_addr().map_err(|error| CliError::io("cannot tell the own address", &error))
}

/// Returns what webhooks are signed with.
fn webhook_secrets(config: &Config) -> WebhookSecrets {
    let text = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.reveal().to_owned());
    let webhooks = &config.webhooks;
    WebhookSecrets {
        github: text(&webhooks.github),
        sentry: text(&webhooks.sentry),
        posthog: text(&webhooks.posthog),
    }
}

/// Makes the admin token known and reads the key all replicas share.
async fn app_settings(plan: &ServePlan, api: &TcpListener, desk: &Desk) -> Result<AppSettings, CliError> {
    let keep = AdminTokenKeep {
        hash: hash_token(plan.admin_token.expose()),
        subject: "admin".to_owned(),
        origin: AdminToken::origin(&plan.config.data_dir),
        now: desk.now(),
    };
    desk.write(keep).await.map_err(store_failed)?;
    let candidate = extraboard_store::verbs::ServerKey { candidate: SystemEntropy.hex() };
    let key = desk.write(candidate).await.map_err(store_failed)?;
    Ok(AppSettings {
        listen: own_address(api)?,
        hosts: plan.config.server.hosts.clone(),
        trust_agent_id: trusts_names(&plan.config.server),
        rate_limit: plan.config.server.requests_per_second(),
        webhooks: webhook_secrets(&plan.config),
        key: ServerKey::new(&key),
        started_at: desk.now(),
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Tells whether names are believed, and says so where that lets strangers in.
fn trusts_names(server: &Server) -> bool {
    if server.trust_agent_id && !server.listen.ip().is_loopback() {
        tracing::warn!(
            "server.trust_agent_id: whoever reaches {} may take work under any name",
            server.listen
        );
    }
    server.trust_agent_id
}

/// Answers requests until a signal comes, then finishes those under way.
async fn until_stopped(
    api: TcpListener,
    app: Arc<App>,
    signals: Signals,
    health: &Health,
    running: &mut Running,
) -> Result<(), CliError> {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut serving = tokio::spawn(serve(api, app, async {
        // An error means that whoever would stop it is gone, which is reason enough.
        let _ = stopped.await;
    }));
    tokio::select! {
        () = signals.wait() => {}
        why = running.died() => {
            health.stopping();
            return Err(CliError::new(Kind::Failed, format!("a loop of the desk died: {why}")));
        }
        ended = &mut serving => return Err(CliError::new(Kind::Failed, format!("the server ended: {ended:?}"))),
    }
    health.stopping();
    let _ = stop.send(());
    if tokio::time::timeout(DRAIN, serving).await.is_err() {
        tracing::warn!("requests under way were cut off after {DRAIN:?}");
    }
    Ok(())
}

fn store_failed(error: Error) -> CliError {
    let sentence = error.to_string();
    match error {
        Error::InUse { .. } => {
            CliError::new(Kind::Conflict, sentence).hint("stop that desk first, with `xb stop`")
        }
        Error::BadUrl { .. } | Error::Newer { .. } => CliError::new(Kind::Usage, sentence),
        Error::Unavailable(cause) => CliError::new(Kind::Failed, format!("{sentence}: {cause}")),
        _ => CliError::new(Kind::Failed, sentence),
    }
}

async fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).await.map_err(|error| {
        let failed = CliError::new(Kind::Failed, format!("cannot listen on {address}: {error}"));
        match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                failed.hint(format!("another program uses that port; choose a free one with {flag}"))
            }
            _ => failed,
        }
    })
}

fn describe(plan: &ServePlan, api: &TcpListener, metrics: &TcpListener) -> Result<DeskFile, CliError> {
    let url = |listener: &TcpListener| Ok::<_, CliError>(own_url(own_address(listener)?));
    Ok(DeskFile {
        pid: std::process::id(),
        url: url(api)?,
        metrics_url: url(metrics)?,
        database: plan.config.database.to_string(),
        started_at: plan.now.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Leaves `desk.json`, unless another desk that runs has left its own: `xb serve` may have company.
fn publish(plan: &ServePlan, desk: &DeskFile) -> Result<Option<Published>, CliError> {
    let failed = |error| CliError::io("cannot write desk.json", &error);
    let data_dir = &plan.config.data_dir;
    let other = DeskFile::read(data_dir).map_err(failed)?;
    if plan.lock.is_none() && other.is_some_and(|other| process::desk_runs(other.pid)) {
        return Ok(None);
    }
    desk.publish(data_dir).map(Some).map_err(failed)
}

fn announce(plan: &ServePlan, desk: &DeskFile) {
    let format = plan.config.log.format;
    announce::announce(format, desk, &plan.invocation);
    if let Some(sentence) = announce::beyond_loopback(plan.config.server.listen) {
        announce::notice(format, &sentence);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use extraboard_core::clock::{Clock, Timestamp as Moment};
    use extraboard_store::verbs::RulesEdit;

    use super::*;

    const START: Moment = Moment::from_micros(1_700_000_000_000_000);

    /// A clock that stands still until it breaks.
    #[derive(Default)]
    struct FragileClock {
        broken: AtomicBool,
    }

    impl Clock for FragileClock {
        fn now(&self) -> Moment {
            assert!(!self.broken.load(Ordering::SeqCst), "the clock is broken");
            START
        }
    }

    /// Starts a desk whose loops find the clock broken.
    async fn doomed_desk(database: &str) -> (Desk, Running) {
        let store = Store::open(database, &Opening { now: START, note: String::new() }).await.unwrap();
        let clock = Arc::new(FragileClock::default());
        let settings = Settings {
            pull_lease: Span::from_mins(60),
            events_kept: Span::from_days(30),
            render: Render::plain(|task| task.title.clone()),
            rules: RulesEdit::default(),
        };
        let (desk, loops) = Desk::new(store, clock.clone(), Arc::new(SystemEntropy), settings).await.unwrap();
        clock.broken.store(true, Ordering::SeqCst);
        (desk, loops.start())
    }

    #[tokio::test]
    async fn a_desk_whose_loop_dies_ends_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (desk, mut running) = doomed_desk(folder.path().join("desk.db").to_str().unwrap()).await;
        let api = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = AppSettings {
            listen: api.local_addr().unwrap(),
            hosts: Vec::new(),
            trust_agent_id: false,
            rate_limit: None,
            webhooks: WebhookSecrets::default(),
            key: ServerKey::new("key"),
            started_at: START,
            version: "0",
        };
        let health = Health::starting(PrometheusBuilder::new().build_recorder().handle());
        let (app, signals) = (App::new(desk, settings), Signals::catch().unwrap());
        let error = until_stopped(api, app, signals, &health, &mut running).await.unwrap_err();
        assert_eq!(error.kind().exit_code(), 1);
        assert!(error.message().starts_with("a loop of the desk died: "), "{}", error.message());
        assert!(error.message().contains("the clock is broken"), "{}", error.message());
        running.stop().await;
    }

    #[test]
    fn all_interfaces_are_reached_through_loopback() {
        let check = |address: &str, expected: &str| {
            assert_eq!(own_url(address.parse().unwrap()), expected);
        };
        check("0.0.0.0:8600", "http://127.0.0.1:8600");
        check("[::]:8600", "http://[::1]:8600");
        check("10.0.0.7:80", "http://10.0.0.7:80");
    }
}
