//! Servers in this process, on sockets of their own: HTTP over desks at work on one line.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use extraboard_desk::Desk;
use extraboard_server::{App, AppSettings, ServerKey, WebhookSecrets, serve};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::line::{Desks, Line};

/// A server counts what it answers; where nobody keeps the counts that would cost nothing.
static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Servers that share a database, each with its own store, desk and listener.
#[derive(Debug)]
pub(crate) struct Servers {
    desks: Desks,
    addresses: Vec<SocketAddr>,
    serving: Vec<Serving>,
}

/// A server that runs until it is told to stop.
#[derive(Debug)]
struct Serving {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Servers {
    /// Starts so many servers on a line.
    pub(crate) async fn start(line: &Line, replicas: usize) -> Result<Self> {
        METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().ok());
        let desks = line.desks(replicas).await?;
        let mut servers = Self { desks, addresses: Vec::new(), serving: Vec::new() };
        for desk in servers.desks.desks.clone() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen")?;
            let listen = listener.local_addr()?;
            let app = App::new(desk.clone(), settings(&desk, listen).await?);
            let (stop, stopped) = oneshot::channel();
            let ended = tokio::spawn(serve(listener, app, async {
                // An error means that whoever would stop it is gone, which is reason enough.
                let _ = stopped.await;
            }));
            servers.addresses.push(listen);
            servers.serving.push(Serving { stop, ended });
        }
        Ok(servers)
    }

    /// Returns where the servers listen, at least one.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the desk of the first server.
    pub(crate) fn desk(&self) -> Desk {
        self.desks.desks[0].clone()
    }

    /// Stops the servers after the requests under way, then their desks.
    pub(crate) async fn stop(self) -> Result<()> {
        for Serving { stop, ended } in self.serving {
            // A server that has ended by itself says why when it is joined.
            let _ = stop.send(());
            ended.await?;
        }
        self.desks.stop().await;
        Ok(())
    }
}

/// As `xb serve` has them on a loopback address: no tokens asked for, no rate limit.
async fn settings(desk: &Desk, listen: SocketAddr) -> Result<AppSettings> {
    let candidate = extraboard_store::verbs::ServerKey { candidate: "bench".to_owned() };
    Ok(AppSettings {
        listen,
        hosts: Vec::new(),
        trust_agent_id: false,
        rate_limit: None,
        webhooks: WebhookSecrets::default(),
        key: ServerKey::new(&desk.write(candidate).await?),
        started_at: desk.now(),
        version: env!("CARGO_PKG_VERSION"),
    })
}
