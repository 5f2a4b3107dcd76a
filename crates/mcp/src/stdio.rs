//! A session over stdin and stdout: it lives as long as the process that works.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::client::Client;
use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::caller::Desk;
use crate::error::Error;
use crate::server::{Server, Sessions};
use crate::session::{Beats, Session};

/// What a session over stdio acts with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Speaks to the desk as the agent.
    pub client: Client,
    /// Where the desk is: dispatches get clients of their own, with their tokens.
    pub url: String,
    /// The agent's name, as the model is told it; what the desk is told is the client's matter.
    pub agent: String,
    /// What claims say about the claimer unless the model says otherwise.
    pub claimer: ClaimerQuery,
}

/// Serves one session on stdin and stdout, until stdin closes or `stop` is ready.
///
/// What the session holds is released before this returns. A read of stdin may still be under way then, which
/// keeps a runtime from shutting down: the caller should leave the process rather than wait for it.
pub async fn serve_stdio(settings: Settings, stop: impl Future<Output = ()> + Send) -> Result<(), Error> {
    let (reader, writer) = stdio_pipes();
    serve(settings, reader, writer, stop).await
}

/// Serves one session on any two streams, until the reader ends or `stop` is ready.
pub async fn serve<R, W>(
    settings: Settings,
    reader: R,
    writer: W,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Settings { client, url, agent, claimer } = settings;
    let session = Session::new(Desk::own(url, client), claimer, Beats::Background);
    let server = Server::new(session.clone(), Some(&agent), Sessions::Connection);
    let reader = Watched { reader, closing: session.closing().clone() };
    let transport = AsyncRwTransport::new_server(reader, writer);
    let outcome = tokio::select! {
        outcome = run(server, transport) => outcome,
        () = stop => Ok(()),
    };
    session.close().await;
    outcome
}

async fn run<R, W>(server: Server, transport: AsyncRwTransport<rmcp::RoleServer, R, W>) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match serve_server(server, transport).await {
        Ok(running) => running.waiting().await.map(drop).map_err(Error::Broken),
        // Nobody was there, or went before anything began.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(Error::Handshake(Box::new(error))),
    }
}

/// A reader that says when it has ended.
///
/// The service goes on for some seconds after that to send what is under way; a claim that waits for work must
/// not wait so long, because nobody would work on what it gets.
#[derive(Debug)]
struct Watched<R> {
    reader: R,
    closing: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(cx, buffer);
        let ended = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            self.closing.cancel();
        }
        read
    }
}
