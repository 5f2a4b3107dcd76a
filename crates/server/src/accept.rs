//! Accepting connections: not too many, and none that says nothing for long.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::patient::Patient;

/// How many connections a listener serves at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;
/// How long a client may take to send a request's headers.
const HEADER_PATIENCE: Duration = Duration::from_secs(15);
/// The largest request head.
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// The pause after accepting failed: out of file descriptors, mostly.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `stop` resolves, then finishes the requests under way.
pub(crate) async fn serve(listener: TcpListener, routes: Router, stop: impl Future<Output = ()> + Send) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some((stream, permit)) = accepted else { continue };
        let service = TowerToHyperService::new(routes.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_PATIENCE)
            .max_buf_size(HEADER_BYTES_MAX)
            .serve_connection(TokioIo::new(Patient::new(stream)), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _permit = permit;
            // A client that breaks off is no failure of ours.
            if let Err(error) = connection.await {
                tracing::debug!(error = %error, "a connection ended: {error}");
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Waits for room, then for a connection.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small: they should not wait for more to send.
            let _ = stream.set_nodelay(true);
            Some((stream, permit))
        }
        Err(error) => {
            tracing::warn!(error = %error, "cannot accept connections: {error}");
            pause().await;
            None
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "there is nothing to wait for but time")]
async fn pause() {
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
