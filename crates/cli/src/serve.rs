//! The seam between the command line and the server: everything is prepared, here it runs until told to stop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::admin_token::AdminToken;
use crate::config::Config;
use crate::connect::DEFAULT_URL;
use crate::desk_file::{DeskFile, Published};
use crate::desk_lock::DeskLock;
use crate::error::{CliError, Kind};
use crate::output::talk;
use crate::process;

/// What a desk needs to run.
#[derive(Debug)]
pub(crate) struct ServePlan {
    pub(crate) config: Config,
    pub(crate) admin_token: AdminToken,
    /// Whether to add sample tasks.
    pub(crate) demo: bool,
    /// Held by `xb up` until the desk has ended; `xb serve` has none.
    pub(crate) lock: Option<DeskLock>,
    pub(crate) now: Timestamp,
}

/// Runs a desk until a signal asks it to end.
pub(crate) async fn run(plan: ServePlan) -> Result<(), CliError> {
    // Before anybody can know of the desk, so that whoever asks it to end finds it listening.
    let signals = Signals::catch()?;
    let api = bind(plan.config.server.listen, "--listen").await?;
    let metrics = bind(plan.config.server.metrics_listen, "--metrics-listen").await?;
    let desk = describe(&plan, &api, &metrics)?;
    let _published = publish(&plan, &desk)?;
    announce(&desk);
    placeholder(&plan);
    signals.wait().await;
    Ok(())
}

/// Stands where the server will: the listeners accept and nothing answers.
fn placeholder(plan: &ServePlan) {
    tracing::debug!(
        demo = plan.demo,
        token.length = plan.admin_token.expose().len(),
        database.length = plan.config.database.url().len(),
        lease.pull_secs = plan.config.leases.pull_secs,
        locked = plan.lock.is_some(),
        "no server yet"
    );
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
    let url = |listener: &TcpListener| {
        let address =
            listener.local_addr().map_err(|error| CliError::io("cannot tell the own address", &error))?;
        Ok::<_, CliError>(format!("http://{}", reachable(address)))
    };
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

fn announce(desk: &DeskFile) {
    let server = if desk.url == DEFAULT_URL { String::new() } else { format!(" --server {}", desk.url) };
    talk(&format!(
        "extraboard {} is running, pid {}\n  database  {}\n  api       {}\n  metrics   {}/metrics\n\
         add the first task:  xb{server} add \"Say hello\"\nstop with Ctrl-C or `xb stop`",
        desk.version, desk.pid, desk.database, desk.url, desk.metrics_url
    ));
}

/// Ctrl-C and SIGTERM, caught from the moment this exists.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> Result<Self, CliError> {
        let failed = |error| CliError::io("cannot wait for signals", &error);
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Returns an address that a client on this machine can use: nobody can connect to "all interfaces".
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_interfaces_are_reached_through_loopback() {
        let check = |address: &str, expected: &str| {
            assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        };
        check("0.0.0.0:8600", "127.0.0.1:8600");
        check("[::]:8600", "[::1]:8600");
        check("10.0.0.7:80", "10.0.0.7:80");
    }
}
